"""Finite tries: the main nodes of an instance by their contents, and the memory in which I-nodes have some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.trie.protocol import Trie

SLOTS: Final = ("0", "1")
AWAKE: Final = {
    "Invoke": ("idle",),
    "StartCopy": ("idle",),
    "CopyChild": ("CopyChild", "Compressed"),
    "Commit": ("Commit", "Copied", "Compressed"),
    "BuildSlot": ("Commit",),
    "Contracted": ("Commit",),
}

Slot = tuple[str | int, ...]
"""What a slot holds: nothing, a key with a value, or an I-node."""
Main = tuple[Slot, Slot] | tuple[str, int] | Mapping[str, int]
"""A C-node, a tomb, or an L-node."""
NONE: Final[Slot] = ()


def awake(s: State, name: str, point: tuple[Any, ...]) -> bool:
    """Return whether a thread is where it may take an action."""
    return s.pc(point[0]) in AWAKE.get(name, (name,))


def keys_in(main: Main) -> set[str]:
    """Return the keys that a main node holds."""
    if isinstance(main, Mapping):
        return set(main)
    parts = (main,) if isinstance(main[0], str) else main
    return {part[0] for part in parts if isinstance(part, tuple) and part and isinstance(part[0], str)}


class Contents:
    """The main nodes of an instance, as the rigid fields say.

    Parameters
    ----------
    mains : sequence
        Main nodes 1, 2, ...
    keys : str
        The keys.
    """

    def __init__(self, mains: Sequence[Main], keys: str) -> None:
        self._mains: dict[int, Main] = {0: (NONE, NONE), **dict(enumerate(mains, 1))}
        self._first = keys[0]

    def kind(self, m: int) -> str:
        """Return the kind of a main node."""
        main = self._mains[m]
        if isinstance(main, Mapping):
            return "L"
        return "T" if isinstance(main[0], str) else "C"

    def slot(self, m: int, b: str) -> Slot:
        """Return what a slot holds; nothing if the main node has none."""
        main = self._mains[m]
        return main[SLOTS.index(b)] if self.kind(m) == "C" else NONE  # type: ignore[index, return-value]

    def what(self, m: int, b: str) -> str:
        """Return what kind of thing a slot holds."""
        return ("empty", "link", "leaf")[len(self.slot(m, b))]

    def key(self, m: int, b: str) -> str:
        """Return the key in a slot."""
        return str(self.slot(m, b)[0]) if self.what(m, b) == "leaf" else self._first

    def val(self, m: int, b: str) -> int:
        """Return the value in a slot."""
        return int(self.slot(m, b)[1]) if self.what(m, b) == "leaf" else 0

    def kid(self, m: int, b: str) -> int:
        """Return the I-node in a slot."""
        return int(self.slot(m, b)[0]) if self.what(m, b) == "link" else 0

    def children(self, m: int) -> set[int]:
        """Return the I-nodes in the slots."""
        return {self.kid(m, b) for b in SLOTS if self.what(m, b) == "link"}

    def value(self, m: int, k: str) -> int:
        """Return the value of a key in a main node without slots."""
        main = self._mains[m]
        if isinstance(main, Mapping):
            return main.get(k, 0)
        return main[1] if self.kind(m) == "T" and main[0] == k else 0

    def tomb(self, m: int) -> str:
        """Return the key of a tomb."""
        return str(self._mains[m][0]) if self.kind(m) == "T" else self._first  # type: ignore[index]


def instance(
    system: System,
    hashes: Mapping[str, str],
    roles: Mapping[str, Sequence[tuple[str, str, int]]],
    nodes: Sequence[tuple[str, int]],
    cells: Mapping[int, int],
    mains: Sequence[Main],
    cleaners: Sequence[tuple[str, int]] = (),
) -> Instance:
    """Return an instance of the trie.

    Parameters
    ----------
    system : Trie
        The system; its memory at the start is set.
    hashes : mapping
        The digits of each key, 0 or 1.
    roles : mapping
        The calls that each thread may begin: operation, key and value.
    nodes : sequence
        The place and the generation of I-nodes 1, 2, ...
    cells : mapping
        The main nodes of those I-nodes that there are at the start.
    mains : sequence
        Main nodes 1, 2, ...
    cleaners : sequence
        Which thread may look for tombs below which I-node.
    """
    assert isinstance(system, Trie)
    keys = "".join(hashes)
    contents = Contents(mains, keys)
    places = sorted({place for place, _ in nodes})
    i_nodes = dict(enumerate(nodes, 1))
    system.begun = _memory(contents, i_nodes, cells, hashes)
    values = (v for calls in roles.values() for _, _, v in calls)
    numbers = range(1, max([*(gen for _, gen in nodes), *values]) + 1)
    return Instance(
        system,
        {
            "T": tuple(roles),
            "I": tuple(i_nodes),
            "M": tuple(range(1, len(mains) + 1)),
            "K": tuple(keys),
            "B": SLOTS,
            "P": tuple(places),
            "Int": numbers,
        },
        constants={"top": ""},
        rigid={
            "up": lambda q: q[:-1],
            "last": lambda q: q[-1:] or "0",
            "level": len,
            "slot": lambda q, k: hashes[k][len(q) : len(q) + 1] or "0",
            "covers": lambda q, k: hashes[k].startswith(q),
            "place": lambda i: i_nodes[i][0] if i else "none",
            "gen": lambda i: i_nodes[i][1] if i else 0,
            **{name: getattr(contents, name) for name in ("kind", "what", "key", "val", "kid", "value", "tomb")},
        },
        only={
            "Invoke": lambda p, op, k, v: (op, k, v) in roles[p],
            "StartCopy": lambda *call: call in cleaners,
            "BuildSlot": lambda _, n, x, c: n != x and c in contents.children(n),
            "Copied": lambda _, n, c: c in contents.children(n),
            "Decide": lambda _, c, n: not contents.children(n) and i_nodes[c][0] == "",
        },
        awake=awake,
    )


def _memory(
    contents: Contents, nodes: Mapping[int, tuple[str, int]], cells: Mapping[int, int], hashes: Mapping[str, str]
) -> dict[str, Any]:
    """Return the memory in which these I-nodes have these main nodes; the newest root is that of the trie."""
    now = max(nodes[i][1] for i in cells)
    there: dict[tuple[int, str], bool] = {}
    tree: dict[tuple[int, str], int] = {}
    ends: dict[tuple[int, str], str] = {}
    own: dict[tuple[int, str], int] = {}
    held: dict[tuple[int, str], int] = {}
    for g in range(1, now + 1):
        roots = [i for i in cells if nodes[i] == ("", g)]  # the tree of an older generation may be left out
        for k in hashes if roots else ():
            i, levels = roots[0], 0
            while True:
                q, m = nodes[i][0], cells[i]
                there[g, q], tree[g, q] = True, i
                levels += nodes[i][1] == g
                b = hashes[k][len(q) : len(q) + 1]
                if not contents.kid(m, b):
                    break
                i = contents.kid(m, b)
            ends[g, k], own[g, k] = q, levels
            found = contents.val(m, b) if contents.key(m, b) == k else 0
            held[g, k] = found if contents.kind(m) == "C" else contents.value(m, k)
    return {
        "now": now,
        "cell": {(i,): cells.get(i, 1) for i in nodes},
        "used": {(i,): True for i in cells},
        "born": {(m,): True for m in cells.values()},
        "there": there,
        "tree": {(g, q): tree.get((g, q), 1) for g in range(1, now + 2) for q, _ in nodes.values()},
        "home": {(g, k): ends.get((g, k), "") for g in range(1, now + 2) for k in hashes},
        "own": own,
        "map": held,
    }
