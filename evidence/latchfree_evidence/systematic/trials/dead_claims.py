"""Claims of a ring's cells by somebody who dies: a mender passes the cells on, and nothing else is lost."""

from __future__ import annotations

import random

from latchfree.arena import layout
from latchfree.streams.kernels import entry_points
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require
from latchfree_evidence.systematic.trials.ring import NUMBER, WORD, Ring


def dead(world: World, seed: int) -> None:
    """Put or get halfway for somebody who dies there; mending passes the cell on, and nothing else is lost."""
    rng = random.Random(seed)
    ring = Ring(world, rng, shared=True, weak=False, first=rng.choice((0, ALL - 2)))
    mem, at = ring.mem, ring.at
    mender, victim = ring.place.who[0], ring.place.who[1]
    ring.shared = True
    for _ in range(40):
        for _ in range(rng.randrange(4)):
            rng.choice((lambda: ring.put(rng.randrange(100)), ring.get))()
        what = rng.choice(("put", "get", "announced", "none", "hole"))
        if what == "hole":
            _hole(ring, rng, mender)
            continue
        putting = what != "get"
        if what == "none" or (putting and len(ring.held) == ring.cells) or (not putting and not ring.held):
            require(ring.call(entry_points.mend, mender, ring.slot) == 0, "nothing to mend")
            continue
        counter = at if putting else at + 16
        position = mem[counter]
        cell = mem[at + WORD["CELLS"]] + 2 * (position & ring.cells - 1)
        mem[counter] = position + 1 & ALL  # claimed, and not passed on
        if what == "announced":
            mem[victim + int(layout.P_IN_HAND)] = cell
            require(ring.call(entry_points.mend, mender, ring.slot) == 0, "what somebody alive holds stays")
            mem[victim + int(layout.P_IN_HAND)] = 0
        if not putting:
            ring.held.popleft()
        lost_last = putting
        while ring.held and putting:
            ring.get()
        while len(ring.held) < ring.cells - 1 and (not putting or rng.random() < 0.7):
            ring.put(7)
        while ring.held and not putting and rng.random() < 0.7:
            ring.get()
        for word in ("NEWS", "ROOM"):
            ring.arm(word)
        so_far = mem[at + WORD["MENDED"]]
        mended = ring.call(entry_points.mend, mender, ring.slot)
        require(mem[at + WORD["MENDED"]] == so_far + 1, "a cell mended is counted", mem[at + WORD["MENDED"]])
        require(mended == at, "a dead claim is mended", what)
        require(not mem[at + WORD["NEWS"]] & 1 and not mem[at + WORD["ROOM"]] & 1, "sleepers are told")
        ring.idle()
        require(ring.call(entry_points.count, victim, at, NUMBER) == len(ring.held), "nothing else is lost", lost_last)
        require(ring.call(entry_points.mend, mender, ring.slot) == 0, "once")
    for _ in range(30):
        ring.put(3)
    while ring.held:
        ring.get()
    ring.free()


def _hole(ring: Ring, rng: random.Random, mender: int) -> None:
    """Kill a mender after it has made a hole, or has claimed the hole: others pass over it."""
    mem, at = ring.mem, ring.at
    while ring.held:
        ring.get()
    position = mem[at]
    cell = mem[at + WORD["CELLS"]] + 2 * (position & ring.cells - 1)
    mem[at], mem[cell] = position + 1 & ALL, position - (1 << 62) & ALL
    claimed = rng.random() < 0.5
    if claimed:
        mem[at + 16] = position + 1 & ALL
    while len(ring.held) < ring.cells - 1:
        ring.put(rng.randrange(50))
    if claimed:
        require(ring.call(entry_points.mend, mender, ring.slot) == at, "a hole that was claimed is passed on")
        ring.idle()
    ring.most = max(ring.most, ring.cells)  # a hole counts as a value
    while ring.held:
        ring.get()
    for _ in range(ring.cells + 1):
        ring.put(4)
