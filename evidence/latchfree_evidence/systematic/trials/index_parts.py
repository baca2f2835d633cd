"""Parts of an index one by one: records that are written and read back."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from latchfree.topics.mask.kernels import records as r
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require


class _Told:
    """An array that answers what it was told, one after the other: for more subscribers than a trial can have."""

    def __init__(self, *answers: int) -> None:
        self._answers = list(answers)

    def __getitem__(self, at: int) -> int:
        return self._answers.pop(0)


def records(world: World, seed: int) -> None:
    """Write records of long patterns, large groups and many subscribers, and read them."""
    texts = [b"a", b"x" * 300, b"", b"y" * 65535, b"abc"]
    groups = [0, 0x1234, 0xFFFF, 47, 255]
    rows = [[5], [1, -2, 3], [], [9] * 300, [(1 << 31) - 1]]
    joined = ctypes.create_string_buffer(b"".join(texts))
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    row_at = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    for width in (4, 8):
        sizes = [r.HEAD + width * len(row) + len(text) for row, text in zip(rows, texts, strict=True)]
        at = np.cumsum([0, *(-(-size // 4) * 4 for size in sizes)]).astype(np.int64)
        out = np.zeros(int(at[-1]), np.uint8)
        subscribers = np.array([each for row in rows for each in row], np.int64)
        given: list[Any] = [offsets, np.array(groups, np.int64), row_at, subscribers]
        address = ctypes.addressof(joined)
        world[r.write_records](address, *map(View, given), width, View(at), View(out))
        for k, (text, row) in enumerate(zip(texts, rows, strict=True)):
            record = out.ctypes.data + int(at[k])
            require(world[r.subscribers_in](record) == len(row), "how many subscribers", k)
            require(world[r.length_in](record) == len(text), "the length of a pattern", k)
            require(world[r.group_in](record) == groups[k], "its group", k)
            require([world[r.subscriber_in](record, s, width) for s in range(len(row))] == row, "who subscribes", k)
            require(ctypes.string_at(world[r.text_of](record, width), len(text)) == text, "the pattern", k)
    one, none = View(np.zeros(1, np.int64)), View(np.zeros(2, np.int64))
    out = np.zeros(16, np.uint8)
    world[r.write_records](0, none, one, _Told(0x12345678, 0, 0, 0), one, 4, one, View(out))
    require(world[r.subscribers_in](out.ctypes.data) == 0x12345678, "very many subscribers")
