"""Rings beside a deque: random operations, values that are blocks of bytes, and who waits for whom."""

from __future__ import annotations

import random

from latchfree.arena import layout
from latchfree.streams.kernels import entry_points, payload
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require, rounded
from latchfree_evidence.systematic.trials.ring import NUMBER, REFUSED, STALLED, WORD, Ring


def rings(world: World, seed: int) -> None:
    """Do random operations on one ring."""
    rng = random.Random(seed)
    first = rng.choice((0, 0, ALL - 6))
    ring = Ring(world, rng, shared=seed % 2 == 0, weak=seed % 4 == 3, first=first)
    for _ in range(250):
        ring.step()
    ring.end()


def blocks(world: World, seed: int) -> None:
    """Values that are blocks of bytes: those left in a ring are freed with it."""
    rng = random.Random(seed)
    ring = Ring(world, rng, shared=seed % 2 == 0, weak=False, first=(0, 0, ALL - 60, ALL - 60)[seed % 4])
    ring.mem[ring.at + WORD["PAYLOAD"]] = 1
    me = ring.place.who[0]
    held = []
    for size in rng.sample((0, 1, 7, 8, 9, 15, 16, 55, 56, 57, 500), 9):
        before = sum(ring.mem[each + int(layout.P_LIVE)] for each in ring.place.who) & ALL
        block = ring.call(payload.take_block, me, size)
        require(block, "there is memory")
        words_ = 1 + (size + 7) // 8
        live = sum(ring.mem[each + int(layout.P_LIVE)] for each in ring.place.who) & ALL
        require(live - before == rounded(words_), "a block is as large as it must be", size, live - before)
        for k in range(words_):
            ring.mem[block + k] = k
        ring.mem[block] = size
        held.append(block)
    while held:
        if rng.random() < 0.6 and len(ring.held) < ring.cells:
            ring.put(held.pop())
        elif ring.held:
            ring.counts["REFUSED_GETS"] += 0
            oldest = ring.held[0]
            ring.get()
            ring.call(payload.free_block, me, oldest)
    if rng.random() < 0.5:
        ring.call(entry_points.shut, ring.me(), ring.at, NUMBER)
        ring.shut = True
    ring.free()


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
