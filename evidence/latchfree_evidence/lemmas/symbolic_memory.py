"""Memory of the code under proof: words at known offsets, with unknown contents.

Only one thread runs, so an atomic access is a read or a write. To read a word that was never written is an error: the
code would depend on whatever the memory happened to hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree_evidence.symbolic.code import Code, Twin
from latchfree_evidence.symbolic.words import Undefined, Word, high_product, popcount, trailing_zeros, word_of


class SymbolicMemory:
    """A memory handle for symbolic words."""

    def __init__(self) -> None:
        self.words: dict[int, Word] = {}

    def read(self, at: Any) -> Word:
        """Return the word at an offset."""
        place = int(at)
        if place not in self.words:
            raise Undefined(f"word {place} is read before anything is written to it")
        return self.words[place]

    def write(self, at: Any, value: Any) -> None:
        """Write the word at an offset."""
        self.words[int(at)] = word_of(value)


def _cas(mem: SymbolicMemory, at: Any, old: Any, new: Any) -> bool:
    if not bool(mem.read(at) == old):
        return False
    mem.write(at, new)
    return True


def _exchange(mem: SymbolicMemory, at: Any, value: Any) -> Word:
    old = mem.read(at)
    mem.write(at, value)
    return old


def _nothing(*given: Any) -> None:
    pass


_MEANING: dict[str, Callable[..., Any]] = {
    "popcount": popcount,
    "trailing_zeros": trailing_zeros,
    "high_product": high_product,
    "load": SymbolicMemory.read,
    "load_seq": SymbolicMemory.read,
    "load_unsure": SymbolicMemory.read,
    "peek": SymbolicMemory.read,
    "store": SymbolicMemory.write,
    "poke": SymbolicMemory.write,
    "cas": _cas,
    "exchange": _exchange,
    "barrier": _nothing,
    "in_line": _nothing,
    "out_of_line": _nothing,
    "prefetch": _nothing,
    "prefetch_read": _nothing,
    "pause": _nothing,
}


def code(twin: Twin | None = None) -> Code:
    """Return the real code, with a wrong twin in place of one function."""
    return Code(_MEANING, twin)
