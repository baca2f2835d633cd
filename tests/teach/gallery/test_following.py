"""A behaviour goes with a schedule: in the order of both, of the same threads, and no other goes with it better."""

import random
from collections.abc import Iterator

import pytest

from latchfree_model.graph import StateGraph, Step, explore
from latchfree_teach.gallery.following import CodeStep, Followed, follow
from latchfree_teach.play.models import find_model, violated_states

ACTIONS = ("Load", "Cas", "Unknown")


@pytest.fixture(scope="module")
def lost() -> tuple[StateGraph, frozenset[int]]:
    model = find_model("counter_lost")
    graph = explore(model).graph
    return graph, violated_states(model, graph)


def behaviours(graph: StateGraph, violated: frozenset[int]) -> Iterator[tuple[Step, ...]]:
    """Every behaviour that ends in a violation."""
    waiting: list[tuple[int, tuple[Step, ...]]] = [(graph.initial[0], ())]
    while waiting:
        state, steps = waiting.pop()
        if state in violated:
            yield steps
        else:
            waiting += [(step.target, (*steps, step)) for step in graph.steps_from(state) if step.target != state]


def dearest(graph: StateGraph, steps: tuple[Step, ...], accesses: list[CodeStep], stands: dict[int, object]) -> int:
    """What the cheapest alignment of one behaviour costs, found row by row."""
    known = set().union(*(each.actions for each in accesses)) & graph.actions
    costs = {(0, 0): 0}
    for made in range(len(accesses) + 1):
        for done in range(len(steps) + 1):
            ways = [costs[0, 0]] if made == done == 0 else []
            if made:
                ways.append(costs[made - 1, done] + bool(accesses[made - 1].actions & graph.actions))
            if done:
                ways.append(costs[made, done - 1] + (steps[done - 1].action in known))
            if made and done:
                access, step = accesses[made - 1], steps[done - 1]
                same = access.thread is None or stands[access.thread] == graph.process(step)
                if step.action in access.actions and same:
                    ways.append(costs[made - 1, done - 1])
            costs[made, done] = min(ways)
    return costs[len(accesses), len(steps)]


def check(graph: StateGraph, violated: frozenset[int], accesses: list[CodeStep], found: Followed) -> None:
    assert [row.access for row in found.rows if row.access is not None] == list(range(len(accesses)))
    assert [row.step for row in found.rows if row.step is not None] == list(range(len(found.path.steps)))
    assert all(row != (None, None) for row in found.rows)
    assert found.path.start in graph.initial
    for before, step in zip(found.path.states, found.path.steps, strict=False):
        assert step.source == before
        assert step in list(graph.steps_from(before))
    assert found.path.states[-1] in violated
    for row in found.rows:
        if row.access is not None and row.step is not None:
            access, step = accesses[row.access], found.path.steps[row.step]
            assert step.action in access.actions
            assert access.thread is None or found.processes[access.thread] == graph.process(step)


def test_the_lost_update_step_by_step(lost):
    graph, violated = lost
    order = [(0, "Load"), (1, "Load"), (1, "Cas"), (0, "Cas")]
    accesses = [CodeStep(thread, frozenset({action})) for thread, action in order]
    found = follow(graph, violated, accesses)
    check(graph, violated, accesses, found)
    assert [step.action for step in found.path.steps] == [action for _, action in order]
    assert [tuple(row) for row in found.rows] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert found.alone == 0


def test_what_the_model_does_not_have_costs_nothing(lost):
    graph, violated = lost
    order = [(0, "Pin"), (0, "Load"), (1, "Load"), (0, "Cas"), (0, "Unpin"), (1, "Cas")]
    accesses = [CodeStep(thread, frozenset({action})) for thread, action in order]
    found = follow(graph, violated, accesses)
    check(graph, violated, accesses, found)
    assert found.alone == 0
    assert [row.step is None for row in found.rows] == [True, False, False, False, True, False]


def test_no_behaviour_goes_with_a_schedule_better(lost, rng: random.Random):
    graph, violated = lost
    every = list(behaviours(graph, violated))
    assert len(every) > 1
    names = sorted(graph.rows.processes, key=repr)
    for _ in range(200):
        accesses = [
            CodeStep(rng.choice((0, 1, 1, None)), frozenset(rng.sample(ACTIONS, rng.choice((0, 1, 1, 2)))))
            for _ in range(rng.randrange(7))
        ]
        threads = sorted({each.thread for each in accesses if each.thread is not None})
        found = follow(graph, violated, accesses)
        check(graph, violated, accesses, found)
        choices = [dict(zip(threads, each, strict=False)) for each in (names, names[::-1])]
        assert found.alone == min(dearest(graph, steps, accesses, each) for steps in every for each in choices)


def test_where_nothing_is_violated_there_is_no_behaviour(lost):
    assert follow(lost[0], frozenset(), [CodeStep(0, frozenset({"Load"}))]) is None


def test_a_process_stands_for_several_threads_where_there_are_too_few(lost):
    graph, violated = lost
    accesses = [CodeStep(thread, frozenset({"Load"})) for thread in (0, 1, 2)]
    found = follow(graph, violated, accesses)
    check(graph, violated, accesses, found)
    assert len(set(found.processes.values())) == 2
