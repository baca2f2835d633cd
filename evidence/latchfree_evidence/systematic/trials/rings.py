"""Rings beside a deque: random operations, and who waits for whom."""

from __future__ import annotations

import random

from latchfree.streams.kernels import entry_points
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.ring import NUMBER, REFUSED, STALLED, Ring


def rings(world: World, seed: int) -> None:
    """Do random operations on one ring."""
    rng = random.Random(seed)
    first = rng.choice((0, 0, ALL - 6))
    ring = Ring(world, rng, shared=seed % 2 == 0, weak=seed % 4 == 3, first=first)
    for _ in range(250):
        ring.step()
    ring.end()


def stalled(world: World, seed: int) -> None:
    """Who meets a cell that somebody is not done with waits as often as asked, or in a weak ring is refused."""
    for weak in (False, True):
        for patience in (0, 1, 2, 3, 7):
            for getting in (False, True):
                ring = Ring(world, random.Random(seed), shared=True, weak=weak)
                mem, at = ring.mem, ring.at
                if getting:
                    mem[at] += 1  # a put has claimed position 0, and is not done
                    outcome, _ = ring.call(entry_points.get, ring.place.who[0], at, NUMBER, patience)
                else:
                    for _ in range(ring.cells):
                        ring.put(1)
                    mem[at + 16] += 1  # a get has claimed position 0, and is not done
                    outcome = ring.call(entry_points.put, ring.place.who[0], at, NUMBER, 1, patience)
                require(outcome == (REFUSED if weak else STALLED), "who waits", weak, patience, getting, outcome)
                ring.idle()
