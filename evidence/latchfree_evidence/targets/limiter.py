"""The rate limiter as a target: two tokens at most, one more at each tick of a clock that is a word of memory.

Example: ``acquire(2) | acquire(1) | tick()``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.atomics import fetch_add, load
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.limiting.kernels import bucket
from latchfree_explore.target import Operation, Target
from latchfree_model.models import TokenBucketModel

#: Tokens that the bucket holds; a tick of the clock is the time in which one comes in.
BURST: Final = 2

_1 = np.uint64(1)
_WORD = np.uint64(64)
_CLOCK = np.uint64(8)
_SPAN = np.uint64(BURST)


@kernel
def new_bucket(mem: Handle, threads: Word) -> Word:
    """Return where the word is; the clock is behind it."""
    return _WORD


@kernel
def acquire(mem: Handle, word: Word, thread: Word, tokens: Word) -> Flag:
    """Take tokens as `latchfree.limiting.limiter.RateLimiter.try_acquire` does."""
    ticks = np.uint64(tokens)
    if ticks > _SPAN:  # never, says the limiter before it looks
        return False
    while True:
        now = load(mem, word + _CLOCK)
        seen = bucket.take(mem, word, ticks, _SPAN, now)
        if seen == bucket.GRANTED:
            return True
        now = load(mem, word + _CLOCK)
        if bucket.refuses(seen, ticks, _SPAN, now):
            return False


@kernel
def tick(mem: Handle, word: Word, thread: Word) -> None:
    """Let time go on."""
    fetch_add(mem, word + _CLOCK, _1)


RATE_LIMITER: Final = Target(
    "rate-limiter", TokenBucketModel(BURST), {"acquire": Operation(acquire, bool), "tick": tick}, new_bucket
)
