"""State graphs of compiled code: exact, every move as the engine makes it, and the verdicts those of the checker."""

import random

import numpy as np
import pytest

from latchfree.atomics import cas, load
from latchfree.jit import kernel
from latchfree_evidence.targets.ctrie import CTRIE
from latchfree_evidence.targets.ring import RING, WEAK_RING
from latchfree_explore import Scenario, Target, search
from latchfree_explore.examples.counter import CAS_COUNTER, LOST_UPDATE, CounterModel
from latchfree_explore.examples.mutex import CARELESS, FORGETFUL, MUTEX
from latchfree_explore.examples.queue import QUEUE
from latchfree_explore.examples.treiber import ABA, TREIBER
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.dpor import DPOR
from latchfree_lincheck.checking.checker import check
from latchfree_teach import play_page
from latchfree_teach.play.growing import StateGraph, corridor, whole, within
from latchfree_teach.play.merging import merged
from latchfree_teach.play.par import shortest
from latchfree_teach.play.walking import MOST_STEPS, State, Walker

RIGHT = [
    (CAS_COUNTER, "increment | increment | increment"),
    (TREIBER, "init: push(1) | pop; push(2) | pop; pop"),
    (MUTEX, "increment | increment"),
    (QUEUE, "enqueue(1) | enqueue(2); dequeue"),
    (RING, "enqueue(1) | dequeue | enqueue(2)"),
    (CTRIE, "init: put(0, 1) | put(0, 2) | get(0) | after: get(0)"),
]
WRONG = [
    (LOST_UPDATE, "increment | increment"),
    (LOST_UPDATE, "increment; increment | increment | read"),
    (ABA, "init: push(1); push(2) | pop | pop; pop; push(3) | after: pop; pop"),
    (CARELESS, "increment | increment"),
    (FORGETFUL, "increment | increment"),
]


def walker(target, scenario: str) -> Walker:
    return Walker(Machine(target, Scenario.parse(scenario), steps=MOST_STEPS))


def results(graph: StateGraph) -> set[tuple]:
    """What the operations of complete schedules return."""
    assert graph.complete
    return {tuple(state.results[k] for k in sorted(state.results)) for state in graph.states if state.status == "done"}


def random_play(first: State, rng: random.Random) -> tuple[list, State]:
    """Moves to an end, and the end."""
    state, made = first, []
    while state.moves:
        move, state = state.moves[rng.choice(sorted(state.moves))]
        made.append(move)
    return made, state


@pytest.mark.parametrize(("target", "scenario"), RIGHT, ids=lambda each: getattr(each, "name", None))
def test_results_are_those_of_every_interleaving(target, scenario):
    fused = whole(walker(target, scenario))
    machine = Machine(target, Scenario.parse(scenario), steps=MOST_STEPS)
    search.warm_up(machine)
    assert search.run(machine, DPOR).complete
    rows = machine.seen.results[: int(machine.seen.total[0])].tolist()
    first = len(machine.scenario.before)
    calls = [target.operation(each.f) for each in machine.calls][first:]
    expected = {tuple(each.result(word) for each, word in zip(calls, row[first:], strict=True)) for row in rows}
    assert results(fused) == expected
    assert shortest(fused.states[0]) is None


@pytest.mark.parametrize(("target", "scenario"), [RIGHT[0], RIGHT[2], *WRONG])
def test_moves_lose_nothing_that_single_accesses_find(target, scenario):
    fine, fused = whole(walker(target, scenario), fine=True), whole(walker(target, scenario))
    assert results(fine) == results(fused)
    assert len(fused.states) <= len(fine.states)
    one, other = shortest(fine.states[0]), shortest(fused.states[0])
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one[0] == other[0]
        below = within(walker(target, scenario), one[0] - 1, fine=True)
        assert below.complete
        assert shortest(below.states[0]) is None, "no violation with fewer changes of threads than par"


