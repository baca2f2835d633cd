"""Compare the record that a probe found with the topic, and copy the record's subscribers."""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.atomics import peek, trailing_zeros
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Word
from latchfree.sorting import sort
from latchfree.topics.mask.kernels.records import group_in, length_in, subscriber_in, subscribers_in, text_of
from latchfree.topics.mask.kernels.texts import same_bytes

FEW = 16
"""The most subscribers of one topic that are compared with each other instead of sorted."""

_0, _1, _2 = map(np.uint64, (0, 1, 2))


@kernel
def fits(
    record: Word, width: Any, group: Word, mask: Word, depth: Word, is_open: Flag, topic: Word, length: Word,
    starts: Word, ends: Word,
) -> Flag:  # fmt: skip
    """Return whether the pattern of a record has this group and matches the topic, byte by byte.

    Runs of bytes between wildcards are compared; as the group is the same, a wildcard stands where a run ends.
    `starts` and `ends` are the addresses of where the words of the topic are.
    """
    if group_in(record) != group:
        return False
    text = text_of(record, width)
    left = length_in(record)
    at = _0
    while mask != _0:
        word = trailing_zeros(mask)
        run = peek(starts, word) - at
        if run + _1 > left or not same_bytes(text, topic + at, run):
            return False
        text += run + _1
        left -= run + _1
        at = peek(ends, word)
        mask &= mask - _1
    if is_open:
        left -= _2 if depth > _0 else _1
        length = peek(ends, depth - _1) if depth > _0 else _0
    return left == length - at and same_bytes(text, topic + at, left)


@kernel
def emit(records: Word, width: Any, name: Word, names_only: Flag, out: Array, k: Any) -> Any:
    """Append the subscribers of a record, or its name, to `out` at `k`; return the new end, -1 if there is no room."""
    if names_only:
        if k == len(out):
            return np.int64(-1)
        out[k] = np.int64(name)
        return k + 1
    record = records + ((name - _1) << _2)
    count = subscribers_in(record)
    if k + count > len(out):
        return np.int64(-1)
    for s in range(count):
        out[k + s] = subscriber_in(record, s, width)
    return k + count


@kernel
def squeeze(out: Array, low: Any, high: Any) -> Any:
    """Keep each of ``out[low:high]`` once, and return where they end."""
    if high - low > FEW:
        sort(out, low, high)
    end = low
    for i in range(low, high):
        fresh = True
        first = low if high - low <= FEW else max(low, end - 1)
        for j in range(first, end):
            if out[j] == out[i]:
                fresh = False
                break
        if fresh:
            out[end] = out[i]
            end += 1
    return end
