"""The errors of sketches."""

from latchfree.errors import LatchfreeError


class SketchMismatch(LatchfreeError, ValueError):
    """Two sketches cannot be merged: they are of different kinds or shapes, or hash items differently."""


class SketchInvalid(LatchfreeError, ValueError):
    """Bytes are not a sketch that this version can read."""


class SketchGone(LatchfreeError, LookupError):
    """The sketch is not in its arena any more: somebody has unlinked it."""
