"""Concurrent structures for streams: a bounded ring buffer."""

from latchfree.streams.buffer import RingBuffer
from latchfree.streams.errors import RingStalled

__all__ = ["RingBuffer", "RingStalled"]
