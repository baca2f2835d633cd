"""Concurrent structures for streams: a bounded ring buffer.

`buffer` is the Python face, `kernels` the compiled half.
"""

from latchfree.streams.buffer import RingBuffer
from latchfree.streams.errors import RingStalled

__all__ = ["RingBuffer", "RingStalled"]
