"""Drawings: well-formed, complete, and inside their frame."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from graph_random import graph_of, graphs
from hypothesis import given

from latchfree_model.graph import StateGraph, draw_dot, draw_svg
from latchfree_model.graph.labels import colours, step_label, value_at
from latchfree_model.graph.layout import crossings, layers

SVG = "{http://www.w3.org/2000/svg}"


@given(graphs(processes=2))
def test_the_svg_shows_everything_inside_its_frame(graph: StateGraph) -> None:
    text = draw_svg(graph, colour="x", highlight=list(graph.steps())[:2])
    root = ElementTree.fromstring(text)
    width, height = float(root.get("width")), float(root.get("height"))
    boxes = [box for group in root.iter(f"{SVG}g") for box in group.findall(f"{SVG}rect")[:1]]
    assert len(boxes) == len(graph)
    for box in boxes:
        x, y, wide, high = (float(box.get(name)) for name in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + wide <= width
        assert y + high <= height
    corners = [(float(box.get("x")), float(box.get("y"))) for box in boxes]
    assert len(set(corners)) == len(corners)
    labels = [label for label in root.iter(f"{SVG}text") if label.get("class") == "step"]
    assert sorted(label.text for label in labels) == sorted(step_label(graph, step) for step in graph.steps())
    for path in root.findall(f"{SVG}path"):
        if "c" not in path.get("d"):
            numbers = [float(number) for number in re.findall(r"-?\d+\.\d+|-?\d+", path.get("d"))]
            assert all(0 <= number <= width for number in numbers[::2])
            assert all(0 <= number <= height for number in numbers[1::2])


@given(graphs())
def test_layers_hold_each_state_once(graph: StateGraph) -> None:
    rows = layers(graph)
    assert sorted(state for row in rows for state in row) == list(graph.edges)
    assert all(graph.levels[state] == level for level, row in enumerate(rows) for state in row)
    plain = [[state for state in graph.edges if graph.levels[state] == level] for level in range(graph.depth)]
    assert crossings(graph, rows) <= crossings(graph, plain)


def test_crossings_are_removed() -> None:
    edges = [(0, 1, "A"), (0, 2, "A"), (1, 4, "B"), (2, 3, "B")]
    graph = graph_of([f"x = {state}" for state in range(5)], [*edges, (1, 4, "C")])
    assert crossings(graph, [[0], [1, 2], [4, 3]]) == 1
    assert crossings(graph, layers(graph)) == 0


def test_dot() -> None:
    graph = graph_of(['/\\ s = "a\\"b"\n/\\ n = 0', '/\\ s = ""\n/\\ n = 1'], [(0, 1, "Go")])
    text = draw_dot(graph, colour="n", highlight=list(graph.steps()))
    assert '  0 [label="0\\ns = \\"a\\\\\\"b\\"\\nn = 0", fillcolor="#cfe8f7", peripheries=2, penwidth=2' in text
    assert '  0 -> 1 [label="Go", penwidth=2' in text


def test_colours_by_a_place() -> None:
    states = [f'/\\ L = [w |-> [pc |-> "{pc}"]]\n/\\ t = <<{n}, 7>>' for n, pc in enumerate("abb")]
    graph = graph_of(states, [(0, 1, "A"), (1, 2, "A")])
    fill, legend = colours(graph, "L.w.pc")
    assert fill[0] != fill[1] == fill[2]
    assert sorted(legend) == ['"a"', '"b"']
    assert [value_at(graph, state, "t.1") for state in range(3)] == [0, 1, 2]
    with pytest.raises(KeyError, match="expected one of pc"):
        draw_svg(graph, colour="L.w.pd")
    with pytest.raises(KeyError, match="expected one of L, t"):
        draw_dot(graph, colour="u")


def test_more_values_than_colours() -> None:
    graph = graph_of([f"x = {n}" for n in range(20)], [(n, n + 1, "A") for n in range(19)])
    fill, legend = colours(graph, "x")
    assert len(legend) == 8
    assert fill.count(legend["other values"]) == 13
