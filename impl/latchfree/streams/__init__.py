"""Concurrent structures for streams: a bounded ring buffer.

`buffer` is the Python face, `ownership` says whose a ring is, `kernels` is the compiled half.
"""

from latchfree.streams.buffer import RingBuffer
from latchfree.streams.errors import RingGone, RingStalled

__all__ = ["RingBuffer", "RingGone", "RingStalled"]
