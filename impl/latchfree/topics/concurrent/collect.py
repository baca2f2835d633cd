"""Collecting: the subscriptions that match a topic, and which mains say so.

A frame of the queue is an I-node to visit and what is looked for there: how many words of the topic are used up
(``at``), and one of three *modes*. EXACT: the next digit is that of the next word, a wildcard, or END. FLOATING, below
a `many` that need not be last: the next digit may be that of any later word, so ``at`` is a lower bound. ALL, below
END: everything. What is found agrees with the topic byte by byte, so it does no harm to look at too much. An I-node
is visited once, since it has one parent; so a pattern of many `many` costs no more than the nodes it has.

The queue is worked off first in, first out: what is read from memory was asked for some nodes earlier.
"""

import numpy as np

from latchfree.arena.shape import BRANCH, DIGIT, PLAIN
from latchfree.atomics import peek, popcount, prefetch_read, trailing_zeros
from latchfree.ctrie.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.nodes import BITMAP, CHILD, NIL, ONE, SLOTS, STRIDE, T_NODE, TOMBED, gen_of, is_child, kind_of
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent import digits as d
from latchfree.topics.concurrent.agree import agrees
from latchfree.words import flag_of, position

_8 = np.uint64(8)
_16 = np.uint64(16)
_64 = np.uint64(64)
_BYTE = np.uint64(255)
_FRAME = np.uint64(3)
_ALL_SLOTS = np.uint64((1 << 64) - 1)

EXACT = np.uint64(0)
FLOATING = np.uint64(1)
ALL = np.uint64(2)

# Elements of the counts: words noted, S-nodes found; how many of them are enough.
NOTED, FOUND, MOST = range(3)

#: In place of a number of subscriptions: an array was too short.
TOO_SMALL = np.uint64((1 << 64) - 1)


@kernel
def _flag(digit: Word, level: Word, prefix: Word) -> Word:
    """The bit of a digit in a C-node at `level`, 0 if the digit's lower bits are not those of `prefix`."""
    if level != NIL and (digit ^ prefix) << (_64 - level) != NIL:
        return NIL
    return flag_of(digit, level)


@kernel
def _wanted(
    mode: Word, at: Word, level: Word, prefix: Word, hidden: Flag, rules: Word, count: Word, digits: Array
) -> Word:
    """The bits of the slots to look at in a C-node."""
    if mode == ALL:
        return _ALL_SLOTS
    flags = NIL if hidden and at == NIL else _flag(d.MANY, level, prefix)
    if at < count:
        flags |= _flag(digits[at], level, prefix)
        if not hidden or at != NIL:
            flags |= _flag(d.ONE, level, prefix)
    if mode == EXACT:
        return flags if at < count else flags | _flag(d.END, level, prefix)
    for k in range(at + ONE, count):
        flags |= _flag(digits[k], level, prefix)
    return flags | _flag(d.END, level, prefix)


@kernel
def _below_branch(
    digit: Word, mode: Word, at: Word, hidden: Flag, rules: Word, count: Word, digits: Array
) -> tuple[Flag, Word, Word]:
    """Whether the strings that go on with `digit` may match, and mode and place below it."""
    if digit == d.END:
        return mode == FLOATING or at == count, ALL, at
    if digit == d.MANY:
        if (hidden and at == NIL) or (at == count and rules & d.LEAST != NIL):
            return False, mode, at
        return (True, FLOATING, at) if rules & d.ANYWHERE != NIL else (True, EXACT, count)
    if digit == d.ONE:
        return at < count and (at != NIL or not hidden), mode, at + ONE
    for k in range(at, count if mode == FLOATING else min(at + ONE, count)):
        if digits[k] == digit:
            return True, mode, np.uint64(k) + ONE
    return False, mode, at


@kernel
def _keep_those_that_agree(
    mem: Handle, rules: Word, address: Word, length: Word, count: Word, starts: Array, found: Array, counts: Array
) -> None:
    """Leave only S-nodes in `found` whose patterns match the topic, and no more than are asked for."""
    kept = NIL
    for k in range(counts[FOUND]):
        if kept == counts[MOST]:
            break
        if agrees(mem, found[k], rules, address, length, count, starts):
            found[kept] = found[k]
            kept += ONE
    counts[FOUND] = kept


@kernel
def collect(
    mem: Handle,
    trie: Word,
    root: Word,
    rules: Word,
    address: Word,
    length: Word,
    count: Word,
    starts: Array,
    digits: Array,
    frames: Array,
    noted: Array,
    found: Array,
    counts: Array,
) -> Flag:
    """Find the S-nodes below I-node `root` that match a topic of `count` words, and note the mains that were looked at.

    `trie` is READ_ONLY for a frozen tree; then nothing is noted. False: `frames`, `noted` or `found` is too short.
    ``counts[NOTED]`` counts words, two an I-node.
    """
    gen = gen_of(mem, root)
    hidden = d.is_hidden(address, length, rules)
    notes = NIL
    candidates = NIL
    frames[0] = root | CHILD
    frames[1] = NIL
    frames[2] = NIL
    head = NIL
    tail = _FRAME
    while head != tail:
        slot = frames[head]
        prefix = frames[head + ONE]
        packed = frames[head + ONE + ONE]
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
            if notes + ONE >= np.uint64(len(noted)):
                return False
            noted[notes] = i
            noted[notes + ONE] = m
            notes += ONE + ONE
        else:
            m = gcas_read(mem, READ_ONLY, i)
        tomb = kind_of(mem, m) == T_NODE
        bitmap = ONE if tomb else peek(mem, m + BITMAP)
        wanted = ONE if tomb else _wanted(mode, at, level, prefix, hidden, rules, count, digits) & bitmap
        slots = np.uint64(popcount(wanted))
        if tail + _FRAME * slots > np.uint64(len(frames)) or candidates + slots > np.uint64(len(found)):
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
                found[candidates] = below
                candidates += ONE
            else:
                frames[tail] = below
                frames[tail + ONE] = prefix | (np.uint64(trailing_zeros(flag)) << level)
                frames[tail + ONE + ONE] = packed + STRIDE if below & BRANCH == NIL else packed & ~_BYTE
                if below & BRANCH != NIL:
                    frames[tail + ONE] = NIL
                tail += _FRAME
    counts[NOTED] = notes
    counts[FOUND] = candidates
    _keep_those_that_agree(mem, rules, address, length, count, starts, found, counts)
    return True
