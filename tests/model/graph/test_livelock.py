"""Livelocks against a list of all cycles."""

import pytest
from graph_random import graph_of, graphs, livelocked
from hypothesis import given, settings

from latchfree_model.graph import StateGraph, find_livelock


@settings(max_examples=400)
@given(graphs(processes=2))
def test_a_livelock_is_found_where_there_is_one(graph: StateGraph) -> None:
    found = find_livelock(graph)
    assert (found is not None) == livelocked(graph)
    if found is None:
        return
    steps = set(graph.steps())
    assert found.lead.start in graph.initial
    assert found.lead.states[-1] == found.cycle.start == found.cycle.states[-1]
    assert found.cycle.steps
    assert {*found.lead.steps, *found.cycle.steps} <= steps
    assert not any(map(graph.completes, found.cycle.steps))
    assert graph.pending(found.cycle.start)
    assert len(found.lead.steps) == graph.levels[found.cycle.start]
    trace = found.trace(graph)
    assert len(trace) == len(found.lead.steps) + len(found.cycle.steps)
    assert trace.states[trace.back_to - 1].variables == graph.state(found.cycle.start)


def states(*pcs: str) -> list[str]:
    return [f'/\\ x = {index}\n/\\ L = [p |-> [pc |-> "{pc}"]]' for index, pc in enumerate(pcs)]


def test_a_cycle_that_returns_is_none() -> None:
    graph = graph_of(states("idle", "work"), [(0, 1, "Invoke"), (1, 0, "Return")])
    assert find_livelock(graph) is None


def test_idling_is_none() -> None:
    assert find_livelock(graph_of(states("idle"), [(0, 0, "Terminating")])) is None


def test_spinning_in_place_is_one() -> None:
    graph = graph_of(states("idle", "work"), [(0, 1, "Invoke"), (1, 1, "Spin"), (1, 0, "Return")])
    found = find_livelock(graph)
    assert [step.action for step in found.cycle.steps] == ["Spin"]
    assert (found.components, found.states) == (1, 1)


def test_the_shortest_cycle_from_its_nearest_state() -> None:
    edges = [(0, 1, "Invoke"), (1, 2, "A"), (2, 3, "B"), (3, 1, "C"), (2, 1, "D"), (3, 3, "E")]
    found = find_livelock(graph_of(states("idle", "a", "b", "c"), edges))
    assert [step.action for step in found.cycle.steps] == ["A", "D"]
    assert (found.components, found.states) == (1, 3)


def test_a_rule_of_ones_own() -> None:
    graph = graph_of(["x = 0", "x = 1"], [(0, 1, "Go"), (1, 0, "Back")])
    assert find_livelock(graph, lambda step: step.action == "Back") is None
    assert find_livelock(graph, lambda step: step.action == "Other") is not None
    with pytest.raises(ValueError, match="no variable L or pc"):
        find_livelock(graph)