@pytest.mark.parametrize(("target", "scenario"), [*RIGHT[1:2], *RIGHT[4:], *WRONG])
def test_random_plays_are_what_the_engine_and_the_checker_say(target, scenario, rng):
    made = walker(target, scenario)
    graph = whole(made)
    machine = Machine(target, Scenario.parse(scenario), steps=MOST_STEPS)
    for _ in range(200):
        moves, end = random_play(graph.states[0], rng)
        schedule = [move.thread for move in moves for _ in range(move.steps)]
        machine.run(schedule)
        assert machine.schedule[: len(schedule)] == schedule
        at = 0
        for move in moves:
            steps = machine.steps[at : at + move.steps]
            kind, succeeded = ("cas", False) if move.kind == "cas fails" else (move.kind, True)
            assert {(step.thread, step.call) for step in steps} == {(move.thread, move.call)}
            points = [step for step in steps if step.kind == "pause" or step.at in graph.contended]
            assert len(points) <= 1, "a move is one access that other threads can see"
            named = (points or steps)[-1]
            assert (named.kind, named.succeeded, named.site, named.old) == (kind, succeeded, move.site, move.old)
            at += move.steps
        if end.status == "deadlock":
            assert machine.status != 1
        else:
            verdict = check(machine.history(), made.tracker.model).verdict
            assert verdict == ("violation" if end.is_bad else "ok")


@pytest.mark.parametrize(("target", "scenario"), [RIGHT[1], *WRONG])
def test_merged_states_have_the_same_plays(target, scenario, rng):
    graph = whole(walker(target, scenario))
    kept, number = merged(graph.states)
    assert len(kept) <= len(graph.states)
    for _ in range(200):
        state, there = graph.states[0], kept[0]
        while state.moves:
            assert kept[number[state.key]] is there
            assert (state.memory, state.threads, state.held) == (there.memory, there.threads, there.held)
            thread = rng.choice(sorted(state.moves))
            move, state = state.moves[thread]
            other, after = there.moves[thread]
            assert move[:9] == other[:9]
            there = kept[number[after.key]]


@kernel
def increment_if_seven(mem, root, thread):
    cas(mem, root, np.uint64(7), np.uint64(8))
    return load(mem, root)


def test_a_compare_and_swap_that_fails_is_no_write():
    target = Target("idle", CounterModel(), {"read": increment_if_seven})
    graph = whole(walker(target, "read; read | read; read"))
    assert graph.contended == []
    assert results(graph) == {(0, 0, 0, 0)}


def test_bounds_are_kept_and_said():
    target, scenario = WRONG[2]
    everything = {state.key for state in whole(walker(target, scenario)).states}
    sizes = []
    for switches in range(4):
        graph = within(walker(target, scenario), switches)
        assert graph.complete
        assert {state.key for state in graph.states} <= everything
        sizes.append(len(graph.states))
    assert sizes == sorted(sizes)
    assert graph.bound == "up to 3 changes of threads"
    found = shortest(whole(walker(target, scenario)).states[0])
    assert found is not None
    best = whole(walker(target, scenario)).states[0]
    schedule = []
    for thread in found[1]:
        move, best = best.moves[thread]
        schedule += [thread] * move.steps
    near = corridor(walker(target, scenario), schedule, 1)
    assert {state.key for state in near.states} < everything
    again = shortest(near.states[0])
    assert again is not None
    assert again[0] == found[0]
    assert not whole(walker(target, scenario), most=20).complete


def test_what_has_no_page_is_refused_in_one_line():
    with pytest.raises(ValueError, match="weak-ring: it judges a part of each history"):
        play_page(WEAK_RING, "enqueue(1) | dequeue")
    with pytest.raises(ValueError, match="switches must be at least 0"):
        play_page(LOST_UPDATE, "increment", switches=-1)
    with pytest.raises(ValueError, match="has no operation 'decrement'"):
        play_page(LOST_UPDATE, "decrement")
