"""Partial-order reduction runs exactly one schedule of each class of equivalent ones, and misses no outcome."""

import pytest
from explore_oracle import equivalence_class, every_interleaving, reduced
from explore_program import COLLECT, PROGRAM
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree_explore import Invocation, Scenario, explore
from latchfree_explore.board import layout as b
from latchfree_explore.examples.counter import CAS_COUNTER, COUNTER, LOST_UPDATE
from latchfree_explore.examples.mutex import CARELESS, FORGETFUL, MUTEX
from latchfree_explore.examples.queue import HASTY, QUEUE
from latchfree_explore.examples.treiber import ABA, TREIBER

CASES = [
    (COUNTER, "increment | increment | read"),
    (CAS_COUNTER, "increment | increment | increment"),
    (LOST_UPDATE, "increment; read | increment; read"),
    (LOST_UPDATE, "increment | increment | read"),
    (MUTEX, "increment | read | read"),
    (MUTEX, "increment; read | read"),
    (CARELESS, "increment | increment | read"),
    (FORGETFUL, "increment | increment"),
    (TREIBER, "push(1) | pop | push(2)"),
    (ABA, "init: push(1); push(2) | pop | pop; push(3)"),
    (QUEUE, "enqueue(1) | dequeue; dequeue"),
    (HASTY, "init: enqueue(1) | dequeue | dequeue | enqueue(2)"),
]
IDS = [f"{target.name}: {text}" for target, text in CASES]


def _compare(target, scenario):
    everything = every_interleaving(target, scenario)
    some, counted = reduced(target, scenario)
    assert {outcome for _, outcome in some} == {outcome for _, outcome in everything}
    classes = [equivalence_class(rows) for rows, _ in some]
    assert len(set(classes)) == len(classes), "no class is run twice"
    assert set(classes) == {equivalence_class(rows) for rows, _ in everything}
    if all(outcome[0] == b.DONE for _, outcome in everything):
        assert counted == len(everything)
    return everything, some


@pytest.mark.parametrize(("target", "text"), CASES, ids=IDS)
def test_against_every_interleaving(target, text):
    everything, some = _compare(target, Scenario.parse(text))
    assert len(some) < len(everything) or target is COUNTER


_calls = st.one_of(
    st.builds(lambda code: Invocation("access", (code,)), st.integers(0, 35)),
    st.builds(lambda value: Invocation("transfer", (value,)), st.integers(0, 5)),
    st.just(Invocation("nothing")),
)
_threads = st.one_of(
    st.lists(st.lists(_calls, min_size=1, max_size=3).map(tuple), min_size=2, max_size=2),
    st.lists(st.lists(_calls, min_size=1, max_size=1).map(tuple), min_size=3, max_size=3),
)


@settings(max_examples=60)
@given(_threads)
def test_against_every_interleaving_of_random_programs(threads):
    _compare(PROGRAM, Scenario(tuple(threads)))


@pytest.mark.slow
@settings(max_examples=1500)
@given(_threads)
def test_against_every_interleaving_of_many_random_programs(threads):
    _compare(PROGRAM, Scenario(tuple(threads)))


def test_real_time_order_is_part_of_an_interleaving():
    # The two puts touch different words, so memory alone does not tell their order; only if the first had returned
    # before the second was invoked, a collect that sees just the second one is wrong.
    result = explore(COLLECT, scenario="put(0) | put(1) | collect", minimise=False)
    assert result.verdict == "violation"
    operations = {str(each.call): each for each in result.failure.history.operations}
    assert operations["collect()"].result == 2
    assert operations["put(0)"].return_ < operations["put(1)"].invoke
    assert explore(COLLECT, scenario="put(0) | put(1) | collect", strategy="bounded", bound=0).verdict == "ok"


def _drop_last_backtrack_point(machine):
    trace = machine.trace
    for k in range(int(machine.board[b.STEPS]) - 1, -1, -1):
        own = 1 << trace[k, b.S_THREAD]
        if trace[k, b.S_TRIED] & ~own & ~trace[k, b.S_SLEEP]:
            trace[k, b.S_TRIED] = own
            return


def _oversleep(machine):
    """Put whoever was tried to sleep at the step before as well."""
    trace = machine.trace
    for k in range(int(machine.board[b.STEPS]) - 1, 0, -1):
        trace[k - 1, b.S_SLEEP] |= 1 << trace[k, b.S_THREAD]


@pytest.mark.parametrize("broken", [_drop_last_backtrack_point, _oversleep])
def test_the_comparison_catches_a_broken_reduction(broken):
    caught = 0
    small = [case for case in CASES if case[0] not in (CARELESS, HASTY)]
    for target, text in small:
        scenario = Scenario.parse(text)
        everything = {equivalence_class(rows) for rows, _ in every_interleaving(target, scenario)}
        some, _ = reduced(target, scenario, broken)
        caught += {equivalence_class(rows) for rows, _ in some} != everything
    assert caught >= len(small) // 2
