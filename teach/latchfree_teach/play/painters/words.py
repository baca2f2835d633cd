"""Any small structure: a box for each word that changes, or that threads contend for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from latchfree_teach.play.painters.picture import Box, Pending, Picture, Words

#: Words drawn at most.
MOST: Final = 36
_WIDE: Final = 6


def small(value: int) -> str:
    """Return a word: small numbers as they are, others, which pack several fields, in hexadecimal."""
    return str(value) if value < 1 << 32 else hex(value)


class WordPainter:
    """Draws words by their addresses.

    Parameters
    ----------
    contended, changed : iterable of int
        The words to draw; contended ones first, if there are too many.
    """

    def __init__(self, contended: Iterable[int], changed: Iterable[int]) -> None:
        first = sorted(set(contended))
        self._words = sorted((first + sorted(set(changed) - set(first)))[:MOST])

    def paint(self, memory: Words, pending: Pending) -> Picture:
        """Return a row of boxes."""
        picture = Picture()
        for k, at in enumerate(self._words):
            picture.boxes.append(Box(f"w{at}", (), k // _WIDE, f"word {at}", small(int(memory[at])), "cell"))
            picture.homes[at] = f"w{at}"
        return picture
