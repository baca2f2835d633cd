"""Compiled structures, once for each execution graph: what all schedules come to, in fewer runs."""

from __future__ import annotations

from functools import cache
from typing import cast

import pytest

from latchfree_evidence.orders.accesses import WAYS, OrderedAccess
from latchfree_evidence.orders.programs import Weakly
from latchfree_evidence.orders.search import machine_for, sites_of
from latchfree_evidence.targets.finding import find_target
from latchfree_explore import Scenario, search
from latchfree_explore.examples.counter import CAS_COUNTER, LOST_UPDATE
from latchfree_explore.examples.mutex import CARELESS, MUTEX
from latchfree_explore.examples.queue import QUEUE
from latchfree_explore.examples.treiber import ABA, TREIBER
from latchfree_explore.graphs import searching
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.target import Target
from latchfree_explore.weak.axioms import MODELS

#: Programs, and how many graphs rc11 allows of each.
PROGRAMS = {
    ("ctrie", "init: put(0, 1) | put(0, 2) | get(0) | keys: flat"): 7,
    ("reclaiming-ctrie", "init: put(0, 1) | put(0, 2) | get(0) | keys: flat"): 37,
    ("ring", "enqueue(1) | dequeue"): 2,
    ("ring", "enqueue(1); enqueue(2) | dequeue; dequeue"): 4,
    ("ring", "enqueue(1) | enqueue(2) | dequeue"): 14,
    ("closing-ring", "init: put(1) | put(2); get | close; get"): 28,
    ("closing-ring", "init: put(1); put(2) | put(3) | get | close"): 15,
    ("sleepers", "wait | post"): 4,
    ("pins", "read | replace"): 13,
    ("pins", "read; read | replace"): 61,
    ("epochs", "init: write(1) | read | write(2); tick; write(3)"): 9,
    ("free-list", "init: push(1); push(2) | pop | pop; pop; push(2)"): 19,
}


def machine_of(target: str | Target, scenario: str, memory: str) -> Machine:
    found = find_target(target) if isinstance(target, str) else target
    machine = Machine(found, Scenario.parse(scenario), memory=memory, races=True)
    search.warm_up(machine)
    machine.seen.total[0] = machine.seen.slots[:] = 0
    return machine


def results_of(machine: Machine) -> set[tuple[int, ...]]:
    """What the operations of the schedules so far returned, each combination once."""
    rows = machine.seen.results[: machine.seen.total[0]].tolist()
    return {tuple(row) for row in cast("list[list[int]]", rows)}


@cache
def by_graphs(target: str, scenario: str, memory: str) -> tuple[search.Tally, frozenset[tuple[int, ...]]]:
    machine = machine_of(target, scenario, memory)
    done = searching.run(machine)
    return done, frozenset(results_of(machine))


@pytest.mark.parametrize("memory", MODELS)
@pytest.mark.parametrize(("target", "scenario"), PROGRAMS)
def test_the_outcomes_of_all_schedules_in_no_more_runs(target: str, scenario: str, memory: str) -> None:
    done, results = by_graphs(target, scenario, memory)
    assert (done.complete, done.failure) == (True, None)
    machine = machine_of(target, scenario, memory)
    others = search.run(machine, DPOR)
    assert (others.complete, others.failure) == (True, None)
    assert results == results_of(machine)
    assert done.schedules <= others.schedules


@pytest.mark.parametrize(("target", "scenario"), PROGRAMS)
def test_graphs_are_counted(target: str, scenario: str) -> None:
    counts = [by_graphs(target, scenario, memory)[0].schedules for memory in MODELS]
    assert counts[-1] == PROGRAMS[target, scenario]
    assert counts == sorted(counts), "a weaker model allows what a stronger one allows"


