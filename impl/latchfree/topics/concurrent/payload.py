"""The payload of an S-node: the subscriber and the queue group of a subscription, as bytes; copies of whole S-nodes.

bytes 0-7     the word for the subscriber, where compiled code reads it
byte 8        the kind of queue group: `NO_QUEUE`, `QUEUE` or `SHARE`
byte 9        the kind of text: none, str or bytes
bytes 12-15   length of the name of the queue group
then          the name of the queue group, and the text
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.dialects import exact_bytes

#: Kinds of queue group: none, one named by the subscriber, one named in the pattern (``$share``).
#: A row of a bulk call has two words, and the second is NO_QUEUE.
NO_QUEUE, QUEUE, SHARE = range(3)

_NO_TEXT, _STR, _BYTES = range(3)

_HEAD: Final = struct.Struct("=qBBHI")
_LONGEST: Final = 65_535


class Payload(NamedTuple):
    """The payload of a subscription.

    Attributes
    ----------
    word : int
        The word for the subscriber, see `latchfree.topics.concurrent.subscribers`.
    text : str, bytes or None
        The subscriber, if the word does not hold the subscriber.
    kind : int
        `NO_QUEUE`, `QUEUE`, or `SHARE` if the pattern names the group.
    queue : str or None
        The name of the queue group.
    """

    word: int
    text: str | bytes | None
    kind: int
    queue: str | None

    def pack(self) -> bytes:
        """Return the payload as bytes.

        Raises
        ------
        ValueError
            If a name is longer than 65,535 bytes, or not text.
        """
        name = _bytes_of(self.queue or "", "the name of a queue group")
        text = _bytes_of(self.text or "", "a subscriber")
        what = _NO_TEXT if self.text is None else _STR if isinstance(self.text, str) else _BYTES
        return _HEAD.pack(self.word, self.kind, what, 0, len(name)) + name + text

    @classmethod
    def unpack(cls, packed: bytes) -> Payload:
        """Return the payload that `pack` made these bytes of."""
        word, kind, what, _, length = _HEAD.unpack_from(packed)
        start = _HEAD.size + length
        rest = packed[start:]
        text = None if what == _NO_TEXT else rest.decode() if what == _STR else rest
        return cls(word, text, kind, packed[_HEAD.size : start].decode() if kind else None)


def copies(words: NDArray[np.int64], start: int, end: int) -> Iterator[tuple[int, tuple[int, str, Payload]]]:
    """Yield the offset of each S-node of which there is a copy in ``words[start:end]``, and what the copy says.

    That is the number of the subscription, its filter and its payload; `latchfree.topics.concurrent.kernels.copies`
    makes the copies.
    """
    ints = words.data
    data = ints.cast("B")
    at = start
    while at < end:
        node, name, length, key_length = ints[at : at + 4].tolist()
        key = 8 * (at + 4)
        value = key + 8 * ((key_length + 7) // 8)
        text = bytes(data[key : key + key_length]).decode()
        yield node, (name >> 1, text, Payload.unpack(bytes(data[value : value + length])))
        at = (value + length + 7) // 8


def _bytes_of(text: str | bytes, what: str) -> bytes:
    try:
        encoded = exact_bytes(text)
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} cannot be stored as UTF-8: {error.reason}, at character {error.start}") from None
    if len(encoded) > _LONGEST:
        raise ValueError(f"{what} has {len(encoded):,} bytes, and {_LONGEST:,} are allowed")
    return encoded
