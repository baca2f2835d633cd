"""Find the subscriptions whose patterns may overlap with a pattern.

Example: for ``+/b`` every branch of the root is followed, and below each the branches of ``b``, ``+`` and ``#``.

A frame of the stack is an I-node to visit, and how far the pattern has been followed (``at``); or ALL, below a wildcard
for many words of either side. What is found may have words that were not compared, or words of the same hash, so the
caller compares. No overlapping pattern is missing.
"""

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek, popcount, trailing_zeros
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.nodes import BITMAP, CHILD, NIL, ONE, SLOTS, STRIDE, T_NODE, TOMBED, is_child, kind_of
from latchfree.ctrie.kernels.shape import BRANCH, DIGIT, PLAIN
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels import digits as d
from latchfree.topics.concurrent.kernels.collect import flag_at
from latchfree.words import position

_8 = np.uint64(8)
_BYTE = np.uint64(255)
_EVERY = np.uint64((1 << 64) - 1)

#: In the place of how far the pattern has been followed: everything below is taken.
ALL = np.uint64((1 << 32) - 1)


@kernel
def _wanted(asked: Word, level: Word, prefix: Word) -> Word:
    """Return the bits of the slots to follow in a C-node, where the pattern goes on with the digit `asked`."""
    if asked == d.ANY_WORD or asked == d.ANY_WORDS:
        return _EVERY
    flags = flag_at(asked, level, prefix) | flag_at(d.ANY_WORDS, level, prefix)
    return flags if asked == d.END else flags | flag_at(d.ANY_WORD, level, prefix)


@kernel
def _below(asked: Word, digit: Word, at: Word) -> tuple[Flag, Word]:
    """Return whether what goes on with `digit` may overlap with what goes on with `asked`, and how far that is."""
    if asked == d.ANY_WORDS or digit == d.ANY_WORDS:
        return True, ALL
    if asked == d.END or digit == d.END:
        return asked == digit, ALL
    return digit == asked or digit == d.ANY_WORD or asked == d.ANY_WORD, at + ONE


@kernel
def near(
    mem: Handle, root: Word, me: Word, rules: Word, mask: Word, text: Word, length: Word, starts: Array, digits: Array,
    frames: Array, found: Array,
) -> Word:  # fmt: skip
    """Put the S-nodes below a frozen root that may overlap with a pattern into `found`; return their number.

    Return a larger number than `found` has room for if `frames` or `found` is too short. `starts` and `digits` have
    room for `length` + 2 words each.
    """
    words = d.parse(text, length, rules, NIL, mask, True, np.uint64(starts.ctypes.data), np.uint64(digits.ctypes.data))
    pin(mem, me)
    frames[0], frames[1], frames[2] = root | CHILD, NIL, (ALL if words == d.INVALID else NIL) << _8
    height = 3
    count = 0
    while height > 0:
        height -= 3
        slot, prefix, packed = frames[height], frames[height + 1], frames[height + 2]
        if not is_child(slot):
            if count < len(found):
                found[count] = slot
            count += 1
            continue
        i, level, at = slot & PLAIN, packed & _BYTE, packed >> _8
        if slot & BRANCH != NIL:
            level = NIL
            if at != ALL:
                good, at = _below(digits[at], peek(mem, i + DIGIT), at)
                if not good:
                    continue
        m = gcas_read(mem, READ_ONLY, i)
        tomb = kind_of(mem, m) == T_NODE
        bitmap = ONE if tomb else peek(mem, m + BITMAP)
        wanted = bitmap if tomb or at == ALL else _wanted(digits[at], level, prefix) & bitmap
        if height + 3 * popcount(wanted) > len(frames):
            unpin(mem, me)
            return max(len(frames), len(found)) + 1
        while wanted != NIL:
            flag = wanted & (~wanted + ONE)
            wanted ^= flag
            below = peek(mem, m + TOMBED) if tomb else peek(mem, m + SLOTS + position(bitmap, flag))
            if below == NIL:
                continue
            inner = is_child(below) and below & BRANCH == NIL
            frames[height] = below
            frames[height + 1] = prefix | (np.uint64(trailing_zeros(flag)) << level) if inner else NIL
            frames[height + 2] = (at << _8) | (level + STRIDE if inner else NIL)
            height += 3
    unpin(mem, me)
    return count