@pytest.mark.slow
def test_a_put_a_put_and_a_snapshot() -> None:
    scenario = "init: put(0, 1) | put(0, 2) | snapshot | after: get(0) | keys: flat"
    done, results = by_graphs("ctrie", scenario, "rc11")
    machine = machine_of("ctrie", scenario, "rc11")
    others = search.run(machine, DPOR)
    assert (done.complete, done.failure, done.schedules) == (True, None, 1070)
    assert others.schedules > 2 * done.schedules
    assert results == results_of(machine)


EXAMPLES = (
    (CAS_COUNTER, "increment | increment | increment"),
    (LOST_UPDATE, "increment | increment"),
    (TREIBER, "init: push(1) | pop; push(2) | pop"),
    (QUEUE, "init: enqueue(1) | dequeue | enqueue(2); dequeue"),
    (MUTEX, "increment | increment; read"),
    (CARELESS, "increment | increment"),
    (ABA, "init: push(1) | pop; push(2) | pop; pop | push(3)"),
)


@pytest.mark.parametrize("memory", ["sc", "rc11"])
@pytest.mark.parametrize(("target", "scenario"), EXAMPLES, ids=lambda value: getattr(value, "name", value))
def test_right_and_wrong_examples_are_told_apart(target: Target, scenario: str, memory: str) -> None:
    done = searching.run(machine_of(target, scenario, memory))
    others = search.run(machine_of(target, scenario, memory), DPOR)
    assert (done.failure is None) == (others.failure is None)
    if done.failure is None:
        assert done.complete
        assert done.schedules <= others.schedules
    else:
        assert others.failure is not None
        assert done.failure.kind == others.failure.kind


PACT = (
    OrderedAccess("ctrie/kernels/gcas.py", "gcas", "cas", 1),
    OrderedAccess("ctrie/kernels/gcas.py", "abort_root", "load_seq", 1),
    OrderedAccess("ctrie/kernels/snapshot.py", "try_replace", "cas", 1),
    OrderedAccess("ctrie/kernels/gcas.py", "gcas_read", "load_seq", 1),
)


@pytest.mark.parametrize("access", PACT, ids=str)
def test_each_side_of_the_pact_is_needed(access: OrderedAccess) -> None:
    """An update and a snapshot each write and then look: with one of the four weakened, an update is lost."""
    machine = machine_for(Weakly("ctrie", "init: put(0, 1) | put(0, 2) | snapshot | after: get(0) | keys: flat"))
    machine.run([])
    machine.weaken(dict.fromkeys(sites_of(machine)[access], WAYS["not seq_cst"]))
    failure = searching.run(machine).failure
    assert failure is not None
    assert (failure.kind, failure.message) == ("not linearizable", "get(0) returned 1, but key 0 held 2")
    assert failure.models == ("sra", "rc11")


PIN = OrderedAccess("arena/kernels/epochs.py", "pin", "load_seq", 1)
PINNED = "read | retire | advance"


def test_a_race_that_schedules_with_choices_do_not_come_to() -> None:
    """With a pin that takes the epoch from a load that is not seq_cst, another thread may free at once.

    In the graph a reader sees the epoch that an advance has made, pins itself there, and reads the link; the thread
    that has unlinked the node reads an older epoch. That is RWC-sc-acq-sc-sc-sc, allowed by rc11, and by no processor.
    """
    for strategy in ("graphs", "dpor"):
        machine = machine_for(Weakly("pins", PINNED))
        machine.run([])
        machine.weaken(dict.fromkeys(sites_of(machine)[PIN], WAYS["not seq_cst"]))
        if strategy == "graphs":
            failure = searching.run(machine).failure
            assert failure is not None
            assert (failure.kind, failure.models) == ("data race", ("sra", "rc11"))
            assert any(choice < 0 for choice in failure.choices), "no choice of the machine's is that load"
        else:
            others = search.run(machine, DPOR)
            assert (others.complete, others.failure) == (True, None)


@pytest.mark.parametrize("memory", MODELS)
def test_the_pin_has_no_such_race(memory: str) -> None:
    fine, _ = by_graphs("pins", PINNED, memory)
    assert (fine.complete, fine.failure) == (True, None)
