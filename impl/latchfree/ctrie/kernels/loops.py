"""Calls for many keys: one compiled loop over a column of keys, without the interpreter lock.

A column is an int64 array of words, or a pair (address of the bytes, int64 offsets) of blobs.
"""

from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, insert
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.scan import advance, start
from latchfree.ctrie.kernels.snode import VALUE, is_blob, stored_key_words
from latchfree.jit import kernel, overload
from latchfree.kinds import Array, Handle, Word


def element(column: Array, k: Word) -> Word:
    """Return element `k` of a column: an integer, or address and length of bytes."""
    raise NotImplementedError  # compiled: see the overload below


@overload(element)
def _element(column: Any, k: Any) -> Any:
    if is_blob(column):

        def blob(column: Any, k: Any) -> Any:
            start = np.uint64(column[1][k])
            return (column[0] + start, np.uint64(column[1][k + 1]) - start)

        return blob

    def word(column: Any, k: Any) -> Any:
        return column[k]

    return word


#: Keys a loop handles before it unpins for an instant. So few, because a node retired meanwhile cannot be used again:
#: the fewer nodes are on their way round, the more of them are in the processor's cache.
_PINNED = 32


@kernel
def _breathe(mem: Handle, me: Word, k: Word) -> None:
    """Renew the pin now and then."""
    if k % _PINNED == 0:
        unpin(mem, me)
        pin(mem, me)


@kernel
def get_words(
    mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, out: Array, found: Array
) -> None:
    """Write the values of keys `first` to `last` into `out`, and 1 into `found` where the key is there."""
    for k in range(first, last):
        _breathe(mem, me, k - first)
        node = lookup(mem, trie, me, element(keys, k))
        if node != NIL:
            out[k] = np.int64(peek(mem, node + VALUE))
            found[k] = 1
    unpin(mem, me)


@kernel
def get_blobs(
    mem: Handle,
    trie: Word,
    me: Word,
    keys: Array,
    first: Word,
    last: Word,
    offsets: Array,
    out: Array,
    found: Array,
) -> Word:
    """Copy the value bytes of keys `first` to `last` into `out`, from ``offsets[first]`` on.

    Returns
    -------
    Word
        The first key whose value did not fit, or `last`; `offsets` is set up to there.
    """
    for k in range(first, last):
        _breathe(mem, me, k - first)
        key = element(keys, k)
        node = lookup(mem, trie, me, key)
        length: Word = 0
        if node != NIL:
            length = np.int64(peek(mem, node + VALUE))
            if offsets[k] + length > len(out):
                unpin(mem, me)
                return k
            at = node + stored_key_words(mem, node, key)
            for b in range(length):
                out[offsets[k] + b] = (peek(mem, at + np.uint64(b >> 3)) >> np.uint64((b & 7) << 3)) & np.uint64(255)
            found[k] = 1
        offsets[k + 1] = offsets[k] + length
    unpin(mem, me)
    return last


@kernel
def put_all(mem: Handle, trie: Word, me: Word, keys: Array, values: Array, first: Word, last: Word) -> Word:
    """Put keys `first` to `last`; return how many took effect before the arena was full."""
    done = last - first
    for k in range(first, last):
        _breathe(mem, me, k - first)
        value = element(values, k)
        if insert(mem, trie, me, element(keys, k), value, ALWAYS, value) == FULL:
            done = k - first
            break
    unpin(mem, me)
    return done


@kernel
def remove_all(mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, found: Array) -> Word:
    """Remove keys `first` to `last`, with 1 in `found` for those that were there; return as `put_all`."""
    done = last - first
    for k in range(first, last):
        _breathe(mem, me, k - first)
        node = remove(mem, trie, me, element(keys, k), ALWAYS, 0)
        if node == FULL:
            done = k - first
            break
        found[k] = 1 if node != NIL else 0
    unpin(mem, me)
    return done


@kernel
def scan_start(mem: Handle, me: Word, root: Word, cursor: Array) -> None:
    """Run `scan.start` on the snapshot below a frozen root, pinned."""
    pin(mem, me)
    start(mem, root, cursor)
    unpin(mem, me)


@kernel
def scan_next(mem: Handle, me: Word, cursor: Array, out: Array) -> Word:
    """Run `scan.advance`, pinned."""
    pin(mem, me)
    found = advance(mem, cursor, out)
    unpin(mem, me)
    return found


@kernel
def scan_count(mem: Handle, me: Word, root: Word, cursor: Array, out: Array) -> Word:
    """Count the entries below a frozen root, unpinning now and then; `cursor` and `out` are scratch."""
    scan_start(mem, me, root, cursor)
    total = 0
    while True:
        found = scan_next(mem, me, cursor, out)
        total += found
        if found < len(out):
            return total
