"""Lay out a graph in layers: states of one layer have the same distance from the initial states.

Distances make the layers (Sugiyama's first step comes for free): a step leads at most one layer down, so no edge has to
be routed through a layer, and those that go back up or sideways are drawn as arcs. Within a layer the states are
ordered by the mean position of their neighbours, down and up in turn, which removes most crossings (the barycentre
heuristic: Sugiyama, Tagawa, Toda, "Methods for Visual Understanding of Hierarchical System Structures", 1981).
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from latchfree_model.graph.steps import Drawable

SWEEPS: Final = 8


def layers(graph: Drawable) -> list[list[int]]:
    """Return the states of each layer, from left to right."""
    rows: list[list[int]] = [[] for _ in range(graph.depth)]
    for state, level in enumerate(graph.levels):
        rows[level].append(state)
    best, fewest = rows, crossings(graph, rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(rows)) if down else range(len(rows) - 2, -1, -1)
        rows = list(rows)
        for level in order:
            beside = rows[level - 1] if down else rows[level + 1]
            rows[level] = _sorted(graph, rows[level], _positions(beside))
        count = crossings(graph, rows)
        if count < fewest:
            best, fewest = rows, count
    return best


def crossings(graph: Drawable, rows: list[list[int]]) -> int:
    """Return how many pairs of edges between neighbouring layers cross."""
    total = 0
    for upper, lower in pairwise(rows):
        left, right = _positions(upper), _positions(lower)
        edges = sorted(
            (left[source], right[target])
            for source in upper
            for target in set(graph.edges.successors(source))
            if target in right
        )
        total += sum(
            one[0] < other[0] and one[1] > other[1] for index, one in enumerate(edges) for other in edges[index + 1 :]
        )
    return total


def _sorted(graph: Drawable, row: list[int], beside: Mapping[int, float]) -> list[int]:
    """Return a layer in the order of the mean position of each state's neighbours in the layer beside it."""
    places = _positions(row)

    def mean(state: int) -> float:
        near = {*graph.edges.predecessors(state), *graph.edges.successors(state)} & beside.keys()
        return sum(beside[other] for other in near) / len(near) if near else places[state]

    return sorted(row, key=lambda state: (mean(state), places[state]))


def _positions(row: list[int]) -> dict[int, float]:
    """Return the place of each state in a layer, with 0 in the middle."""
    return {state: index - (len(row) - 1) / 2 for index, state in enumerate(row)}
