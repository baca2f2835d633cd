"""Cycles of the dependency graph, each with the name of its anomaly.

=================  ====================================================================
``G0``             ww edges only
``G1c``            ww and wr edges
``G-single``       one rw edge, the others ww and wr
``G-nonadjacent``  several rw edges, no two in a row, the others ww and wr
``G2-item``        any other cycle with rw edges
=================  ====================================================================

A cycle that needs process edges has the suffix ``-process``; one that needs edges of real time, ``-realtime``.

First all is peeled away that lies on no cycle (`acyclic`): of a history without anomalies nothing is left. networkx
finds the strongly connected components of the rest. Within each, each class is looked for in the order of the table,
unless a class that implies it was found there.
Invariant: because of that order a class can be looked for without regard to what distinguishes it from those before:
where no cycle of ww edges was found, a cycle of ww and wr edges has a wr edge. So the search is one for *any* closed
walk of the kinds allowed, and exact: a component that holds a class and none that implies it yields the class.
Sources: Adya, "Weak Consistency", MIT 1999, chapter 4; Cerone, Gotsman, "Analysing Snapshot Isolation", PODC 2016
(nonadjacent rw edges).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from latchfree_lincheck.transactions.acyclic import core_of
from latchfree_lincheck.transactions.anomaly import CYCLES, SUFFIXES
from latchfree_lincheck.transactions.edges import KINDS, ON, PROCESS, REALTIME, RW, WR, WW, Edge, Graph
from latchfree_lincheck.transactions.levels import implied_by
from latchfree_lincheck.transactions.needs import networkx
from latchfree_lincheck.transactions.shortest import Steps, reaching, shortest_cycle

_ORDERS: Final[tuple[tuple[int, ...], ...]] = ((), (PROCESS,), (PROCESS, REALTIME))
"""What each suffix allows besides ww, wr and rw edges."""


def find_cycles(graph: Graph) -> Iterator[tuple[str, list[Edge]]]:
    """Yield for each component a short cycle of each class that it holds and that no other one found there implies."""
    core = set(core_of(graph.nodes, graph.source, graph.target))
    if not core:
        return
    inside = [
        edge
        for edge, (source, target) in enumerate(zip(graph.source, graph.target, strict=True))
        if source in core and target in core
    ]
    found: dict[int, frozenset[str]] = {}  # by node: what was found in its component
    for suffix, orders in zip(SUFFIXES, _ORDERS, strict=True):
        allowed = {WW, WR, RW, ON, *orders}
        edges = [edge for edge in inside if graph.kind[edge] in allowed]
        for component, within in _components(graph, edges):
            names: set[str] = set().union(*{found[node] for node in component if node in found})
            for family in CYCLES:
                name = family + suffix
                if name in implied_by(names):
                    continue
                cycle = _FINDERS[family](graph, within, orders)
                if cycle:
                    names.add(name)
                    yield name, cycle
            if names:
                kept = frozenset(names)
                found.update((node, kept) for node in component)


def _components(graph: Graph, edges: Iterable[int]) -> list[tuple[set[int], list[int]]]:
    """Return the strongly connected components that hold a cycle, each with the edges inside."""
    nx = networkx()
    edges = list(edges)
    digraph: Any = nx.DiGraph()
    digraph.add_edges_from((graph.source[edge], graph.target[edge]) for edge in edges)
    components = [component for component in nx.strongly_connected_components(digraph) if len(component) > 1]
    components.sort(key=min)
    number = {node: at for at, component in enumerate(components) for node in component}
    within: list[list[int]] = [[] for _ in components]
    for edge in edges:
        at = number.get(graph.source[edge], -1)
        if at >= 0 and at == number.get(graph.target[edge], -2):
            within[at].append(edge)
    return list(zip(components, within, strict=True))


def _steps(graph: Graph, edges: Iterable[int]) -> Steps:
    steps: Steps = {}
    for edge in edges:
        steps.setdefault(graph.source[edge], []).append((edge, graph.target[edge]))
    return steps


def _plain(graph: Graph, within: list[int], kinds: set[int]) -> list[Edge] | None:
    """Return a short cycle of these kinds of edges only."""
    chosen = [edge for edge in within if graph.kind[edge] in kinds]
    best: list[int] | None = None
    for _, edges in _components(graph, chosen):
        closing = [(edge, graph.target[edge], graph.source[edge]) for edge in edges if graph.kind[edge] != ON]
        best = shortest_cycle(graph, _steps(graph, edges), closing, best)
    return contract(graph, best) if best else None


def _g0(graph: Graph, within: list[int], orders: tuple[int, ...]) -> list[Edge] | None:
    return _plain(graph, within, {WW, ON, *orders})


def _g1c(graph: Graph, within: list[int], orders: tuple[int, ...]) -> list[Edge] | None:
    return _plain(graph, within, {WW, WR, ON, *orders})


def _g_single(graph: Graph, within: list[int], orders: tuple[int, ...]) -> list[Edge] | None:
    """Return a short cycle with one rw edge: from the edge's target a path without rw edges leads to its source."""
    steps = _steps(graph, (edge for edge in within if graph.kind[edge] != RW))
    pairs = [(edge, graph.target[edge], graph.source[edge]) for edge in within if graph.kind[edge] == RW]
    best = shortest_cycle(graph, steps, reaching(steps, pairs))
    return contract(graph, best) if best else None


