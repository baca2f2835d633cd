"""Paths that take every step, and shortest paths."""

import networkx as nx
from graph_random import graph_of, graphs
from hypothesis import given, settings

from latchfree_model.graph import StateGraph, counterexample, edge_cover, locate, shortest_path


@settings(max_examples=400)
@given(graphs())
def test_every_step_is_taken(graph: StateGraph) -> None:
    paths = edge_cover(graph)
    steps = set(graph.steps())
    for path in paths:
        assert path.steps
        assert path.start in graph.initial
        assert path.states[:-1] == tuple(step.source for step in path.steps)
    assert {step for path in paths for step in path.steps} == steps
    assert len(paths) <= len(steps) + len(graph.initial)


@given(graphs())
def test_the_paths_are_the_same_in_every_run(graph: StateGraph) -> None:
    assert edge_cover(graph) == edge_cover(graph)


def test_a_circle_is_one_path() -> None:
    graph = graph_of(["x = 0", "x = 1", "x = 2"], [(0, 1, "A"), (1, 2, "B"), (2, 0, "C"), (1, 1, "D")])
    (path,) = edge_cover(graph)
    assert len(path.steps) == 4


def test_a_diamond_is_two_paths_and_a_shared_end_is_taken_twice() -> None:
    edges = [(0, 1, "A"), (0, 2, "B"), (1, 3, "C"), (2, 3, "D"), (3, 4, "E"), (3, 5, "F")]
    paths = edge_cover(graph_of([f"x = {state}" for state in range(6)], edges))
    assert sorted(len(path.steps) for path in paths) == [3, 3]


def test_a_broom_needs_its_handle_for_each_bristle() -> None:
    edges = [(0, 1, "A"), *((1, bristle, "B") for bristle in range(2, 6))]
    paths = edge_cover(graph_of([f"x = {state}" for state in range(6)], edges))
    assert [len(path.steps) for path in paths] == [2, 2, 2, 2]


def test_a_graph_without_steps() -> None:
    assert edge_cover(graph_of(["x = 0"], [])) == []


@given(graphs())
def test_counterexamples_are_shortest(graph: StateGraph) -> None:
    for state in graph.edges:
        value = graph.state(state)["x"]
        path = counterexample(graph, lambda variables, value=value: variables["x"] != value)
        assert path.states[-1] == state
        distances = nx.multi_source_dijkstra_path_length(graph.edges, set(graph.initial))
        assert len(path.steps) == distances[state]
        assert locate(graph, graph.trace(path)).states == path.states
    assert counterexample(graph, lambda variables: variables["x"] < 99) is None
    assert shortest_path(graph, lambda _: False) is None
