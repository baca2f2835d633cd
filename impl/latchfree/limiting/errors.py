"""The errors of the rate limiter."""

from latchfree.errors import LatchfreeError


class RateLimited(LatchfreeError, TimeoutError):
    """There were too few tokens, or there will be too few in time; none was taken.

    Attributes
    ----------
    retry_after : float
        Seconds until there can be as many, if nobody else takes any.
    """

    def __init__(self, text: str, retry_after: float = 0.0) -> None:
        super().__init__(text)
        self.retry_after = retry_after


class LimiterGone(LatchfreeError, LookupError):
    """The rate limiter is not in its arena any more: somebody has unlinked it."""
