"""The arrays and columns that the calls of a topic trie take from Python, with words behind them that nobody may write.

Example: ``Column(["a", "b/c"])`` has the bytes ``ab/c``, which begin at the places 0, 1 and 4.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np

from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.trials.place import require

UNUSED: Final = 0xF5EE
_BEHIND: Final = 8


def words(count: int) -> View:
    """Return an array of words, none of which is zero."""
    return View(np.full(count, UNUSED, np.uint64))


def numbers_of(some: list[int]) -> View:
    """Return an array of signed words."""
    return View(np.array(some, np.int64))


class Fenced:
    """Arrays, each with words behind it that nobody may write."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, Any]] = []

    def words(self, count: int) -> View:
        """Return another array."""
        kept = np.full(count + _BEHIND, UNUSED, np.uint64)
        self._kept.append((count, kept))
        return View(kept[:count])

    def check(self) -> None:
        """Look at the words behind the arrays."""
        for count, kept in self._kept:
            require((kept[count:] == UNUSED).all(), "nothing is written behind an array", count)


class Column:
    """Texts as bulk calls take them."""

    def __init__(self, texts: list[str]) -> None:
        packed = [text.encode() for text in texts]
        self._kept = ctypes.create_string_buffer(b"".join(packed) + b"\xff")
        self.address = ctypes.addressof(self._kept)
        self.places = View(np.cumsum([0, *map(len, packed)]).astype(np.int64))
        self.longest = max(map(len, packed), default=0)
