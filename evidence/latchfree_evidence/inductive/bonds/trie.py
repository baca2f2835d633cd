"""The trie and its model: what an edge does to the tree of settled main nodes, a thread of the system does alone.

Example: an edge of TLC commits a main node with one key more. In the tree before, a thread of the system begins one of
the operations at work, walks down, puts that key, and leaves the tree that TLC has afterwards.

The main nodes of the tree afterwards are what the thread may install, and on the way to new levels main nodes with one
key. Edges that leave the tree alone are no steps of the system. One direction only: the system may do more than the
module, such as leave a C-node with one key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.trie.finite import NONE, Main, Slot, instance
from latchfree_evidence.inductive.systems.trie.words import SWAPS, UPDATES
from latchfree_evidence.inductive.tie import Projection, Tie, Values
from latchfree_model.graph.state_graph import StateGraph

THREAD: Final = "p"
Call = tuple[str, str, int]
"""An operation with its key and value."""
MOST: Final = 2_000
"""States of one thread that is alone."""


class INode(NamedTuple):
    """An I-node of a tree.

    Attributes
    ----------
    gen : int
        Its generation; those of a tree are 1, 2, ..., and the root has the last.
    kind : str
        Of its main node.
    parts : tuple
        What the slots hold, (key, value) or (INode,) or (); of another main node the keys with their values.
    """

    gen: int
    kind: str
    parts: tuple[Any, ...]


def tree_of(values: Values) -> INode:
    """Return the tree in a state of TLC."""
    nodes = values["mem"]["node"]

    def read(node: Mapping[str, Any]) -> INode:
        main = nodes[node["main"] - 1]
        if main["prev"] != 0:
            main = nodes[abs(main["prev"]) - 1]
        if main["t"] == "C":
            return INode(node["gen"], "C", tuple(slot(each) for each in main["slot"]))
        held = [main["snode"]] if main["t"] == "T" else main["entries"]
        return INode(node["gen"], main["t"], tuple(sorted((str(k), int(v)) for k, v in held)))

    def slot(part: tuple[Any, ...]) -> tuple[Any, ...]:
        return (read(nodes[part[0] - 1]),) if len(part) == 1 else tuple(part)

    return _numbered(read(_root(values)))


def _root(values: Values) -> Mapping[str, Any]:
    """Return the I-node that is the root, or that a descriptor there stands for."""
    nodes = values["mem"]["node"]
    root: Mapping[str, Any] = nodes[values["mem"]["root"] - 1]
    if root["t"] != "D":
        return root
    found: Mapping[str, Any] = nodes[(root["nv"] if root["status"] == "COMMIT" else root["ov"]) - 1]
    return found


def _numbered(tree: INode) -> INode:
    """Return a tree with generations 1, 2, ..."""
    order = {g: number for number, g in enumerate(sorted({node.gen for _, node in _nodes(tree)}), 1)}

    def renamed(node: INode) -> INode:
        parts = tuple((renamed(part[0]),) if len(part) == 1 else part for part in node.parts)
        return INode(order[node.gen], node.kind, parts)

    return renamed(tree)


def _nodes(tree: INode, place: str = "") -> Iterator[tuple[str, INode]]:
    """Yield the I-nodes of a tree with their places, from the root down."""
    yield place, tree
    for digit, part in enumerate(tree.parts):
        if len(part) == 1:
            yield from _nodes(part[0], f"{place}{digit}")


def found(s: State, instance: Instance) -> INode:
    """Return the tree in a state of the system."""

    def read(i: int) -> INode:
        m = s.cell(i)
        if s.kind(m) == "C":
            return INode(s.gen(i), "C", tuple(slot(m, b) for b in instance.domains["B"]))
        return INode(
            s.gen(i), s.kind(m), tuple(sorted((k, s.value(m, k)) for k in instance.domains["K"] if s.value(m, k)))
        )

    def slot(m: int, b: str) -> tuple[Any, ...]:
        what = s.what(m, b)
        return (read(s.kid(m, b)),) if what == "link" else (s.key(m, b), s.val(m, b)) if what == "leaf" else ()

    return _numbered(read(s.tree(s.now, "")))


def alone(system: System, before: INode, after: INode, calls: frozenset[Call], hashes: Mapping[str, str]) -> Instance:
    """Return one thread in the tree before, that may do these calls and install what the tree afterwards has."""
    old = {(place, node.gen): node for place, node in _nodes(before)}
    swaps = any(op in SWAPS for op, _, _ in calls)
    behind = before.gen + swaps - after.gen  # an older generation may have left the tree with this step
    new = {(place, node.gen + behind): node for place, node in _nodes(after)}
    names = {key: i for i, key in enumerate(dict.fromkeys([*old, *new]), 1)}

    def contents(place: str, node: INode, by: int) -> Main:
        if node.kind == "L":
            return dict(node.parts)
        if node.kind == "T":
            ((k, v),) = node.parts
            return (k, v)

        def slot(digit: int, part: tuple[Any, ...]) -> Slot:
            return (names[f"{place}{digit}", part[0].gen + by],) if len(part) == 1 else part

        return (slot(0, node.parts[0]), slot(1, node.parts[1]))

    mains = [contents(place, node, 0) for (place, _), node in old.items()]
    cells = {names[key]: m for m, key in enumerate(old, 1)}
    mains += [contents(place, node, behind) for (place, _), node in new.items()]
    held = {part for node in old.values() for part in node.parts if len(part) == 2}
    for place in (place for place, gen in new if (place, gen) not in old):
        mains += [_single(k, v, hashes[k][len(place) : len(place) + 1]) for k, v in held]
    cleaners = [(THREAD, i) for i in cells]
    return instance(system, hashes, {THREAD: sorted(calls)}, list(names), cells, mains, cleaners)


def _single(k: str, v: int, digit: str) -> Main:
    """Return a main node with one key: an L-node where the hash has ended."""
    if not digit:
        return {k: v}
    return ((k, v), NONE) if digit == "0" else (NONE, (k, v))


def steps_to(instance: Instance, after: INode) -> str:
    """Return the step by which a thread that is alone leaves a tree, "" if none does."""
    points = {name: instance.points(sorts) for name, (sorts, _) in instance.system.fields.items()}
    moving = [name for name in instance.system.fields if name not in instance.system.rigid]

    def key(s: State) -> Hashable:
        return tuple(
            tuple(getattr(s, name)(*point) for point in points[name]) if points[name] != [()] else getattr(s, name)
            for name in moving
        )

    queue = [instance.state(next(instance.system.starts(instance.domains)))]
    seen = {key(queue[0])}
    for s in queue:
        for taken in instance.steps(s):
            post = taken.case.post
            if taken.case.label != "lost" and found(post, instance) == after:
                return taken.step
            if (name := key(post)) not in seen and len(seen) < MOST:
                seen.add(name)
                queue.append(post)
    return ""


def project(hashes: Mapping[str, str], model: str, system: System, graph: StateGraph) -> Tie:
    """Compare the edges of TLC that change the tree with what a thread of the system does alone."""
    values = [graph.state(number) for number in range(len(graph))]
    trees = [tree_of(each) for each in values]
    known: dict[tuple[INode, INode, frozenset[Call], frozenset[Call]], str] = {}
    taken, no_step, broken = Counter[str](), Counter[str](), Counter[str]()
    edges = 0
    for number, before in enumerate(trees):
        calls = frozenset(_calls(values[number], UPDATES))
        swaps = frozenset(_calls(values[number], SWAPS))
        for edge in graph.steps_from(number):
            after = trees[edge.target]
            if before == after:
                continue
            edges += 1
            key = (before, after, calls, swaps)
            if key not in known:
                tries = (
                    steps_to(alone(system, before, after, some, hashes), after)
                    for some in dict.fromkeys((calls, swaps))
                )
                known[key] = next(filter(None, tries), "")
            if known[key]:
                taken[known[key]] += 1
            else:
                no_step[edge.action + (", late" if _late(values[number]) else "")] += 1
    for tree in dict.fromkeys(tree for tree in trees if tree.gen == 1):
        small = alone(system, tree, tree, frozenset(), hashes)
        if name := small.broken(small.state(next(system.starts(small.domains)))):
            broken[name] += 1
    return Tie(model, len(graph), edges, taken.total(), taken, no_step, Counter(), broken)


def _calls(values: Values, among: tuple[str, ...]) -> Iterator[Call]:
    """Yield those operations of some that are at work."""
    for own in values["L"].values():
        op = own["op"]
        if op["op"] in among:
            yield op["op"], op["key"] or "a", op["val"] or 1


def _late(values: Values) -> bool:
    """Return whether a thread is about to commit in an I-node of an older generation than that of the root."""
    nodes = values["mem"]["node"]
    now = _root(values)["gen"]
    committing = (own["gi"] for own in values["L"].values() if own["pc"] == "CompleteCommit")
    return any(nodes[i - 1]["gen"] < now for i in committing)


HASHES: Final = {"a": "000", "b": "001", "c": "010"}
"""``HashDeep`` of Scenarios.tla."""
TRIE: Final = Projection("contract_and_refill", partial(project, HASHES, "contract_and_refill"))
