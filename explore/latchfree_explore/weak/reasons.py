"""Why a memory model forbids an execution graph: the axiom that does not hold, and the cycle that shows it.

Example: SC forbids the weak outcome of store buffering by the axiom *order*, since the two stores and the two loads
are in a cycle of po and rb. A cycle is shown in edges that one can see in a program and its graph: po, rf, mo, rb,
and sw where a release is read by an acquire. Happens-before, and the order of seq_cst events, are paths of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from latchfree_explore.weak import axioms
from latchfree_explore.weak.axioms import AXIOMS, Axiom, Model
from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.relations import Relation, identity, members, reflexive

_Labelled: TypeAlias = Mapping[str, Relation]

PLAIN_WORDS: Final[dict[str, str]] = {
    "atomicity": "an update comes right after the write that it read",
    "order": "no cycle of program order and communication",
    "coherence": "accesses of one word are in one order with happens-before",
    "no thin air": "no value is its own cause",
    "seq_cst": "seq_cst accesses and fences are in one order",
    "write order": "all writes are in one order with happens-before",
}
"""What each axiom says, in a few words."""


class Edge(NamedTuple):
    """One step of a cycle: from an event to another, by a relation (po, rf, mo, rb, sw)."""

    start: int
    label: str
    end: int


class Reason(NamedTuple):
    """Why a graph is forbidden.

    Attributes
    ----------
    axiom : str
        Its name, or "atomicity".
    cycle : tuple of Edge
        Each edge begins where the one before it ends, the first where the last ends.
    """

    axiom: str
    cycle: tuple[Edge, ...]

    @property
    def meaning(self) -> str:
        """What the axiom says."""
        return PLAIN_WORDS[self.axiom]


def reason(graph: Graph, model: Model) -> Reason | None:
    """Return why a model forbids a graph, None if the model allows the graph.

    Parameters
    ----------
    graph : Graph
        A run.
    model : {"sc", "tso", "sra", "rc11"}
        Which one.

    Returns
    -------
    Reason or None
    """
    derived = Derived(graph)
    if not graph.atomic:
        return Reason("atomicity", _not_atomic(graph))
    for axiom in AXIOMS[model]:
        relation = axiom.relation(derived)
        if not axiom.holds(relation):
            return Reason(axiom.name, _cycle(derived, axiom, relation, model))
    return None


def _not_atomic(graph: Graph) -> tuple[Edge, ...]:
    """Return a cycle of an update and a write between the update and what it read, or of an update before that."""
    for update in members(graph.updates):
        read = graph.source[update]
        if read is None:
            continue
        if graph.mo[update] >> read & 1:
            return Edge(update, "mo", read), Edge(read, "rf", update)
        for between in members(graph.mo[read]):
            if graph.mo[between] >> update & 1:
                return Edge(update, "rb", between), Edge(between, "mo", update)
    raise ValueError("every update is right after what it read")


def _path(edges: _Labelled, start: int, end: int) -> tuple[Edge, ...] | None:
    """Return a shortest path of one edge or more, None if there is none."""
    came: dict[int, Edge] = {}
    waiting = [start]
    while waiting and end not in came:
        found = []
        for node in waiting:
            for label, relation in edges.items():
                for after in members(relation[node]):
                    if after not in came:
                        came[after] = Edge(node, label, after)
                        found.append(after)
        waiting = found
    if end not in came:
        return None
    path = [came[end]]
    while path[0].start != start:
        path.insert(0, came[path[0].start])
    return tuple(path)


def _cycle(derived: Derived, axiom: Axiom, relation: Relation, model: Model) -> tuple[Edge, ...]:
    """Return a short cycle that an axiom forbids, in edges of po, rf, mo, rb and sw."""
    graph = derived.graph
    communication = {"rf": graph.rf, "mo": graph.mo, "rb": graph.rb}
    if axiom.name == "coherence" and model != "tso":
        return _incoherent(derived, communication)
    if axiom.name == "seq_cst":
        return _shortest(_expanded(derived, cycle) for cycle in _cycles({"psc": relation}))
    if axiom.name == "write order":
        edges = {"po": graph.po, "sw": derived.sw, "mo": graph.mo, "psc": derived.psc_fences}
        return _shortest(_expanded(derived, cycle) for cycle in _cycles(edges))
    edges = {
        ("sc", "order"): {"po": graph.po, **communication},
        ("tso", "coherence"): {"po": derived.po_same_word, **communication},
        ("tso", "order"): {
            "po": axioms.preserved(derived),
            **communication,
            "rf": tuple(row & graph.external[i] for i, row in enumerate(graph.rf)),
        },
    }.get((model, axiom.name), {"po": graph.po, "rf": graph.rf})
    return _shortest(_cycles(edges))


def _cycles(edges: _Labelled) -> Iterator[tuple[Edge, ...]]:
    """Yield a shortest cycle through each event that is on one."""
    for event in range(len(next(iter(edges.values())))):
        path = _path(edges, event, event)
        if path:
            yield path


def _shortest(cycles: Iterator[tuple[Edge, ...]]) -> tuple[Edge, ...]:
    """Return the cycle with the fewest edges, the first of those."""
    return min(cycles, key=len)


def _happens_before(derived: Derived, start: int, end: int) -> tuple[Edge, ...]:
    """Return a path of po and sw, empty from an event to itself."""
    if start == end:
        return ()
    path = _path({"po": derived.graph.po, "sw": derived.sw}, start, end)
    if path is None:
        raise ValueError(f"event {start} does not happen before event {end}")
    return path


def _incoherent(derived: Derived, communication: _Labelled) -> tuple[Edge, ...]:
    """Return a cycle of happens-before and accesses of one word."""
    found = []
    for start, row in enumerate(derived.hb):
        for end in members(row):
            back = () if start == end else _path(communication, end, start)
            if back is not None:
                forth = _path({"po": derived.graph.po, "sw": derived.sw}, start, end) or ()
                found.append((*forth, *back))
    return _shortest(iter(found))


def _expanded(derived: Derived, cycle: tuple[Edge, ...]) -> tuple[Edge, ...]:
    """Return a cycle with the edges of psc as paths of po, rf, mo, rb and sw."""
    parts = [_of_psc(derived, edge) if edge.label == "psc" else (edge,) for edge in cycle]
    return tuple(edge for part in parts for edge in part)


def _of_psc(derived: Derived, edge: Edge) -> tuple[Edge, ...]:
    """Return the shortest path that makes an edge of psc."""
    graph, size = derived.graph, derived.graph.size
    near, alone = reflexive(derived.hb), identity((1 << size) - 1, size)
    left = (near if graph.fences >> edge.start & 1 else alone)[edge.start]
    both_fences = graph.fences >> edge.start & 1 and graph.fences >> edge.end & 1
    found = []
    for first in members(left):
        for last in range(size):
            if not (near if graph.fences >> edge.end & 1 else alone)[last] >> edge.end & 1:
                continue
            for middle in _of_scb(derived, first, last, strong=bool(both_fences)):
                before, after = _happens_before(derived, edge.start, first), _happens_before(derived, last, edge.end)
                found.append((*before, *middle, *after))
    return _shortest(iter(found))


def _of_scb(derived: Derived, start: int, end: int, *, strong: bool) -> Iterator[tuple[Edge, ...]]:
    """Yield paths that make an edge of scb; between two fences, those of eco besides."""
    graph = derived.graph
    for label, relation in (("po", graph.po), ("mo", graph.mo), ("rb", graph.rb)):
        if relation[start] >> end & 1:
            yield (Edge(start, label, end),)
    if derived.hb[start] & graph.same_word[start] & 1 << end:
        yield _happens_before(derived, start, end)
    elsewhere = graph.po[start] & ~graph.same_word[start]
    for first in members(elsewhere):
        for last in members(derived.hb[first]):
            if graph.po[last] & ~graph.same_word[last] & 1 << end:
                yield (Edge(start, "po", first), *_happens_before(derived, first, last), Edge(last, "po", end))
    if strong:
        path = _path({"rf": graph.rf, "mo": graph.mo, "rb": graph.rb}, start, end)
        if path:
            yield path
