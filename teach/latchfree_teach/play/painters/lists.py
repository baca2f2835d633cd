"""Linked lists of nodes of two words, a value and a link: Treiber's stack, Michael and Scott's queue."""

from __future__ import annotations

from collections.abc import Mapping

from latchfree_explore.board import layout as b
from latchfree_teach.play.painters.picture import Arrow, Box, Pending, Picture, Words

_OFFSET = (1 << 32) - 1


class ListPainter:
    """Draws heads, and the nodes that were ever reached from them or are held by a thread.

    Parameters
    ----------
    heads : mapping of str to int
        The words that lead into the list, by name; their upper halves count versions.
    nodes : int
        The first word of the nodes.
    """

    def __init__(self, heads: Mapping[str, int], nodes: int) -> None:
        self._heads, self._nodes = heads, nodes

    def paint(self, memory: Words, pending: Pending) -> Picture:
        """Return heads in one row and nodes in the next; nodes out of the list are grey."""
        picture = Picture()
        chain: list[int] = []
        for name, at in self._heads.items():
            word = int(memory[at])
            version = f"version {word >> 32}" if word >> 32 else ""
            picture.boxes.append(Box(name, (), 0, name, version, "root"))
            picture.homes[at] = name
            node = word & _OFFSET
            if node:
                picture.arrows.append(Arrow(name, f"n{node}", "next"))
            while node and node not in chain:
                chain.append(node)
                node = int(memory[node + 1]) & _OFFSET
        held = set()
        for thread, access in sorted(pending.items()):
            if access.at >= self._nodes:
                held.add(access.at - access.at % 2)
            if access.kind == b.CAS and access.at in self._heads.values():
                held.update(word & _OFFSET for word in (access.a, access.operand))
                if access.operand & _OFFSET >= self._nodes:
                    source = picture.homes[access.at]
                    picture.arrows.append(Arrow(source, f"n{access.operand & _OFFSET}", f"swing t{thread}"))
        held = {node for node in held if node >= self._nodes}
        for node in [*chain, *sorted(held - set(chain))]:
            live = node in chain
            picture.boxes.append(
                Box(f"n{node}", (), 1, f"node {node}", f"value {int(memory[node])}", "live" if live else "old")
            )
            picture.homes[node] = picture.homes[node + 1] = f"n{node}"
            after = int(memory[node + 1]) & _OFFSET
            if after in chain or after in held:
                picture.arrows.append(Arrow(f"n{node}", f"n{after}", "next" if live else "old"))
        return picture
