"""Count the words of an arena by use, see `latchfree.arena.census`."""

import numpy as np

from latchfree.arena.kernels.blocks import COUNT, DEFERRED, ENTRIES, LINK, words_of
from latchfree.arena.kernels.freelists import CLASSES, class_size, round_up
from latchfree.arena.kernels.node import size_of
from latchfree.arena.layout import (
    H_BUMP,
    H_CLAIMED,
    P_BUMP,
    P_DEFERRED,
    P_FREE,
    P_LIMIT,
    P_OLDEST,
    P_SPARES,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
    SHARED_LISTS,
)
from latchfree.atomics import load, peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_OFFSET = np.uint64((1 << 40) - 1)

_FREE, _TAILS, _LIMBO, _SPARE, _DEFERRED = range(5)


@kernel
def _list_length(mem: Handle, node: Word) -> Word:
    length = _0
    while node != _0:
        length += _1
        node = peek(mem, node & _OFFSET)
    return length


@kernel
def _count_shared(mem: Handle, totals: Array) -> None:
    for kind in range(CLASSES):
        batch = load(mem, SHARED_LISTS + np.uint64(kind)) & _OFFSET
        while batch != _0:
            totals[_FREE] += _list_length(mem, batch) * class_size(np.uint64(kind))
            batch = peek(mem, batch + _1) & _OFFSET


@kernel
def _count_limbo(mem: Handle, block: Word, totals: Array) -> None:
    while block != _0:
        totals[_LIMBO] += round_up(size_of(mem, block))
        for k in range(peek(mem, block + COUNT)):
            entry = peek(mem, block + ENTRIES + np.uint64(k))
            if entry & DEFERRED != _0:
                totals[_DEFERRED] += _1
            else:
                totals[_LIMBO] += round_up(words_of(entry))
        block = peek(mem, block + LINK)


@kernel
def count(mem: Handle, totals: Array) -> Word:
    """Add up the words of each use in `totals`; return the first word never given out."""
    _count_shared(mem, totals)
    for p in range(load(mem, H_CLAIMED)):
        me = _FIRST + np.uint64(p) * _STRIDE
        if peek(mem, me + P_BUMP) < peek(mem, me + P_LIMIT):
            totals[_TAILS] += peek(mem, me + P_LIMIT) - peek(mem, me + P_BUMP)
        for kind in range(CLASSES):
            head = peek(mem, me + P_FREE + np.uint64(kind))
            totals[_FREE] += _list_length(mem, head) * class_size(np.uint64(kind))
        _count_limbo(mem, peek(mem, me + P_OLDEST), totals)
        block = peek(mem, me + P_SPARES)
        while block != _0:
            totals[_SPARE] += size_of(mem, block)
            block = peek(mem, block + LINK)
        totals[_DEFERRED] += _list_length(mem, peek(mem, me + P_DEFERRED))
    return load(mem, H_BUMP)
