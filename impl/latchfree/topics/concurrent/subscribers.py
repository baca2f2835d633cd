"""The word that stands for a subscriber in an S-node.

Example: subscriber 7 is the word 7; subscriber ``"ann"`` is the word 2**62 + 3 if she is number 3 of the table.

A small integer stands for itself. In a private trie any other subscriber stands in a table of the process, and the word
holds the number in the table. In a shared trie any other subscriber is text, str or bytes, and stands in the S-node,
where every process can read it.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

#: Integers from minus this up to, but not including, this stand for themselves.
_LIMIT: Final = 1 << 62


class Subscribers(Protocol):
    """How subscribers are stored."""

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber, and the text that its S-node holds besides."""

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber that a word and a text stand for."""

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words; None if some are text, which only the S-nodes hold."""

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""


def _is_inline(subscriber: Hashable) -> bool:
    return type(subscriber) is int and -_LIMIT <= subscriber < _LIMIT


class OwnSubscribers:
    """A table of the subscribers that are no small integers; no subscriber leaves the table."""

    def __init__(self) -> None:
        self._objects: list[Hashable] = []
        self._places: dict[tuple[type, Hashable], int] = {}
        self._lock = threading.Lock()

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber.

        Raises
        ------
        TypeError
            If it is not hashable.
        """
        if _is_inline(subscriber):
            assert isinstance(subscriber, int)
            return subscriber, None
        key = type(subscriber), subscriber
        with self._lock:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = len(self._objects)
                self._objects.append(subscriber)
        return _LIMIT + place, None

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber of a word."""
        return word if word < _LIMIT else self._objects[word - _LIMIT]

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words."""
        if not self._objects:
            return words
        return [self.object(word, None) for word in words]

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""
        return not self._objects or not bool(np.any(words >= _LIMIT))


class SharedSubscribers:
    """Subscribers that any process can read."""

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber, and the text in its S-node.

        Raises
        ------
        TypeError
            If it is no integer, str or bytes.
        ValueError
            If it is an integer out of range.
        """
        if _is_inline(subscriber):
            assert isinstance(subscriber, int)
            return subscriber, None
        if isinstance(subscriber, str | bytes):
            return _LIMIT + isinstance(subscriber, bytes), subscriber
        if type(subscriber) is int:
            raise ValueError(
                f"integers that subscribe to a shared trie are from -2**62 to 2**62 - 1, got {subscriber}; use str"
            )
        raise TypeError(
            f"subscribers of a shared trie are int, str or bytes, which every process can read, not "
            f"{type(subscriber).__name__}; keep a table from such names to your objects"
        )

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber that a word and a text stand for."""
        return word if text is None else text

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words if all are integers, else None."""
        return words if max(words, default=0) < _LIMIT else None

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""
        return not bool(np.any(words >= _LIMIT))
