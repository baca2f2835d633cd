"""Shortest cycles through some of the edges of a graph.

Example: a cycle with one rw edge from T3 to T1 is that edge and a path of other edges from T1 back to T3; a shortest
path makes a shortest cycle.

Edges out of virtual nodes cost nothing (`edges.ON`), so that a path has the length that it has between transactions.
Invariant: the first closing edge is always searched to its end. Others are tried while the budget lasts, so that a
cycle is found wherever there is one, and a shortest one in all but huge components.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final

from latchfree_lincheck.transactions.edges import ON, Graph
from latchfree_lincheck.transactions.needs import networkx

Steps = dict[int, list[tuple[int, int]]]
"""By node: each edge out of it, and where the edge leads."""
Closing = tuple[int, int, int]
"""An edge that closes a cycle, the node from which a path must lead back, and the one to which."""

_BUDGET: Final = 500_000
_BLOCK: Final = 1 << 12


def shortest_cycle(
    graph: Graph, steps: Steps, closing: Sequence[Closing], best: list[int] | None = None
) -> list[int] | None:
    """Return the edges of a short cycle: a closing edge, then a path that leads back.

    Parameters
    ----------
    graph : Graph
        The graph of dependencies.
    steps : dict
        The edges that a path may use.
    closing : sequence of (edge, start, goal)
        A path leads back to each.
    best : list of int, optional
        A cycle that is known: only a shorter one replaces it.
    """
    budget = _BUDGET
    limit = _cost(graph, best) if best else 1 << 30
    for edge, start, goal in closing:
        if budget <= 0 and best:
            break
        path, spent = _path(graph, steps, start, goal, limit - 1)
        budget -= spent
        if path is not None:
            best = [edge, *path]
            limit = _cost(graph, best)
            if limit == 2:
                break
    return best


def _cost(graph: Graph, edges: Sequence[int]) -> int:
    return sum(graph.kind[edge] != ON for edge in edges)


def _path(graph: Graph, steps: Steps, start: int, goal: int, limit: int) -> tuple[list[int] | None, int]:
    """Return a shortest path of a cost below a limit, or None, and how many edges were looked at."""
    kind = graph.kind
    cost = {start: 0}
    came: dict[int, tuple[int, int]] = {}
    done: set[int] = set()
    queue: deque[int] = deque([start])
    spent = 0
    while queue:
        node = queue.popleft()
        if node == goal:
            path = []
            while node != start:
                edge, node = came[node]
                path.append(edge)
            return path[::-1], spent
        if node in done:
            continue
        done.add(node)
        for edge, target in steps.get(node, ()):
            spent += 1
            price = cost[node] + (kind[edge] != ON)
            if price < limit and price < cost.get(target, 1 << 30):
                cost[target] = price
                came[target] = (edge, node)
                if kind[edge] == ON:
                    queue.appendleft(target)
                else:
                    queue.append(target)
    return None, spent


def reaching(steps: Steps, closing: Sequence[Closing]) -> list[Closing]:
    """Return the closing edges from whose start a path leads to their goal.

    Where many pairs are asked about, sets of goals go through the graph as bits of a number, a block of goals at a
    time.
    """
    if len(closing) * len(steps) < _BUDGET:
        return [each for each in closing if _reaches(steps, each[1], each[2])]
    nx = networkx()
    digraph: Any = nx.DiGraph()
    digraph.add_edges_from((node, target) for node, leads in steps.items() for _, target in leads)
    digraph.add_nodes_from(node for _, start, goal in closing for node in (start, goal))
    condensed: Any = nx.condensation(digraph)
    part: dict[int, int] = condensed.graph["mapping"]
    backwards = list(nx.topological_sort(condensed))[::-1]
    goals = list(dict.fromkeys(part[goal] for _, _, goal in closing))
    found: list[Closing] = []
    for first in range(0, len(goals), _BLOCK):
        bit = {goal: 1 << at for at, goal in enumerate(goals[first : first + _BLOCK])}
        reach: dict[int, int] = {}
        for node in backwards:
            mask = bit.get(node, 0)
            for target in condensed.successors(node):
                mask |= reach[target]
            reach[node] = mask
        found += [each for each in closing if reach[part[each[1]]] & bit.get(part[each[2]], 0)]
    return found


def _reaches(steps: Steps, start: int, goal: int) -> bool:
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        if node == goal:
            return True
        for _, target in steps.get(node, ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return False
