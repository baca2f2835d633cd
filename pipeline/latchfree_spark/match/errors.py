"""The errors of matching jobs: bad messages, bad subscriptions."""

from __future__ import annotations

from latchfree.errors import LatchfreeError


class BadMessages(LatchfreeError, ValueError):
    """A file or a row is no message; the error names it, and no output has its final name."""


class UnreadableFile(BadMessages):
    """A file is damaged further inside than its footer.

    Parameters
    ----------
    file : str
        Its path.
    why : str
        The last cause, as Spark names it.
    """

    def __init__(self, file: str, why: str) -> None:
        super().__init__(f"{file}: cannot be read{f', {why}' if why else ''}")
        self.file = file


class NoMessages(LatchfreeError, ValueError):
    """There is nothing to match."""


class BadSubscriptions(LatchfreeError, ValueError):
    """The subscriptions cannot be sent to workers, or there are none."""
