"""A rate limiter beside a bucket that is counted out: who gets tokens, how many are left, and how long others wait."""

from __future__ import annotations

import random
from typing import Any

from latchfree.arena import Arena
from latchfree.limiting import RateLimited, RateLimiter
from latchfree.limiting.border import BUCKET
from latchfree.limiting.limiter import SECOND, TICKS
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.sketched import CAPACITY


class _Clocked(RateLimiter):
    """A limiter whose clock is set by hand."""

    __slots__ = ()
    now = 0
    _clock = staticmethod(lambda: _Clocked.now)


def limits(world: World, seed: int) -> None:
    """Take tokens while time goes on."""
    with faces(world):
        rng = random.Random(seed)
        rate, burst = ((10.0, 5), (1e8, 1000), (0.01, 3), (1.0, 1))[seed % 4]
        when = ("reject", "shed")[seed // 4 % 2]
        arena = Arena.anonymous(CAPACITY)
        made = _Clocked(rate, burst, when_empty=when) if seed % 3 else _Clocked.create(
            arena, "calls", rate, burst, when_empty=when
        )  # fmt: skip
        cost, span = made._place.shape[:2]
        full_at, granted, refused = 0, 0, 0
        _Clocked.now = 10**15
        for _ in range(60):
            _Clocked.now += rng.randrange(3) * rng.randrange(1 + 3 * span // TICKS)
            now = _Clocked.now * TICKS
            there = max(0, now + span - max(full_at, now))
            require(made.available() == there / cost, "how many there are", made.available(), there / cost)
            tokens, reserve = rng.randint(1, burst), 0
            if rng.random() < 0.4:
                reserve = rng.randint(0, burst - tokens)
            enough = (tokens + reserve) * cost <= there
            what = rng.random()
            if what < 0.6:
                require(made.try_acquire(tokens, reserve=reserve) == enough, "who gets tokens", tokens, reserve)
            elif when == "shed":
                require(made.acquire(tokens, reserve=reserve) == enough, "who gets tokens", tokens, reserve)
            else:
                try:
                    made.acquire(tokens, reserve=reserve)
                    require(enough, "who gets tokens", tokens, reserve)
                except RateLimited as error:
                    wait = ((tokens + reserve) * cost - there) / SECOND
                    require(not enough and error.retry_after == wait, "how long one waits", error.retry_after, wait)
            full_at = max(full_at, now) + tokens * cost if enough else full_at
            granted, refused = granted + enough * tokens, refused + (not enough) * tokens
            counts = made.counts()
            require((counts.granted, counts.refused) == (granted, refused), "what is counted", counts)
        arena.close()


def other_boots(world: World, seed: int) -> None:
    """Find a word of another boot, whose clock had gone further: the bucket begins empty."""
    with faces(world):
        made, steps = _Clocked(1.0, 4), world.stepping()
        _Clocked.now = 10**9
        span = made._place.shape[1]
        now = _Clocked.now * TICKS
        made._place.cells[0] = now + span + 1
        require(not made.try_acquire(), "nobody knows how long that is ago")
        require(made._place.cells[0] == now + span, "the word is set back")
        _Clocked.now += 10**9
        require(made.try_acquire() and not made.try_acquire(), "a token has come in")

        def scene(before: int) -> bool:
            place = made._place
            place.cells[0] = seen = now + 9 * span
            kernel: Any = BUCKET.calls["set_back"]
            call = Halted(steps, kernel.kernel, Raw(place.base), 0, place.root, place.number, seen, now + span)
            more = call.run(before)
            place.cells[0] = min(int(place.cells[0]), now + 2 * span)  # another one has set it back further
            require(call.finish() == 1, "it was there")
            require(place.cells[0] in (now + 2 * span, now + span), "whoever is first sets it back", before)
            require(more is False or place.cells[0] == now + 2 * span, "and not the second one", before)
            return more

        everywhere(scene, 2)


def numbers(world: World, seed: int) -> None:
    """Ask whether a bucket refuses, at and around the very tick."""
    from latchfree.limiting.kernels.bucket import refuses

    function = world[refuses]
    for seen in (90, 100, 103, 110):
        for ticks in (1, 7, 10):
            for span in (7, 10, 20):
                require(function(seen, ticks, span, 100) == (max(seen, 100) + ticks > 100 + span), "who is refused")
