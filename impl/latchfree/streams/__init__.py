"""Concurrent structures for streams: a bounded ring buffer of integers, and one of messages.

`buffer` is the Python face, above `blocking`, what waits, and `handle`, where a ring is; `ownership` says whose a ring
is, `futex` sleeps in the kernel, `watching` for coroutines; `kernels` is the compiled half.
"""

from latchfree.streams.buffer import RingBuffer
from latchfree.streams.counts import RingCounts
from latchfree.streams.errors import (
    MessageUnreadable,
    RingEmpty,
    RingFull,
    RingGone,
    RingShutDown,
    RingStalled,
    UnreadMessage,
)
from latchfree.streams.messages import MessageRing

__all__ = [
    "MessageRing",
    "MessageUnreadable",
    "RingBuffer",
    "RingCounts",
    "RingEmpty",
    "RingFull",
    "RingGone",
    "RingShutDown",
    "RingStalled",
    "UnreadMessage",
]
