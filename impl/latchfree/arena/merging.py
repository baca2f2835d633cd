"""Merge free memory, for an arena that has no piece of the size asked for but enough in smaller pieces.

Example: words 100 to 103 and words 104 to 107 are two free pieces of 4 words. Merged, they are one piece of 8.

Every free piece that nobody else has in hand is taken off its list, sorted by place, and put back in the largest pieces
that its neighbours allow. A process that is killed meanwhile loses the pieces that it had taken off, until
`latchfree arena fsck`.
"""

from __future__ import annotations

import numpy as np

from latchfree.arena.border import ARENA


def merge(base: int, me: int, other: int, room: int) -> None:
    """Merge free memory of an arena.

    Parameters
    ----------
    base : int
        Address of the arena.
    me : int
        The participant that is to have the merged pieces.
    other : int
        Another participant of the caller's, or 0.
    room : int
        How many pieces are merged at most.
    """
    starts = np.zeros(room, np.uint64)
    ends = np.zeros(room, np.uint64)
    found = ARENA.gather(base, me, other, starts, ends)
    order = np.argsort(starts[:found])
    starts, ends = starts[:found][order], ends[:found][order]
    first = np.concatenate([[True], starts[1:] != ends[:-1]]) if found else np.zeros(0, bool)
    last = np.concatenate([first[1:], [True]]) if found else first
    ARENA.scatter(base, me, starts[first], ends[last])
