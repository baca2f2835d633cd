"""Collect the subscriptions that match a topic, and note the mains that were read.

A frame of the queue is an I-node to visit, the number of topic words used up (``at``), and one of three *modes*.
EXACT: the next digit is the next word's, a wildcard, or END. FLOATING, below a `many` that need not be last: the next
digit may be any later word's, so ``at`` is a lower bound. ALL, below END: every slot. Every S-node found is compared
with the topic byte by byte, so visiting too much does no harm. An I-node has one parent, so it is visited once: a
pattern with several `many` costs no more than its nodes.

The queue is first in, first out, so that a node's memory is fetched some nodes before it is read.
"""

from typing import NamedTuple

import numpy as np

from latchfree.atomics import peek, poke, popcount, prefetch_read, trailing_zeros
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.nodes import (
    BITMAP,
    CHILD,
    NIL,
    ONE,
    SLOTS,
    STRIDE,
    T_NODE,
    TOMBED,
    gen_of,
    is_child,
    kind_of,
)
from latchfree.ctrie.kernels.shape import BRANCH, DIGIT, PLAIN
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels import digits as d
from latchfree.topics.concurrent.kernels.agree import agrees
from latchfree.words import flag_of, position

_8, _16, _64 = map(np.uint64, (8, 16, 64))
_BYTE = np.uint64(255)
_FRAME = np.uint64(3)
_ALL_SLOTS = np.uint64((1 << 64) - 1)

EXACT = np.uint64(0)
FLOATING = np.uint64(1)
ALL = np.uint64(2)

# Elements of the counts: words noted, S-nodes found; how many of them are enough.
NOTED, FOUND, MOST = (np.uint64(k) for k in range(3))

#: In place of a number of subscriptions: an array was too short.
TOO_SMALL = np.uint64((1 << 64) - 1)


class Buffers(NamedTuple):
    """The arrays that a collection works in, which the caller owns.

    Attributes
    ----------
    starts, digits : array of uint64
        The words of the topic, see `latchfree.topics.concurrent.kernels.digits.parse`.
    frames, noted, found, counts : array of uint64
        I-nodes to visit, I-nodes visited with their mains, S-nodes found, and how many of each.
    """

    starts: Array
    digits: Array
    frames: Array
    noted: Array
    found: Array
    counts: Array


class Space(NamedTuple):
    """Where a collection works: addresses of arrays of words that the caller keeps, and how many words some have.

    Parameters
    ----------
    starts, digits : address
        The words of the topic, see `latchfree.topics.concurrent.kernels.digits.parse`.
    frames, noted, found, counts : address
        I-nodes to visit, I-nodes visited with their mains, S-nodes found, and how many of each.
    most_frames, most_noted, most_found : int
    """

    starts: Word
    digits: Word
    frames: Word
    noted: Word
    found: Word
    counts: Word
    most_frames: Word
    most_noted: Word
    most_found: Word


@kernel
def space_of(starts: Array, digits: Array, frames: Array, noted: Array, found: Array, counts: Array) -> Space:
    """Return the addresses of these arrays.

    Compiled code must name each array after the last use of its address: Numba frees an array early.
    """
    return Space(
        np.uint64(starts.ctypes.data),
        np.uint64(digits.ctypes.data),
        np.uint64(frames.ctypes.data),
        np.uint64(noted.ctypes.data),
        np.uint64(found.ctypes.data),
        np.uint64(counts.ctypes.data),
        np.uint64(len(frames)),
        np.uint64(len(noted)),
        np.uint64(len(found)),
    )


@kernel
def flag_at(digit: Word, level: Word, prefix: Word) -> Word:
    """Return the bit of a digit in a C-node at `level`, 0 if the digit's lower bits are not those of `prefix`."""
    if level != NIL and (digit ^ prefix) << (_64 - level) != NIL:
        return NIL
    return flag_of(digit, level)


@kernel
def _wanted(
    mode: Word, at: Word, level: Word, prefix: Word, hidden: Flag, rules: Word, count: Word, digits: Word
) -> Word:
    """Return the bits of the slots to follow in a C-node."""
    if mode == ALL:
        return _ALL_SLOTS
    flags = NIL if hidden and at == NIL else flag_at(d.ANY_WORDS, level, prefix)
    if at < count:
        flags |= flag_at(peek(digits, at), level, prefix)
        if not hidden or at != NIL:
            flags |= flag_at(d.ANY_WORD, level, prefix)
    if mode == EXACT:
        return flags if at < count else flags | flag_at(d.END, level, prefix)
    for k in range(at + ONE, count):
        flags |= flag_at(peek(digits, np.uint64(k)), level, prefix)
    return flags | flag_at(d.END, level, prefix)


