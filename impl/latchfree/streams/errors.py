"""The errors of the ring buffer."""

import queue

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
