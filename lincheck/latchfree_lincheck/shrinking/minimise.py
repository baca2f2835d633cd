"""Delta debugging: leave out chunks, from halves to single items, as long as what is left still fails.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def minimise(items: Sequence[Item], fails: Callable[[list[Item]], bool]) -> list[Item]:
    """Return items, in order, that fail, such that none of them can be left out alone.

    Parameters
    ----------
    items : sequence
        They are taken to fail together.
    fails : callable
        Whether some of them, in the same order, still fail.
    """
    kept = list(items)
    size = max(len(kept) // 2, 1)
    while kept:
        at, before = 0, len(kept)
        while at < len(kept):
            fewer = kept[:at] + kept[at + size :]
            if fails(fewer):
                kept = fewer
            else:
                at += size
        if size == 1 and len(kept) == before:
            break
        size = max(size // 2, 1)
    return kept