@kernel
def _below_branch(
    digit: Word, mode: Word, at: Word, hidden: Flag, rules: Word, count: Word, digits: Word
) -> tuple[Flag, Word, Word]:
    """Return whether the strings that go on with `digit` may match, and the mode and ``at`` below `digit`."""
    if digit == d.END:
        return mode == FLOATING or at == count, ALL, at
    if digit == d.ANY_WORDS:
        if (hidden and at == NIL) or (at == count and rules & d.LEAST != NIL):
            return False, mode, at
        return (True, FLOATING, at) if rules & d.ANYWHERE != NIL else (True, EXACT, count)
    if digit == d.ANY_WORD:
        return at < count and (at != NIL or not hidden), mode, at + ONE
    for k in range(at, count if mode == FLOATING else min(at + ONE, count)):
        if peek(digits, np.uint64(k)) == digit:
            return True, mode, np.uint64(k) + ONE
    return False, mode, at


@kernel
def _keep_those_that_agree(mem: Handle, rules: Word, address: Word, length: Word, count: Word, space: Space) -> None:
    """Keep only S-nodes in `found` whose patterns match the topic, and at most as many as asked for."""
    kept = NIL
    for k in range(peek(space.counts, FOUND)):
        if kept == peek(space.counts, MOST):
            break
        s = peek(space.found, np.uint64(k))
        if agrees(mem, s, rules, address, length, count, space.starts):
            poke(space.found, kept, s)
            kept += ONE
    poke(space.counts, FOUND, kept)


@kernel
def collect(
    mem: Handle, trie: Word, root: Word, rules: Word, address: Word, length: Word, count: Word, space: Space,
) -> Flag:  # fmt: skip
    """Find the S-nodes below I-node `root` that match a topic of `count` words, and note the mains that were read.

    Return False if `frames`, `noted` or `found` is too short. `trie` is READ_ONLY for a frozen tree; then nothing is
    noted. NOTED counts words, two for each I-node.
    """
    gen = gen_of(mem, root)
    hidden = d.is_hidden(address, length, rules)
    notes = NIL
    candidates = NIL
    frames, noted, found, digits = space.frames, space.noted, space.found, space.digits
    poke(frames, NIL, root | CHILD)
    poke(frames, ONE, NIL)
    poke(frames, ONE + ONE, NIL)
    head = NIL
    tail = _FRAME
    while head != tail:
        slot = peek(frames, head)
        prefix = peek(frames, head + ONE)
        packed = peek(frames, head + ONE + ONE)
        head += _FRAME
        i = slot & PLAIN
        level = packed & _BYTE
        mode = (packed >> _8) & _BYTE
        at = packed >> _16
        if slot & BRANCH != NIL:
            good, mode, at = _below_branch(peek(mem, i + DIGIT), mode, at, hidden, rules, count, digits)
            if not good:
                continue
            packed = (at << _16) | (mode << _8)
        if trie != READ_ONLY and gen_of(mem, i) == gen:
            # spec: TopicTrie!CollectMain
            m = gcas_read(mem, trie, i)
            if notes + ONE >= space.most_noted:
                return False
            poke(noted, notes, i)
            poke(noted, notes + ONE, m)
            notes += ONE + ONE
        else:
            m = gcas_read(mem, READ_ONLY, i)
        tomb = kind_of(mem, m) == T_NODE
        bitmap = ONE if tomb else peek(mem, m + BITMAP)
        wanted = ONE if tomb else _wanted(mode, at, level, prefix, hidden, rules, count, digits) & bitmap
        slots = np.uint64(popcount(wanted))
        if tail + _FRAME * slots > space.most_frames or candidates + slots > space.most_found:
            return False
        while wanted != NIL:
            flag = wanted & (~wanted + ONE)
            wanted ^= flag
            below = peek(mem, m + TOMBED) if tomb else peek(mem, m + SLOTS + position(bitmap, flag))
            if below == NIL:
                continue
            # Both kinds are read later: several are on their way at the same time.
            prefetch_read(mem, below & PLAIN)
            if not is_child(below):
                poke(found, candidates, below)
                candidates += ONE
            else:
                poke(frames, tail, below)
                if below & BRANCH == NIL:
                    poke(frames, tail + ONE, prefix | (np.uint64(trailing_zeros(flag)) << level))
                    poke(frames, tail + ONE + ONE, packed + STRIDE)
                else:
                    poke(frames, tail + ONE, NIL)
                    poke(frames, tail + ONE + ONE, packed & ~_BYTE)
                tail += _FRAME
    poke(space.counts, NOTED, notes)
    poke(space.counts, FOUND, candidates)
    _keep_those_that_agree(mem, rules, address, length, count, space)
    return True
