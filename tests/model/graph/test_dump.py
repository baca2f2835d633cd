"""Graphs are read as TLC writes them."""

import networkx as nx
import pytest
from graph_random import Edge, dump, graph_of, graphs
from hypothesis import given
from hypothesis import strategies as st

from latchfree_model.graph import StateGraph, read_dump

ENDS = st.integers(0, 5)


@given(st.lists(st.tuples(ENDS, ENDS, st.sampled_from("AB")), max_size=20), st.lists(ENDS, min_size=1, unique=True))
def test_the_graph_is_what_was_written(edges: list[Edge], initial: list[int]) -> None:
    graph = graph_of([f"x = {state}" for state in range(6)], edges, initial)
    name = {state: graph.state(state)["x"] for state in graph.edges}
    whole = nx.MultiDiGraph()
    whole.add_nodes_from(initial)
    for edge in edges:
        whole.add_edge(*edge[:2], key=edge[2])
    reached = set(initial).union(*(nx.descendants(whole, state) for state in initial))
    assert sorted(name.values()) == sorted(reached)
    assert {(name[s.source], name[s.target], s.action) for s in graph.steps()} == {e for e in edges if e[0] in reached}
    assert [name[state] for state in graph.initial] == initial


@given(graphs())
def test_numbers_grow_with_depth(graph: StateGraph) -> None:
    assert list(graph.levels) == sorted(graph.levels)
    for state in graph.edges:
        distances = [
            nx.shortest_path_length(graph.edges, start, state)
            for start in graph.initial
            if nx.has_path(graph.edges, start, state)
        ]
        assert graph.levels[state] == min(distances)
    assert graph.depth == max(graph.levels) + 1
    assert set(graph.deadlocks) == {state for state in graph.edges if not list(graph.steps_from(state))}


@pytest.mark.parametrize("text", ['"', "\\", "a\\nb", '\\"', '",style = filled]', "/\\ y = 2", "\\\\"])
def test_strings_come_through(text: str) -> None:
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    graph = graph_of([f'/\\ x = "{quoted}"\n/\\ z = 1'], [])
    assert graph.state(0) == {"x": text, "z": 1}


def test_what_is_not_a_graph() -> None:
    lines = dump(["x = 0", "x = 1"], [(0, 1, "A")])
    with pytest.raises(ValueError, match="line 6 of TLC's graph: expected a state or a step, got 'What"):
        read_dump([*lines[:5], "What is this?", *lines[5:]])
    with pytest.raises(ValueError, match="a step A from or to a state that it does not show"):
        read_dump([line for line in lines if not line.startswith("-7 [")])
    with pytest.raises(ValueError, match=r"line 7 .*expected the variables x, got y"):
        read_dump([line.replace("x = 1", "y = 1") for line in lines])


def test_an_empty_graph() -> None:
    graph = read_dump([])
    assert (len(graph), graph.depth, graph.components, graph.deadlocks) == (0, 0, [], ())
