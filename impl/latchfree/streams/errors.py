"""The error of the ring buffer."""

from latchfree.errors import LatchfreeError


class RingStalled(LatchfreeError, TimeoutError):
    """A cell has been claimed and not been passed on for too long: its thread was stopped, or its process killed."""
