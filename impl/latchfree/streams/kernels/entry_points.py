"""The entry points of a ring: what Python calls, one value at a time, while it holds the interpreter lock."""

from functools import cache
from typing import Any

import numpy as np
from numba import types

from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.jit import entry, entry_point
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.positions import CELL_SHIFT

_0 = np.uint64(0)
_1 = np.uint64(1)
_ALIGN = np.uint64(15)
_HEADER_WORDS = np.uint64(64)  # those of a ring, wherever in them the next 128 bytes begin


@entry
def create(mem: Handle, me: Word, mask: Word, weak: Word) -> Word:
    """Return the offset of a new, empty ring; 0 if the arena has no room."""
    header = take(mem, me, _HEADER_WORDS, _0)
    if header == _0:
        return _0
    cells = take(mem, me, round_up((mask + _1) << CELL_SHIFT), _0)
    if cells == _0:
        give(mem, me, header, _HEADER_WORDS)
        return _0
    ring = (header + _ALIGN) & ~_ALIGN
    r.format_ring(mem, ring, cells, mask, weak, _0)
    return ring


@entry
def put(mem: Handle, ring: Word, value: Word, patience: Word) -> Word:
    """Put a value, see `latchfree.streams.kernels.ring.try_put`."""
    return r.try_put(mem, ring, np.uint64(value), patience)


@entry
def get(mem: Handle, ring: Word, patience: Word) -> tuple[Word, Word]:
    """Get the oldest value, see `latchfree.streams.kernels.ring.try_get`."""
    outcome, value = r.try_get(mem, ring, patience)
    return outcome, np.int64(value)


@entry
def count(mem: Handle, ring: Word) -> Word:
    """Return the number of values, see `latchfree.streams.kernels.ring.count`."""
    return r.count(mem, ring)


@cache
def calls() -> tuple[Any, Any, Any]:
    """Return `put`, `get` and `count` as C functions, callable without numba's dispatch."""
    word = types.uint64
    return (
        entry_point(put, word, word, types.int64, word),
        entry_point(get, word, word, word),
        entry_point(count, word, word),
    )
