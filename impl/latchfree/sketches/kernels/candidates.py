"""Candidates of a Top-K sketch: many items that are to be written into the table are written in one call.

Example: of 16,384 strings, 700 looked frequent when they were added. Most are no longer: others have taken their
buckets meanwhile. The few that still belong into the table are copied, word by word, from where their caller has them.

Invariant: an item is written by `latchfree.sketches.kernels.top.install`, as one that comes alone. What is written are
the item's own bytes, and behind them zeros up to a whole word: bytes of its neighbours are not read.

`room` is the caller's, for the words of one item. The caller has checked how long the items are. But the bytes are
those of an Arrow array, and whoever owns them may change where an item ends meanwhile: no more is written than fits.
"""

import numpy as np

from latchfree.atomics import read_word
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels import count_min, top
from latchfree.sketches.kernels.record import GONE, enter, leave
from latchfree.words import last_word

_0 = np.uint64(0)
_1 = np.uint64(1)
_3 = np.uint64(3)
_7 = np.uint64(7)
_MOST_BYTES = np.uint64(top.MOST_BYTES)


@kernel
def put_held(mem: Handle, record: Word, h: Word, length: Word, room: Array) -> None:
    """Write an item into its bucket if it still belongs there."""
    if top.wants(mem, record, h, count_min.estimate(mem, record, h)):
        top.install(mem, record, h, length, room)


@kernel
def copy_blob(address: Word, length: Word, room: Array) -> None:
    """Copy bytes as words, the last one with zeros behind it."""
    whole = length >> _3
    for k in range(whole):
        room[k] = read_word(address + (np.uint64(k) << _3))
    if length & _7 != _0:
        room[whole] = last_word(address, length)


@kernel
def put_blobs(
    mem: Handle,
    me: Word,
    record: Word,
    number: Word,
    hashes: Array,
    wanted: Array,
    address: Word,
    ends: Array,
    mark: Word,
    room: Array,
) -> Word:
    """Write each wanted item of the bytes from each of `ends` to the next; `mark` is TEXT or 0. 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        if wanted[k] != 0:
            start = np.uint64(ends[k])
            length = min(np.uint64(ends[k + 1]) - start, _MOST_BYTES)
            copy_blob(address + start, length, room)
            put_held(mem, record, hashes[k], length | mark, room)
    leave(mem, me)
    return _1


@kernel
def put_ints(
    mem: Handle, me: Word, record: Word, number: Word, hashes: Array, wanted: Array, items: Array, room: Array
) -> Word:
    """Write each wanted item of some integers; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        if wanted[k] != 0:
            room[0] = np.uint64(items[k])
            put_held(mem, record, hashes[k], top.INTEGER, room)
    leave(mem, me)
    return _1
