"""A Ctrie, or a topic trie: I-nodes and their mains, level by level.

What makes a step legible: the node that a compare-and-swap is about to install, dashed and in the thread's colour, with
an arrow from the I-node it will hit; an I-node that a thread holds although the root no longer leads there, grey; and
chains of I-nodes with one child folded into one box ("+10").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from latchfree.arena.kernels import node as header
from latchfree.ctrie.kernels import gcas
from latchfree.ctrie.kernels import shape as s
from latchfree_explore.board import layout as b
from latchfree_teach.play.painters.picture import Arrow, Box, Pending, Picture, Words

_LETTERS: Final = {int(s.C_NODE): "C", int(s.T_NODE): "T", int(s.L_NODE): "L"}
_STATUS: Final = {int(gcas.UNDECIDED): "undecided", int(gcas.COMMIT): "committed"}
_CHILD, _BRANCH, _PLAIN = int(s.CHILD), int(s.BRANCH), int(s.PLAIN)
_MAIN, _PREV, _BITMAP, _SLOTS = int(s.MAIN), int(s.PREV), int(s.BITMAP), int(s.SLOTS)
_MOST_FOLDED: Final = 12


class TriePainter:
    """Draws one trie, in all states of a page.

    Parameters
    ----------
    trie : int
        Its offset.
    entry : callable
        ``entry(memory, snode)`` returns what an S-node holds, as text.
    digit : callable
        ``digit(word)`` returns the word of a branch, as text.
    """

    def __init__(self, trie: int, entry: Callable[[Words, int], str], digit: Callable[[int], str] = str) -> None:
        self.trie, self.entry, self.digit = trie, entry, digit
        self._names: dict[int, str] = {}
        self._counts: dict[str, int] = {}
        self.known: dict[int, tuple[int, ...]] = {}  # I-node -> where it was seen in the tree

    def paint(self, memory: Words, pending: Pending) -> Picture:
        """Return the tree from the root, then what threads hold or are about to install."""
        return _Drawing(self, memory).draw(pending)

    def name(self, letter: str, at: int) -> str:
        """Return a name for a node, the same in all states."""
        if at not in self._names:
            self._counts[letter] = self._counts.get(letter, 0) + 1
            self._names[at] = f"{letter}{self._counts[letter]}"
        return self._names[at]


class _Drawing:
    """One state being drawn."""

    def __init__(self, painter: TriePainter, memory: Words) -> None:
        self.p, self.memory = painter, memory
        self.picture = Picture()
        self.seen: dict[int, str] = {}
        self.place: dict[str, tuple[int, ...]] = {}

    def at(self, offset: int) -> int:
        return int(self.memory[offset])

    def kind(self, offset: int) -> int:
        return self.at(offset) >> int(header.KIND_SHIFT)

    def draw(self, pending: Pending) -> Picture:
        trie = self.p.trie
        word = trie + int(s.ROOT_WORD)
        self.picture.boxes.append(Box("root", (), 0, "root", "", "root"))
        self.picture.homes[word] = "root"
        self.arrow("root", self.node(self.at(word), (), "live"), "live")
        for offset, box in list(self.seen.items()):
            if box.startswith("I"):
                self.p.known.setdefault(offset, self.place[box])
        for _, access in sorted(pending.items()):
            held = access.at - _MAIN
            if held in self.p.known and held not in self.seen and self.kind(held) == int(s.I_NODE):
                self.node(held, self.p.known[held], "old")
        for thread, access in sorted(pending.items()):
            self.install(thread, access.kind, access.at, access.operand, word)
        return self.picture

    def install(self, thread: int, kind: int, at: int, operand: int, root_word: int) -> None:
        """Draw what a compare-and-swap is about to put in the place of a root or a main."""
        if kind != b.CAS:
            return
        new = operand & _PLAIN
        if at == root_word and self.is_node(new):
            self.arrow("root", self.node(operand, (), f"ghost t{thread}"), f"swing t{thread}")
        elif at - _MAIN in self.seen and self.seen[at - _MAIN].startswith("I") and self.is_node(new):
            box = self.seen[at - _MAIN]
            self.arrow(box, self.node(new, self.place[box], f"ghost t{thread}"), f"swing t{thread}")

    def is_node(self, offset: int) -> bool:
        kinds = (s.I_NODE, s.C_NODE, s.T_NODE, s.L_NODE, s.RDCSS)
        return 0 < offset < len(self.memory) and self.kind(offset) in map(int, kinds)

    def arrow(self, source: str, target: str, style: str) -> None:
        self.picture.arrows.append(Arrow(source, target, style))

    def box(self, name: str, path: tuple[int, ...], layer: int, title: str, text: str, style: str) -> str:
        self.picture.boxes.append(Box(name, path, 2 * len(path) + 1 + layer, title, text, style))
        self.place[name] = path
        return name

    def node(self, offset: int, path: tuple[int, ...], style: str) -> str:
        """Draw a node and what is below it; return the name of its box."""
        offset &= _PLAIN
        if offset in self.seen:
            return self.seen[offset]
        kind = self.kind(offset)
        if kind == int(s.I_NODE):
            return self.inode(offset, path, style)
        if kind == int(s.RDCSS):
            return self.descriptor(offset, path, style)
        return self.main(offset, path, style, _LETTERS.get(kind, "?"))

    def inode(self, offset: int, path: tuple[int, ...], style: str) -> str:
        me = self.p.name("I", offset)
        self.seen[offset] = me
        folded, main, last = 0, self.at(offset + _MAIN), offset
        while path and folded < _MOST_FOLDED and self.passes(main):
            last = self.at(main + _SLOTS) & _PLAIN
            folded += 1
            self.seen[last] = me
            main = self.at(last + _MAIN)
        gen = self.at(offset) & int(header.BIRTH_MASK)
        self.box(me, path, 0, me, f"generation {gen}" + (f" (+{folded})" if folded else ""), f"inode {style}")
        self.picture.homes[last + _MAIN] = self.picture.homes[offset + _MAIN] = me
        self.arrow(me, self.node(main, path, style), style)
        return me

    def passes(self, main: int) -> bool:
        """Return whether a main has one plain I-node, and nothing else."""
        slot = self.at(main + _SLOTS)
        return (
            self.kind(main) == int(s.C_NODE)
            and self.at(main + _PREV) == 0
            and self.at(main + _BITMAP).bit_count() == 1
            and slot & _CHILD != 0
            and slot & _BRANCH == 0
        )

    def descriptor(self, offset: int, path: tuple[int, ...], style: str) -> str:
        me = self.p.name("D", offset)
        self.seen[offset] = me
        status = _STATUS.get(self.at(offset + int(gcas.STATUS)), "aborted")
        self.box(me, path, -1, f"{me}: change of root", status, f"descriptor {style}")
        self.picture.homes[offset + int(gcas.STATUS)] = me
        self.arrow(me, self.node(self.at(offset + int(gcas.OLD)), path, style), "old")
        self.arrow(me, self.node(self.at(offset + int(gcas.NEW)), path, "ghost"), "ghost")
        return me

    def main(self, offset: int, path: tuple[int, ...], style: str, letter: str) -> str:
        me = self.p.name(letter, offset)
        self.seen[offset] = me
        text, below = self.content(offset, letter)
        prev = self.at(offset + _PREV) if letter != "?" else 0
        state = " failed" if prev >> 63 else " undecided" if prev else ""
        self.box(me, path, 1, me + (f":{state}" if state else ""), text or "empty", f"main {letter} {style}{state}")
        self.picture.homes[offset + _PREV] = me
        for k, slot in below:
            self.arrow(me, self.node(slot, (*path, k), style), style)
        if prev:
            self.arrow(me, self.node(prev, path, "old"), "prev")
        return me

    def content(self, offset: int, letter: str) -> tuple[str, list[tuple[int, int]]]:
        """Return the text of a main, and the children: their slots, with their numbers."""
        if letter == "T":
            held = self.at(offset + int(s.TOMBED))
            return "tomb of " + (self.entry(held) if held else "nothing"), []
        if letter == "L":
            count = self.at(offset + int(s.COUNT))
            return "  ".join(self.entry(self.at(offset + int(s.ENTRIES) + k)) for k in range(count)), []
        if letter != "C":
            return "", []
        bits = self.at(offset + _BITMAP)
        texts, below = [], []
        for k, number in enumerate(n for n in range(64) if bits >> n & 1):
            slot = self.at(offset + _SLOTS + k)
            texts.append(self.entry(slot))
            if slot & _CHILD:
                below.append((number, slot))
        return "  ".join(texts), below

    def entry(self, slot: int) -> str:
        """Return a slot as text."""
        if slot & _BRANCH:
            return self.p.digit(self.at((slot & _PLAIN) + int(s.DIGIT)))
        return "•" if slot & _CHILD else self.p.entry(self.memory, slot & _PLAIN)
