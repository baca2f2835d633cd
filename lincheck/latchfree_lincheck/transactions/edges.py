"""The dependency graph of a history: what must come before what, and why.

Example: T1 appended 1 to x and T2 read x = [1]. The edge T1 -> T2 has the kind ``wr``, the key x and the value 1.

Nodes are numbers: first the transactions, by their place in the history, then *virtual* nodes. A virtual node stands
for many edges: n readers of a key's last version and m writers of later ones have n * m edges; with virtual nodes 2 *
(n + m). A path that enters a virtual node goes on by edges of kind `ON` until it comes to a transaction: all of it is
one edge, of the kind by which it entered.

Invariant: each path from a transaction to a transaction through virtual nodes is a dependency, none leads back to where
it came from, and each dependency is such a path or an edge.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

WW: Final = 0
"""T2 overwrote, or appended after, what T1 wrote."""
WR: Final = 1
"""T2 read what T1 wrote."""
RW: Final = 2
"""T2 overwrote, or appended after, what T1 read."""
PROCESS: Final = 3
"""One process ran T1, then T2."""
REALTIME: Final = 4
"""T1 returned before T2 was called."""
ON: Final = 5
"""The way goes on from or through a virtual node."""
KINDS: Final = ("ww", "wr", "rw", "process", "realtime")

_FEW: Final = 8


class Graph:
    """Edges as columns: a source, a target, a kind, a key, and the versions before and after.

    Parameters
    ----------
    transactions : int
        How many nodes are transactions.
    """

    def __init__(self, transactions: int) -> None:
        self.transactions = transactions
        self.nodes = transactions
        self.source = array("i")
        self.target = array("i")
        self.kind = bytearray()
        self.key: list[object] = []
        self.before: list[object] = []
        self.after: list[object] = []

    def add(
        self, kind: int, source: int, target: int, key: object = None, before: object = None, after: object = None
    ) -> None:
        """Add an edge, unless it leads back to where it comes from: nothing depends on itself."""
        if source != target:
            self.source.append(source)
            self.target.append(target)
            self.kind.append(kind)
            self.key.append(key)
            self.before.append(before)
            self.after.append(after)

    def node(self) -> int:
        """Return a new virtual node."""
        self.nodes += 1
        return self.nodes - 1

    def fan(
        self, kind: int, sources: Sequence[int], targets: Mapping[int, object], key: object, before: object
    ) -> None:
        """Add an edge from each source to each target but itself, in linear space.

        Parameters
        ----------
        kind : int
            The number of the kind of dependency in `KINDS`.
        sources : sequence of int
            The transactions from which the edges lead.
        targets : mapping of int to object
            What each target wrote.
        key, before : object
            The key, and the version that the sources share.
        """
        if min(len(sources), len(targets)) <= _FEW:
            for source in sources:
                for target, after in targets.items():
                    self.add(kind, source, target, key, before, after)
            return
        # From up[i] one reaches the targets up to i, from down[i] those from i on. A source that is the target i
        # enters up[i - 1] and down[i + 1], and does not reach itself.
        order = list(targets)
        up = [self.node() for _ in order]
        down = [self.node() for _ in order]
        for i, target in enumerate(order):
            self.add(ON, up[i], target, key, before, targets[target])
            self.add(ON, down[i], target, key, before, targets[target])
            if i:
                self.add(ON, up[i], up[i - 1])
                self.add(ON, down[i - 1], down[i])
        place = {target: i for i, target in enumerate(order)}
        for source in sources:
            at = place.get(source)
            if at is None:
                self.add(kind, source, down[0], key, before)
            else:
                if at > 0:
                    self.add(kind, source, up[at - 1], key, before)
                if at + 1 < len(order):
                    self.add(kind, source, down[at + 1], key, before)


@dataclass(frozen=True, slots=True)
class Edge:
    """A dependency between two transactions.

    Parameters
    ----------
    source, target : int
        The transactions, by their place in the history.
    kind : str
        One of `KINDS`.
    key : object
        The key of a ww, wr or rw edge.
    before, after : object
        The versions: the element or value that `source` wrote or read (None for the initial state), and the one that
        `target` wrote.
    """

    source: int
    target: int
    kind: str
    key: object = None
    before: object = None
    after: object = None
