"""The errors of the ring buffer."""

from __future__ import annotations

import queue
from typing import Any, NamedTuple

from latchfree.errors import LatchfreeError


class RingStalled(LatchfreeError, TimeoutError):
    """A cell has been claimed and not been passed on for too long: its thread was stopped, or its process killed."""


class RingGone(LatchfreeError, LookupError):
    """The ring is not there any more: it was closed, or the opening of the arena that made it has given it back."""


class RingShutDown(LatchfreeError):
    """The ring was shut down: it takes no more puts, and a get that is refused has found it empty for good."""


class RingFull(LatchfreeError, queue.Full):
    """The ring had no room in time; nothing was put."""


class RingEmpty(LatchfreeError, queue.Empty):
    """The ring had no value in time; nothing was taken."""


class UnreadMessage(NamedTuple):
    """A message that was taken from a ring and cannot be read.

    Attributes
    ----------
    place : int
        Its place, from 0 on, among the messages that the call has taken.
    data : bytes
        The message as it was in the ring.
    error : Exception
        What its reading raised.
    """

    place: int
    data: bytes
    error: Exception


class MessageUnreadable(LatchfreeError, ValueError):
    """Messages were taken from the ring, and some of them cannot be read: a class is missing, or reading it raised.

    Attributes
    ----------
    messages : list
        The other messages of the call, in order.
    unread : list of UnreadMessage
        Those that cannot be read, in order, with their bytes.
    """

    def __init__(self, count: int, unread: list[UnreadMessage], messages: list[Any]) -> None:
        self.count, self.unread, self.messages = count, unread, messages
        first = unread[0]
        what = f"message {first.place + 1} of {count} cannot be read" if count > 1 else "this message cannot be read"
        more = f", and {len(unread) - 1:,} more" if len(unread) > 1 else ""
        super().__init__(
            f"{what} ({type(first.error).__name__}: {str(first.error)[:200]}){more}; "
            "its bytes are in `unread` of this error" + (", the other messages in `messages`" if messages else "")
        )

    def __reduce__(self) -> Any:
        return type(self), (self.count, self.unread, self.messages)
