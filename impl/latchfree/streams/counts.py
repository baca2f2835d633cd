"""What a ring has counted, for people and for monitoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.streams.kernels import layout
from latchfree.streams.kernels.positions import JUMP


@dataclass(frozen=True, slots=True)
class RingCounts:
    """What all threads and processes have done with a ring so far.

    Attributes
    ----------
    puts, gets : int
        Values put and taken; also those that were dropped, and those whose put or get died under way.
    refused_puts, refused_gets : int
        Attempts that found the ring full, or empty.
    put_waits, get_waits : int
        How often somebody went to sleep, or was about to.
    dropped : int
        Values that were dropped because the ring was full, and by ``shutdown(immediate=True)``.
    mended : int
        Cells passed on for processes that had died.
    most : int
        The most values that the ring held at the end of a put.
    shut : bool
        Whether the ring was shut down.
    """

    puts: int
    gets: int
    refused_puts: int
    refused_gets: int
    put_waits: int
    get_waits: int
    dropped: int
    mended: int
    most: int
    shut: bool


def counts_of(words: NDArray[np.uint64]) -> RingCounts:
    """Return what the words of a ring say."""
    count: Any = [int(word) for word in words]
    gets, puts = count[int(layout.DEQ)], count[int(layout.ENQ)]
    shut = (puts - gets) % (1 << 64) // int(JUMP) == 1
    return RingCounts(
        puts=(puts - int(JUMP)) % (1 << 64) if shut else puts,
        gets=gets,
        refused_puts=count[int(layout.REFUSED_PUTS)],
        refused_gets=count[int(layout.REFUSED_GETS)],
        put_waits=count[int(layout.PUT_WAITS)],
        get_waits=count[int(layout.GET_WAITS)],
        dropped=count[int(layout.DROPPED)],
        mended=count[int(layout.MENDED)],
        most=count[int(layout.MOST)],
        shut=shut,
    )
