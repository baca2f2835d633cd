"""Which word stands for a subscriber: small integers for themselves, other objects for their place in a table."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: Integers from minus this to this, which is not one of them, stand for themselves.
_LIMIT: Final = 1 << 62


class Subscribers:
    """A table of the subscribers that are no small integers; they stay in it."""

    def __init__(self) -> None:
        self._objects: list[Hashable] = []
        self._places: dict[tuple[type, Hashable], int] = {}
        self._lock = threading.Lock()

    def value(self, subscriber: Hashable) -> int:
        """The word for a subscriber.

        Raises
        ------
        TypeError
            If it is not hashable.
        """
        if type(subscriber) is int and -_LIMIT <= subscriber < _LIMIT:
            return subscriber
        key = type(subscriber), subscriber
        with self._lock:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = len(self._objects)
                self._objects.append(subscriber)
        return _LIMIT + place

    def object(self, value: int) -> Hashable:
        """The subscriber of a word."""
        return value if value < _LIMIT else self._objects[value - _LIMIT]

    def objects(self, values: list[int]) -> list[Hashable]:
        """The subscribers of many words."""
        if not self._objects:
            return values  # type: ignore[return-value]
        return [self.object(value) for value in values]

    def all_inline(self, values: NDArray[Any]) -> bool:
        """Whether all these words are integers that stand for themselves."""
        return not self._objects or not bool(np.any(values >= _LIMIT))
