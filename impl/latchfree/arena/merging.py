"""Join free pieces of memory that lie side by side, for an arena that has no piece of the size asked for.

Example: words 100 to 103 and words 104 to 107 are two free pieces of 4 words. Joined, they are one piece of 8.

`Arena.merge` takes every free piece that nobody else has in hand off its list, and puts back what `joined` makes of
them. A process that is killed meanwhile loses the pieces that it had taken off, until `latchfree arena fsck`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def joined(starts: NDArray[np.uint64], ends: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the least number of pieces that cover the same words, sorted.

    Parameters
    ----------
    starts, ends : ndarray of uint64
        The first word of each piece, and the word behind it. No two pieces overlap.
    """
    order = np.argsort(starts)
    starts, ends = starts[order], ends[order]
    apart = starts[1:] != ends[:-1]
    some = np.ones(min(len(starts), 1), bool)
    return starts[np.concatenate([some, apart])], ends[np.concatenate([apart, some])]
