"""Say where every word of an arena is: exactly while nothing runs; else as well as can be seen, and marked as such.

Example: of 10,000 words given to participants 8,000 are in nodes, 500 in limbo, 408 in spare blocks, 1,000 on free
lists and 92 in unused ends of chunks.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.border import ARENA
from latchfree.arena.kernels.counting import DEFERRED_THINGS, FREE, LIMBO, SPARE, TAILS, TORN, TOTALS
from latchfree.arena.layout import FIRST_NODE

#: Counts, of which two in a row must be the same.
_COUNTS: Final = 4


class Census(NamedTuple):
    """Words of an arena by use.

    Attributes
    ----------
    given : int
        Words taken from the arena so far; the sum of all others.
    nodes : int
        In nodes that something links to, and in nodes that a crash has leaked.
    limbo : int
        In retired nodes that wait until nobody can hold them, and in the blocks that list these nodes.
    spare : int
        In empty blocks kept at hand.
    free : int
        On free lists.
    tails : int
        In unused ends of chunks.
    deferred : int
        Retired things not counted yet, which their structures free: their words are among `nodes`.
    exact : bool
        Whether the arena stood still meanwhile. If not, or if a list is damaged, the other numbers are estimates:
        lists that changed underway were read as far as they could be.
    """

    given: int
    nodes: int
    limbo: int
    spare: int
    free: int
    tails: int
    deferred: int
    exact: bool


def census(words: NDArray[np.uint64]) -> Census:
    """Return the words of an arena by use; safe at any time, whoever is working in the arena."""
    before, found = None, _count(words)
    for _ in range(_COUNTS - 1):
        before, found = found, _count(words)
        if found == before:
            break
    given, totals = found
    limbo, spare, free, tails = (totals[use] for use in (LIMBO, SPARE, FREE, TAILS))
    nodes = given - limbo - spare - free - tails
    exact = found == before and not totals[TORN]
    return Census(given, nodes, limbo, spare, free, tails, totals[DEFERRED_THINGS], exact)


def _count(words: NDArray[np.uint64]) -> tuple[int, list[Any]]:
    totals = np.zeros(TOTALS, np.uint64)
    top = ARENA.count(words.ctypes.data, len(words), totals)
    return top - FIRST_NODE, totals.tolist()
