"""What a message of a ring is: strings, bytes, pickled objects or Arrow record batches, as bytes and back.

Example: ``"tea"`` is three bytes of UTF-8 in the ring. A pickled object whose class is gone cannot be read. Whoever
took it from the ring is told so, with the bytes, and with the messages that were taken beside it.

Invariant: what was taken from a ring is in a result or in an error. Nothing is lost because something else is broken.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Final

from latchfree.arguments import shown
from latchfree.extras import optional
from latchfree.streams.errors import MessageUnreadable, UnreadMessage

pa = optional("pyarrow", "check")

#: What a message may be: the place of each, from 1 on, is its number in the words of the ring.
HOLDS: Final = ("bytes", "str", "pickle", "arrow")
#: The bytes of a message at most.
MOST_BYTES: Final = 1 << 28


def decoded(decode: Callable[[bytes], Any], found: list[bytes]) -> list[Any]:
    """Return the messages of some bytes that were taken together.

    Raises
    ------
    MessageUnreadable
        If some cannot be read; it carries them, and the others.
    """
    messages, unread = [], []
    for place, data in enumerate(found):
        try:
            messages.append(decode(data))
        except Exception as error:  # reading runs code of users
            unread.append(UnreadMessage(place, data, error))
    if unread:
        raise MessageUnreadable(len(found), unread, messages) from unread[0].error
    return messages


def decoded_one(decode: Callable[[bytes], Any], data: bytes) -> Any:
    """Return the message of some bytes; raise as `decoded` does."""
    try:
        return decode(data)
    except Exception as error:
        raise MessageUnreadable(1, [UnreadMessage(0, data, error)], []) from error


def _other(held: str, message: Any) -> TypeError:
    kind = type(message).__name__
    return TypeError(
        f"this ring holds {held}, not {kind} {shown(message)}; make the ring with the `holds` of what you put: "
        + ", ".join(map(repr, HOLDS))
    )


def _bytes(message: Any) -> bytes:
    if not isinstance(message, bytes | bytearray | memoryview):
        raise _other("bytes", message)
    return bytes(message)


def _text(message: Any) -> bytes:
    if not isinstance(message, str):
        raise _other("strings", message)
    try:
        return str.encode(message)  # a subclass may encode otherwise
    except UnicodeEncodeError:
        raise ValueError(f"a message must have an encoding in UTF-8, this one has none: {shown(message)}") from None


def _pickled(message: Any) -> bytes:
    try:
        return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"a {type(message).__name__} cannot be pickled: {error}") from error


def _batch(message: Any) -> bytes:
    if not isinstance(message, pa.RecordBatch):
        raise _other("Arrow record batches", message)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, message.schema) as writer:
        writer.write_batch(message)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _batch_of(data: bytes) -> Any:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


CODECS: Final[dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]]] = {
    "bytes": (_bytes, bytes),
    "str": (_text, bytes.decode),
    "pickle": (_pickled, pickle.loads),
    "arrow": (_batch, _batch_of),
}
