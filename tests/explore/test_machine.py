"""The machine: memory is as before after every schedule, steps say what happened and where, runs repeat exactly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.atomics import load, peek
from latchfree.jit import kernel
from latchfree.words import mix
from latchfree_evidence.stress.shapes import SHAPES
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_evidence.targets.placement import LAYOUTS, key_with_hash
from latchfree_explore import Scenario, Target, explore, search
from latchfree_explore.board import layout as b
from latchfree_explore.examples.counter import CAS_COUNTER, CounterModel
from latchfree_explore.examples.treiber import TREIBER
from latchfree_explore.machine.machine import Machine
from latchfree_explore.sources import function_of, text_of
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.strategies.table import strategy_named
from latchfree_lincheck import check


@pytest.mark.parametrize("strategy", ["dpor", "bounded", "random", "pct"])
def test_memory_is_reset_to_the_word(strategy):
    machine = Machine(TREIBER, Scenario.parse("init: push(1) | push(2); pop | pop; pop | after: pop"))
    before = machine.memory.words.copy()
    done = search.run(machine, strategy_named(strategy), schedules=500, bound=2)
    assert done.schedules > 10
    assert np.array_equal(machine.memory.words, before)


def test_steps_tell_what_happened_and_where():
    machine = Machine(CAS_COUNTER, Scenario.parse("increment | increment"))
    assert machine.run([0, 1, 1, 0]) == b.DONE
    steps = machine.steps
    assert [(step.thread, step.kind, step.old, step.new, step.succeeded) for step in steps] == [
        (0, "load", 0, 0, True),
        (1, "load", 0, 0, True),
        (1, "cas", 0, 1, True),
        (0, "cas", 1, 1, False),
        (0, "load", 1, 1, True),
        (0, "cas", 1, 2, True),
    ]
    assert function_of(steps[0].site) == "increment_by_cas"
    assert text_of(steps[0].site) == "count = load(mem, root)"
    assert text_of(steps[2].site).startswith("if cas(mem, root")
    assert steps[0].site.startswith("latchfree_explore/examples/counter.py:")
    assert [operation.result for operation in machine.history().operations] == [1, 0]


def test_a_schedule_that_does_not_fit_is_noticed():
    machine = Machine(CAS_COUNTER, Scenario.parse("increment | increment"))
    assert machine.run([0, 0, 0]) == b.DIVERGED
    assert machine.run([1] * 10_000) == b.DIVERGED
    assert machine.run([]) == b.DONE


@given(st.integers(1, 1 << 60))
@settings(max_examples=30)
def test_a_schedule_repeats_exactly(seed):
    machine = Machine(CAS_COUNTER, Scenario.parse("increment; read | increment; increment | read"))
    machine.start(RANDOM, seed=seed)
    machine.drive(1)
    schedule, steps, history = machine.schedule, machine.steps, machine.history()
    machine.run(schedule)
    assert (machine.schedule, machine.steps, machine.history()) == (schedule, steps, history)


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_seed_repeats_an_exploration(strategy):
    def run(seed):
        result = explore(TREIBER, seed=seed, strategy=strategy, schedules=3_000)
        return result.schedules, result.steps, result.outcomes, result.checked

    assert run(1) == run(1)
    assert run(1) != run(2)


@kernel
def _stray(mem, root, thread, at):
    return np.int64(load(mem, np.uint64(at)))


@kernel
def _stray_plainly(mem, root, thread, at):
    return np.int64(peek(mem, np.uint64(at)))


@kernel
def _spin(mem, root, thread, at):
    while load(mem, np.uint64(0)) == np.uint64(0):
        pass
    return np.int64(0)


@kernel
def _spin_plainly(mem, root, thread, at):
    while peek(mem, np.uint64(0)) == np.uint64(0):
        pass
    return np.int64(0)


@kernel
def _divide(mem, root, thread, by):
    return np.int64(1 // by)


@pytest.mark.parametrize(
    ("operation", "argument", "kind"),
    [
        (_stray, 4096, "astray"),
        (_stray, -1, "astray"),
        (_stray_plainly, 1 << 40, "astray"),
        (_spin, 0, "endless"),
        (_spin_plainly, 0, "endless"),
        (_divide, 0, "raised"),
    ],
)
def test_what_would_crash_or_hang_is_a_failure(operation, argument, kind):
    target = Target("bad", CounterModel(), {"read": operation})
    result = explore(target, scenario=f"read({argument}) | read({argument})", minimise=False)
    assert result.verdict == "violation"
    assert result.failure.kind == kind
    text = result.explain()
    assert "thread 0" in text


@pytest.mark.parametrize("name", LAYOUTS)
def test_keys_fall_where_the_layout_says(name):
    keys = [key_with_hash(h) for h in LAYOUTS[name].hashes]
    assert len(set(keys)) == 8
    assert [int(mix(np.uint64(key & (1 << 64) - 1))) for key in keys] == list(LAYOUTS[name].hashes)
    placed = [h & LAYOUTS[name].mask for h in LAYOUTS[name].hashes]
    assert len(set(placed)) == {"list": 1, "lists": 4}.get(name, 8)
    assert name != "list" or LAYOUTS[name].mask == SHAPES["ctrie"]["list"]


_keys = st.integers(0, 7)
_values = st.integers(1, 254)
_calls = st.one_of(
    st.tuples(st.sampled_from(["get", "remove", "contains"]), _keys),
    st.tuples(st.sampled_from(["put", "put_if_absent", "replace", "remove_if"]), _keys, _values),
    st.tuples(st.just("replace_if"), _keys, _values, _values),
    st.tuples(st.sampled_from(["snapshot", "size", "clear"])),
)


@given(st.lists(_calls, min_size=1, max_size=20), st.sampled_from(list(LAYOUTS)))
@settings(max_examples=50)
def test_the_ctrie_behind_the_target_is_the_ctrie(calls, keys):
    text = "; ".join(f"{f}({', '.join(map(str, arguments))})" for f, *arguments in calls)
    machine = Machine(CTRIE, Scenario.parse(f"init: {text} | {text} | after: {text} | keys: {keys}"))
    assert machine.run([]) == b.DONE
    history = machine.history()
    assert len(history) == 3 * len(calls)
    assert check(history, "map").verdict == "ok"
    changed = [operation for operation in history.operations if operation.f in ("get", "size", "snapshot", "put")]
    assert all(operation.result != -1 for operation in changed)


def test_two_puts_and_a_get_of_colliding_keys_in_every_interleaving():
    result = explore(CTRIE, scenario="put(0, 1) | put(1, 2) | get(0) | keys: lists")
    assert result.verdict == "ok"
    assert result.complete
    assert result.interleavings > 1e20


def test_a_slow_exhaustive_exploration_is_undecided():
    result = explore(CTRIE, scenario="put(0, 1); remove(0) | put(1, 2); get(0) | remove(1); get(1)", schedules=50)
    assert (result.verdict, result.complete) == ("unknown", False)
