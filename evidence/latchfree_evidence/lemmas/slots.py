"""Copies of a C-node: they hold the right slots.

A proof takes in turn every pair of a number of slots and a place of the flag; the bitmap and the words in the slots are
unknown. (The lemmas of `bitmaps` prove that popcount and `position` give such numbers.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from latchfree.arena.kernels import node as arena_node
from latchfree.ctrie.kernels import mains, shape
from latchfree_evidence.lemmas.symbolic_memory import SymbolicMemory
from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.lemma import Case, Lemma
from latchfree_evidence.symbolic.words import Truth, Word, term_of

OLD, _NEW = 1000, 2000
_SLOTS = int(shape.SLOTS)


class CopiedNode:
    """A C-node of `n` slots in a memory, and the place of its copy."""

    def __init__(self, case: Case, n: int) -> None:
        self.mem = SymbolicMemory()
        self.bitmap, self.flag, self.gen = case.word("bitmap"), case.word("flag"), case.word("gen", below=1 << 40)
        self.slots = [case.word(f"slot{k}") for k in range(n)]
        self.slot = case.word("slot")
        self.mem.write(OLD + int(shape.BITMAP), self.bitmap)
        for k, slot in enumerate(self.slots):
            self.mem.write(OLD + _SLOTS + k, slot)
        self.before = dict(self.mem.words)

    def holds(self, case: Case, bitmap: Any, slots: list[Word]) -> None:
        """Claim what the copy is, and that the old node is as it was."""
        read = self.mem.read
        size = (read(_NEW) >> arena_node.SIZE_SHIFT) & arena_node.SIZE_MASK
        case.claim("the copy has room for its slots", size == _SLOTS + len(slots))
        case.claim("the copy has its generation", read(_NEW) & arena_node.BIRTH_MASK == self.gen)
        case.claim("the copy has the bitmap", read(_NEW + int(shape.BITMAP)) == bitmap)
        for k, slot in enumerate(slots):
            case.claim(f"slot {k} of the copy", read(_NEW + _SLOTS + k) == slot)
        case.claim("nothing else is written", len(self.mem.words) == len(self.before) + len(slots) + 3)
        for at, word in self.before.items():
            case.claim("the old node is as it was", read(at) == word)


def _sizes(at_most: int, *, past_the_end: bool) -> Callable[[], Iterator[Mapping[str, int]]]:
    return lambda: ({"n": n, "at": at} for n in range(at_most + 1) for at in range(n + past_the_end))


def _with(code: Code, n: int, at: int) -> Code:
    return code.abstracting(
        popcount=lambda word: Word(n),
        position=lambda bitmap, flag: Word(at),
        allocate=lambda mem, me, words: Word(_NEW),
    )


def _inserted(case: Case, code: Code, n: int, at: int) -> None:
    node = CopiedNode(case, n)
    _with(code, n, at)[mains.inserted](node.mem, 0, Word(OLD), node.flag, node.slot, node.gen)
    node.holds(case, node.bitmap | node.flag, [*node.slots[:at], node.slot, *node.slots[at:]])


def _updated(case: Case, code: Code, n: int, at: int) -> None:
    node = CopiedNode(case, n)
    _with(code, n, at)[mains.updated](node.mem, 0, Word(OLD), node.flag, node.slot, node.gen)
    node.holds(case, node.bitmap, [*node.slots[:at], node.slot, *node.slots[at + 1 :]])


def _removed(case: Case, code: Code, n: int, at: int) -> None:
    node = CopiedNode(case, n)
    level = case.word("level", below=61)
    _with(code, n, at)[mains.removed_contracted](node.mem, 0, Word(OLD), node.flag, level, node.gen)
    words = node.mem.words
    rest = [*node.slots[:at], *node.slots[at + 1 :]]
    lone = (level > 0) & (rest[0] & shape.CHILD == 0) if n == 2 else False
    if bool(words[_NEW] >> arena_node.KIND_SHIFT == shape.T_NODE):
        case.claim("only a lone entry below the root is entombed", lone)
        case.claim("the tomb holds the entry that is left", words[_NEW + int(shape.TOMBED)] == rest[0])
        case.claim("nothing else is written", len(words) == len(node.before) + 3)
        return
    case.claim("a lone entry below the root is entombed", ~Truth(term_of(lone)))
    node.holds(case, node.bitmap ^ node.flag, rest)


def _renewed(case: Case, code: Code, n: int, at: int) -> None:
    """Slot `at` holds an I-node; the others hold entries or I-nodes of any generation."""
    node = CopiedNode(case, n)
    child, main = case.word("child", below=1 << 40), case.word("main")
    node.slots[at] = child | shape.CHILD
    node.mem.write(OLD + _SLOTS + at, node.slots[at])
    node.before = dict(node.mem.words)

    def read(mem: SymbolicMemory, trie: Any, i: Word) -> Word:
        case.claim("the main of the child is read", i == child)
        return main

    def new_inode(mem: SymbolicMemory, me: Any, held: Word, gen: Word) -> Word:
        case.claim("the copy holds the main that was read", held == main)
        case.claim("it is of the new generation", gen == node.gen)
        return Word(4000)

    whole = _with(code, n, at).abstracting(gcas_read=read, new_inode=new_inode)
    whole[mains.renewed](node.mem, 0, 0, Word(OLD), node.flag, node.gen)
    node.holds(case, node.bitmap, [*node.slots[:at], Word(4000) | shape.CHILD, *node.slots[at + 1 :]])


LEMMAS = (
    Lemma(
        "insert-keeps-slots",
        "inserting a slot leaves all others, in order",
        _inserted,
        Twin(mains.inserted, "SLOTS + at + ONE, c", "SLOTS + at, c", "slots above do not move up"),
        _sizes(63, past_the_end=True),
    ),
    Lemma(
        "update-keeps-slots",
        "updating a slot leaves all others",
        _updated,
        Twin(mains.updated, "SLOTS + position(bitmap, flag)", "SLOTS", "the first slot is updated, whichever is meant"),
        _sizes(64, past_the_end=False),
    ),
    Lemma(
        "remove-keeps-slots",
        "removing a slot leaves all others, and a lone entry below the root is entombed",
        _removed,
        Twin(mains.removed_contracted, "ONE - at", "at", "the entry that was removed is entombed"),
        _sizes(64, past_the_end=False),
    ),
    Lemma(
        "renew-keeps-slots",
        "renewing copies the I-node in one slot, with its main, and leaves everything else, children too",
        _renewed,
        Twin(mains.renewed, " | CHILD, gen)", ", gen)", "the copy is taken for an entry"),
        lambda: ({"n": n, "at": at} for n in (1, 2, 63, 64) for at in {0, n // 2, n - 1}),
    ),
)
