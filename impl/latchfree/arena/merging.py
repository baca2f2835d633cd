"""Merging free memory, for an arena that has none of the size asked for but enough in pieces.

Everything free that nobody else has in hand is taken off its list, sorted by place, and put back in the largest
pieces that its neighbours allow. Killed meanwhile, a process loses what it had taken off, until `latchfree arena fsck`.
"""

from __future__ import annotations

import numpy as np

from latchfree.arena.kernels.pieces import gather, scatter


def merge(base: int, me: int, other: int, room: int) -> None:
    """Merge free memory of the arena at address `base`, at most `room` pieces of it.

    `me` is the participant that is to have it, `other` one that is the caller's as well, or 0.
    """
    starts = np.zeros(room, np.uint64)
    ends = np.zeros(room, np.uint64)
    found = int(gather(np.uint64(base), np.uint64(me), np.uint64(other), starts, ends))
    order = np.argsort(starts[:found])
    starts, ends = starts[:found][order], ends[:found][order]
    first = np.concatenate([[True], starts[1:] != ends[:-1]]) if found else np.zeros(0, bool)
    last = np.concatenate([first[1:], [True]]) if found else first
    scatter(np.uint64(base), np.uint64(me), starts[first], ends[last])
