"""The growing union of intervals of small integers, and the first number from a place on that none of them covers.

A bit for each number says whether it is covered. ``jump`` is a disjoint-set forest over words of 64 bits: a word that
is full points to the next, halved on the way. An interval touches its two outer words and the open ones between, which
it fills, so all intervals together take hardly more than linear time, in a table that stays in the cache.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from latchfree.atomics import trailing_zeros
from latchfree.jit import kernel
from latchfree_lincheck.history.timeline import Ints, int64

Words = npt.NDArray[np.uint64]

_ALL: Final = np.uint64(0xFFFFFFFFFFFFFFFF)
_NONE: Final = np.uint64(0)


@kernel
def clear(words: Words, jump: Ints, count: int) -> None:
    """Cover none of 0 .. count."""
    for word in range((count >> 6) + 2):
        words[word] = _NONE
        jump[word] = word


@kernel
def _open(jump: Ints, word: int) -> int:
    """Return the first word from there on that is not full."""
    while jump[word] != word:
        jump[word] = jump[jump[word]]
        word = jump[word]
    return word


@kernel
def next_uncovered(words: Words, jump: Ints, number: int) -> int:
    """Return the first number from there on that no interval covers; there must be one."""
    word = number >> 6
    left = ~words[word] & (_ALL << np.uint64(number & 63))
    if left == _NONE:
        word = _open(jump, word + 1)
        left = ~words[word]
    return int((word << 6) + int64(trailing_zeros(left)))


@kernel
def cover(words: Words, jump: Ints, begin: int, end: int) -> None:
    """Cover begin .. end-1."""
    if begin >= end:
        return
    word, last = begin >> 6, (end - 1) >> 6
    mask = _ALL << np.uint64(begin & 63)
    while word < last:
        words[word] |= mask
        if words[word] == _ALL:
            jump[word] = word + 1
        mask = _ALL
        word = _open(jump, word + 1)
    if word == last:
        words[word] |= mask & (_ALL >> np.uint64(63 - ((end - 1) & 63)))
        if words[word] == _ALL:
            jump[word] = word + 1
