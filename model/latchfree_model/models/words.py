"""Words: integers of 64 bits that stand for arguments, results and parts of a state.

Example: 7 is the word 7, True is 1, None is NOTHING, and "a" is some number far below all of these. An integer stands
for itself, so a step may calculate with it. Other things get numbers as they come: two of these words may be compared
with ``==`` and nothing else.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Final

from latchfree_model.models.base import UNKNOWN
from latchfree_model.models.values import canonical, whole

LOST: Final = -(1 << 63)
"""The result of a call whose result was never seen."""

NOTHING: Final = -(1 << 63) + 1
"""None, and an argument that the call does not take."""

NEVER: Final = -(1 << 63) + 2
"""A result that equals nothing: one that is not hashable."""

_FAR: Final = 1 << 62


def fits(result: int, expected: int) -> bool:
    """Return whether the result of a call may be the one expected: it is, or nobody saw the result."""
    return (result == expected) | (result == LOST)


class Words:
    """Words for things and things for words; a thing keeps its word."""

    def __init__(self) -> None:
        self._words: dict[Hashable, int] = {}
        self._things: list[Hashable] = []
        self._lock = threading.Lock()

    def word(self, thing: object) -> int:
        """Return the word of a thing.

        Raises
        ------
        ValueError
            If the thing is an integer of more than 62 bits.
        """
        if type(thing) is int and -_FAR < thing < _FAR:
            return thing
        if thing is None:
            return NOTHING
        if thing is UNKNOWN:
            return LOST
        thing = canonical(thing)
        number = whole(thing)
        if number is None:
            return self._number(thing)
        if not -_FAR < number < _FAR:
            raise ValueError(f"{number} does not fit a word, which takes numbers from -2**62 to 2**62")
        return number

    def _number(self, thing: object) -> int:
        try:
            known = self._words.get(thing)
        except TypeError:
            return NEVER
        if known is None:
            with self._lock:
                known = self._words.setdefault(thing, -_FAR - len(self._things))
                if known == -_FAR - len(self._things):
                    self._things.append(thing)
        return known

    def thing(self, word: int) -> object:
        """Return the thing that a word stands for."""
        if word == NOTHING:
            return None
        if word == LOST:
            return UNKNOWN
        number = -_FAR - word
        return self._things[number] if 0 <= number < len(self._things) else word