def _g_nonadjacent(graph: Graph, within: list[int], orders: tuple[int, ...]) -> list[Edge] | None:
    """Return a short cycle with rw edges, no two of them in a row.

    Each node is there twice: 2 * node, reached by another edge, and 2 * node + 1, reached by an rw edge, from which no
    rw edge leads on. Such a closed walk exists if and only if an rw edge lies inside a component of this graph.
    """
    nx = networkx()
    moves: list[tuple[int, int, int]] = []
    for edge in within:
        source, target, kind = 2 * graph.source[edge], 2 * graph.target[edge], graph.kind[edge]
        if kind == ON:
            moves += ((edge, source, target), (edge, source + 1, target + 1))
        elif kind == RW:
            moves.append((edge, source, target + 1))
        else:
            moves += ((edge, source, target), (edge, source + 1, target))
    digraph: Any = nx.DiGraph()
    digraph.add_edges_from((source, target) for _, source, target in moves)
    number = {node: at for at, part in enumerate(nx.strongly_connected_components(digraph)) for node in part}
    steps: Steps = {}
    closing = []
    for edge, source, target in moves:
        if number[source] == number[target]:
            steps.setdefault(source, []).append((edge, target))
            if graph.kind[edge] == RW:
                closing.append((edge, target, source))
    best = shortest_cycle(graph, steps, closing)
    return _simple(contract(graph, best)) if best else None


def _g2_item(graph: Graph, within: list[int], orders: tuple[int, ...]) -> list[Edge] | None:
    closing = [(edge, graph.target[edge], graph.source[edge]) for edge in within if graph.kind[edge] == RW]
    best = shortest_cycle(graph, _steps(graph, within), closing)
    return contract(graph, best) if best else None


_FINDERS: Final = {"G0": _g0, "G1c": _g1c, "G-single": _g_single, "G-nonadjacent": _g_nonadjacent, "G2-item": _g2_item}


def contract(graph: Graph, cycle: list[int]) -> list[Edge]:
    """Return a cycle as edges between transactions: a path through virtual nodes becomes one edge."""
    start = next(at for at, edge in enumerate(cycle) if graph.source[edge] < graph.transactions)
    whole: list[Edge] = []
    for edge in cycle[start:] + cycle[:start]:
        target, after = graph.target[edge], graph.after[edge]
        if graph.kind[edge] == ON:
            entered = whole.pop()
            after = entered.after if after is None else after
            whole.append(Edge(entered.source, target, entered.kind, entered.key, entered.before, after))
        else:
            kind = KINDS[graph.kind[edge]]
            whole.append(Edge(graph.source[edge], target, kind, graph.key[edge], graph.before[edge], after))
    return whole


def _simple(cycle: list[Edge]) -> list[Edge] | None:
    """Return the part of a closed walk without adjacent rw edges that visits no node twice, if it has rw edges."""
    while True:
        seen: dict[int, int] = {}
        for at, edge in enumerate(cycle):
            if edge.source in seen:
                first = seen[edge.source]
                parts = (cycle[first:at], cycle[at:] + cycle[:first])
                break
            seen[edge.source] = at
        else:
            return cycle
        fitting = [part for part in parts if _nonadjacent(part)]
        if not fitting:
            return None
        cycle = min(fitting, key=len)


def _nonadjacent(cycle: list[Edge]) -> bool:
    kinds = [edge.kind for edge in cycle]
    adjacent = any(a == b == "rw" for a, b in zip(kinds, [*kinds[1:], kinds[0]], strict=True))
    return "rw" in kinds and not adjacent
