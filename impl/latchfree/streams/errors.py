"""The errors of the ring buffer."""

from latchfree.errors import LatchfreeError


class RingStalled(LatchfreeError, TimeoutError):
    """A cell has been claimed and not been passed on for too long: its thread was stopped, or its process killed."""


class RingGone(LatchfreeError, LookupError):
    """The ring is not there any more: it was closed, or the opening of the arena that made it has given it back."""
