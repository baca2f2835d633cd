"""Which of many S-nodes are of a subscriber, or have a pattern that begins with a text: read as columns.

Example: of 100,000 subscriptions the three of one client are found by one look at the subscribers' words, and three
S-nodes are read.

A snapshot keeps the S-nodes, which never change. `latchfree.topics.concurrent.payload` has the form of their values.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: Words of an S-node before its key; the bytes of its value and of its key stand in words 2 and 3.
_HEAD: Final = 4
_VALUE_BYTES, _KEY_BYTES = 2, 3
#: Bytes of a payload before the name of the queue group.
_PAYLOAD: Final = 16


class Nodes:
    """S-nodes that a snapshot keeps.

    Parameters
    ----------
    memory : memoryview
        The words of the arena.
    nodes : ndarray of uint64
        The words where they start.
    """

    def __init__(self, memory: Any, nodes: NDArray[np.uint64]) -> None:
        self._words: NDArray[np.int64] = np.frombuffer(memory, np.int64)
        self._bytes: NDArray[np.uint8] = self._words.view(np.uint8)
        self._at: NDArray[np.int64] = nodes.astype(np.int64)

    @property
    def nodes(self) -> NDArray[np.uint64]:
        """The S-nodes that are left."""
        return self._at.astype(np.uint64)

    def subscribers(self) -> NDArray[np.int64]:
        """Return the word for each node's subscriber."""
        return self._words[self._values()]

    def only(self, which: NDArray[np.bool_]) -> None:
        """Keep these nodes."""
        self._at = self._at[which]

    def only_text(self, text: bytes) -> None:
        """Keep the nodes whose subscriber is this text."""
        values = self._values()
        names = self._words[values + 1] >> 32
        self.only(self._words[self._at + _VALUE_BYTES] - _PAYLOAD - names == len(text))
        for k in reversed(range(len(text))):  # names differ at their ends
            values = self._values()
            starts = 8 * values + _PAYLOAD + (self._words[values + 1] >> 32)
            self.only(self._bytes[starts + k] == text[k])

    def only_below(self, text: bytes, separator: int) -> None:
        """Keep the nodes whose pattern is this text, or goes on with a separator."""
        self.only(self._words[self._at + _KEY_BYTES] >= len(text))
        for k in reversed(range(len(text))):
            self.only(self._bytes[8 * (self._at + _HEAD) + k] == text[k])
        longer = self._words[self._at + _KEY_BYTES] > len(text)
        ends = 8 * (self._at + _HEAD) + len(text)
        self.only(~longer | (self._bytes[np.where(longer, ends, 0)] == separator))

    def _values(self) -> NDArray[np.int64]:
        return self._at + _HEAD + (self._words[self._at + _KEY_BYTES] + 7) // 8
