"""Calls for many keys: one compiled loop over a column of keys, without the interpreter lock.

Keys are looked up in groups (`latchfree.ctrie.kernels.groups`). Writes are made one by one, each from the I-node that
the lookup of its key has come to.

Invariant: the caller's participant is pinned from before a group is looked up until the last of the group is done, and
only so long. A node retired meanwhile cannot be used again: the fewer nodes are on their way round, the more of them
are in the processor's cache.
"""

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import in_line, peek
from latchfree.border.objects import room
from latchfree.ctrie.kernels.elements import element
from latchfree.ctrie.kernels.groups import GROUP, GROUP_WORDS, came_to, found_at, look_up_together
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, insert_near
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.remove import remove_near
from latchfree.ctrie.kernels.scan import advance
from latchfree.ctrie.kernels.scan import start as start_scan
from latchfree.ctrie.kernels.snode import VALUE, stored_key_words
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word


@kernel
def get_words(
    mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, out: Array, found: Array
) -> None:
    """Write the values of keys `first` to `last` into `out`, and 1 into `found`; both 0 where the key is not there."""
    places = room(GROUP_WORDS)
    for start in range(first, last, GROUP):
        count = min(GROUP, last - start)
        pin(mem, me)
        look_up_together(mem, trie, keys, start, count, places)
        for g in range(count):
            k = np.uint64(start + g)
            node = found_at(mem, trie, me, element(keys, k), peek(places, np.uint64(g)))
            found[k] = 1 if node != NIL else 0
            out[k] = np.int64(peek(mem, node + VALUE)) if node != NIL else 0
        unpin(mem, me)


@kernel
def _copy_out(mem: Handle, at: Word, length: Word, out: Array, where: Word) -> None:
    for b in range(length):
        out[where + b] = (peek(mem, at + np.uint64(b >> 3)) >> np.uint64((b & 7) << 3)) & np.uint64(255)


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
    """Copy the value bytes of keys `first` to `last` into `out`, from ``offsets[first]`` on; `found` as `get_words`.

    Returns
    -------
    Word
        The first key whose value did not fit, or `last`; `offsets` is set up to there.
    """
    places = room(GROUP_WORDS)
    for start in range(first, last, GROUP):
        count = min(GROUP, last - start)
        pin(mem, me)
        look_up_together(mem, trie, keys, start, count, places)
        for g in range(count):
            k = np.uint64(start + g)
            key = element(keys, k)
            node = found_at(mem, trie, me, key, peek(places, np.uint64(g)))
            length: Word = 0
            found[k] = 1 if node != NIL else 0
            if node != NIL:
                length = np.int64(peek(mem, node + VALUE))
                if offsets[k] + length > len(out):
                    unpin(mem, me)
                    return k
                _copy_out(mem, node + stored_key_words(mem, node, key), length, out, offsets[k])
            offsets[k + 1] = offsets[k] + length
        unpin(mem, me)
    return last


@kernel
def _put_group(
    mem: Handle, trie: Word, me: Word, keys: Array, values: Array, first: Word, count: Word, places: Word
) -> Word:
    """Put a group of keys; return how many took effect before the arena was full."""
    in_line()
    look_up_together(mem, trie, keys, first, count, places)
    for g in range(count):
        key, value = element(keys, first + g), element(values, first + g)
        near, level = came_to(places, g)
        if insert_near(mem, trie, me, key, value, ALWAYS, value, near, level) == FULL:
            return g
    return count


@kernel
def put_all(mem: Handle, trie: Word, me: Word, keys: Array, values: Array, first: Word, last: Word) -> Word:
    """Put keys `first` to `last`; return how many took effect before the arena was full."""
    places = room(GROUP_WORDS)
    done = first
    while done < last:
        count = min(GROUP, last - done)
        pin(mem, me)
        written = _put_group(mem, trie, me, keys, values, done, count, places)
        unpin(mem, me)
        done += written
        if written < count:
            break
    return done - first


@kernel
def _remove_group(
    mem: Handle, trie: Word, me: Word, keys: Array, first: Word, count: Word, found: Array, places: Word
) -> Word:
    """Remove a group of keys, as `remove_all`; return how many were handled before the arena was full."""
    in_line()
    look_up_together(mem, trie, keys, first, count, places)
    for g in range(count):
        near, level = came_to(places, g)
        node = remove_near(mem, trie, me, element(keys, first + g), ALWAYS, 0, near, level)
        if node == FULL:
            return g
        found[first + g] = 1 if node != NIL else 0
    return count


@kernel
def remove_all(mem: Handle, trie: Word, me: Word, keys: Array, first: Word, last: Word, found: Array) -> Word:
    """Remove keys `first` to `last`, with 1 in `found` for those that were there; return as `put_all`."""
    places = room(GROUP_WORDS)
    done = first
    while done < last:
        count = min(GROUP, last - done)
        pin(mem, me)
        handled = _remove_group(mem, trie, me, keys, done, count, found, places)
        unpin(mem, me)
        done += handled
        if handled < count:
            break
    return done - first


@kernel
def scan_start(mem: Handle, me: Word, root: Word, cursor: Array) -> None:
    """Run `scan.start` on the snapshot below a frozen root, pinned."""
    pin(mem, me)
    start_scan(mem, root, cursor)
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
