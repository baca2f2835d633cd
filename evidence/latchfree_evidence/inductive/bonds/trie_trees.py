"""The trees of settled main nodes: as a state of TLC has them, and as a state of the system has them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import State
from latchfree_evidence.inductive.systems.trie.finite import NONE, Main
from latchfree_evidence.inductive.tie import Values

THREAD: Final = "p"
Call = tuple[str, str, int]
"""An operation with its key and value."""


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


def tree_of(values: Values, counted: frozenset[int] = frozenset()) -> INode:
    """Return the tree in a state of TLC; of the main nodes that are pending those count that are named."""
    nodes = values["mem"]["node"]

    def read(node: Mapping[str, Any]) -> INode:
        main = nodes[node["main"] - 1]
        if main["prev"] != 0 and node["main"] not in counted:
            main = nodes[abs(main["prev"]) - 1]
        if main["t"] == "C":
            return INode(node["gen"], "C", tuple(slot(each) for each in main["slot"]))
        held = [main["snode"]] if main["t"] == "T" else main["entries"]
        return INode(node["gen"], main["t"], tuple(sorted((str(k), int(v)) for k, v in held)))

    def slot(part: tuple[Any, ...]) -> tuple[Any, ...]:
        return (read(nodes[part[0] - 1]),) if len(part) == 1 else tuple(part)

    return _numbered(read(root_of(values)))


def root_of(values: Values) -> Mapping[str, Any]:
    """Return the I-node that is the root, or that a descriptor there stands for."""
    nodes = values["mem"]["node"]
    root: Mapping[str, Any] = nodes[values["mem"]["root"] - 1]
    if root["t"] != "D":
        return root
    found: Mapping[str, Any] = nodes[(root["nv"] if root["status"] == "COMMIT" else root["ov"]) - 1]
    return found


def _numbered(tree: INode) -> INode:
    """Return a tree with generations 1, 2, ..."""
    order = {g: number for number, g in enumerate(sorted({node.gen for _, node in nodes_of(tree)}), 1)}

    def renamed(node: INode) -> INode:
        parts = tuple((renamed(part[0]),) if len(part) == 1 else part for part in node.parts)
        return INode(order[node.gen], node.kind, parts)

    return renamed(tree)


def nodes_of(tree: INode, place: str = "") -> Iterator[tuple[str, INode]]:
    """Yield the I-nodes of a tree with their places, from the root down."""
    yield place, tree
    for digit, part in enumerate(tree.parts):
        if len(part) == 1:
            yield from nodes_of(part[0], f"{place}{digit}")


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


def single(k: str, v: int, digit: str) -> Main:
    """Return a main node with one key: an L-node where the hash has ended."""
    if not digit:
        return {k: v}
    return ((k, v), NONE) if digit == "0" else (NONE, (k, v))


def key_of(instance: Instance, s: State) -> Hashable:
    """Return what tells a state of an instance from others."""
    return tuple(
        tuple(getattr(s, name)(*point) for point in instance.points(sorts)) if sorts else getattr(s, name)
        for name, (sorts, _) in instance.system.fields.items()
        if name not in instance.system.rigid
    )
