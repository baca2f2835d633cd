"""Rate limits: a token bucket shared by threads and processes.

Examples
--------
>>> from latchfree.limiting import RateLimiter
>>> calls = RateLimiter(rate=1_000, burst=50, when_empty="shed")
>>> calls.acquire()
True
"""

from latchfree.limiting.errors import LimiterGone, RateLimited
from latchfree.limiting.limiter import RateCounts, RateLimiter

__all__ = ["LimiterGone", "RateCounts", "RateLimited", "RateLimiter"]
