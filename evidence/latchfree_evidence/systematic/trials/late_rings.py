"""Who is late with a ring: a call stops before one of its accesses, and others give the ring back, mend it or shut it.

Example: a thread gives a ring back. It has noted the epoch, and stops before the ring refuses calls. Another thread
comes in meanwhile, in a later epoch, and is in its call when the ring is freed. So the epoch is noted afterwards.
"""

from __future__ import annotations

import random
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import epochs
from latchfree.streams.kernels import entry_points, parking
from latchfree.streams.kernels import layout as words
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import ALL, Place, require
from latchfree_evidence.systematic.trials.ring import NUMBER, SHUT, STALLED, Ring

_NUMBER, _NEWS, _DROPPED = int(words.NUMBER), int(words.NEWS), int(words.DROPPED)
_CELLS, _MENDED = int(words.CELLS), int(words.MENDED)
_OWNED: Final = int(layout.H_OWNED)
_DONE = 0


def _ring(world: World, values: int = 0) -> Ring:
    ring = Ring(world, random.Random(0), shared=True, weak=False)
    for value in range(values):
        ring.put(value)
    ring.mem.tolerated = {ring.at + _NUMBER}
    return ring


def _gone(ring: Ring) -> None:
    """Free a ring that was given back, now that nobody is in a call."""
    for _ in range(4):
        ring.call(epochs.try_advance)
    ring.call(entry_points.sweep, ring.place.who[0], ring.identity)
    require(ring.mem[ring.slot] == 0, "a ring that was given back is freed")
    ring.place.account([(ring.mem[_OWNED], 128)])


def calls(world: World, seed: int) -> None:
    """Stop any call of a ring anywhere; meanwhile the ring is given back, and freed as soon as can be."""
    steps = world.stepping()
    for kernel, more in (
        (entry_points.note, (_DROPPED,)),
        (entry_points.put, (5, ALL)),
        (entry_points.get, (ALL,)),
        (entry_points.arm, (_NEWS,)),
        (entry_points.count, ()),
        (entry_points.shut, ()),
    ):

        def scene(before: int, kernel: Any = kernel, more: tuple[int, ...] = more) -> bool:
            ring = _ring(world, 1)
            call = Halted(steps, kernel, ring.mem, ring.place.who[1], ring.at, NUMBER, *more)
            goes_on = call.run(before)
            ring.call(entry_points.drop, ring.place.who[0], ring.slot)
            for _ in range(4):
                ring.call(epochs.try_advance)
                ring.call(entry_points.sweep, ring.place.who[0], ring.identity)
            call.finish()
            _gone(ring)
            return goes_on

        everywhere(scene, 5)


def drops(world: World, seed: int) -> None:
    """Stop the giving back of a ring anywhere; meanwhile the epoch advances, and somebody begins a call."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        ring = _ring(world, 1)
        drop = Halted(steps, entry_points.drop, ring.mem, ring.place.who[0], ring.slot)
        more = drop.run(before)
        ring.call(epochs.try_advance)
        put = Halted(steps, entry_points.put, ring.mem, ring.place.who[1], ring.at, NUMBER, 5, ALL)
        put.until("load_seq", ring.at + _NUMBER)
        put.step()
        drop.finish()
        for _ in range(3):
            ring.call(epochs.try_advance)
            ring.call(entry_points.sweep, ring.place.who[0], ring.identity)
        put.finish()
        _gone(ring)
        return more

    everywhere(scene, 8)


def first_tables(world: World, seed: int) -> None:
    """Stop the making of a ring anywhere; meanwhile another one is made, and both are found in the roster."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        place = Place(world, 2, (layout.FIRST_NODE + 8_000) * 8)
        mem, (one, other) = place.mem, place.who
        call = Halted(steps, entry_points.create, mem, one, 5, 1, 1, 0)
        more = call.run(before)
        found = [world[entry_points.create](mem, other, 6, 2, 1, 0), call.finish()]
        tables: list[tuple[int, int]] = []
        table = mem[_OWNED]
        while table:
            require(len(tables) < 3, "the chain of tables ends")
            tables.append((table, 128))
            table = mem[table]
        for opening, (at, slot) in zip((6, 5), found, strict=True):
            require(any(table < slot < table + 128 for table, _ in tables), "a slot is in the roster", opening)
            require(mem[slot] == opening and mem[slot + 1] == at, "a slot has owner and ring", opening)
        for me, (_, slot) in zip((other, one), found, strict=True):
            world[entry_points.drop](mem, me, slot)
        place.account(tables)
        return more

    everywhere(scene, 4)


def _dead_claim(ring: Ring, getting: bool) -> None:
    """Claim a position for somebody who dies; what was got is lost, and the others wait for the cell."""
    mem, at = ring.mem, ring.at
    counter = at + 16 if getting else at
    mem[counter] = mem[counter] + 1 & ALL
    if getting:
        ring.held.popleft()
        while len(ring.held) < ring.cells - 1:
            ring.put(7)


def menders(world: World, seed: int) -> None:
    """Stop a mender anywhere, or kill it; meanwhile another one mends: a cell is mended once, and is in use again."""
    steps = world.stepping()
    for getting in (False, True):
        for killed in (False, True):

            def scene(before: int, getting: bool = getting, killed: bool = killed) -> bool:
                ring = _ring(world, 2 if getting else 0)
                me = ring.place.who[1]
                _dead_claim(ring, getting)
                so_far = ring.mem[ring.at + _MENDED]
                mend = Halted(steps, entry_points.mend, ring.mem, me, ring.slot)
                more = mend.run(before)
                if killed:
                    ring.mem[me + int(layout.P_IN_HAND)] = 0  # as whoever finds it dead does
                    ring.world[epochs.unpin](ring.mem, me)
                ring.call(entry_points.mend, ring.place.who[0], ring.slot)
                if not killed:
                    mend.finish()
                    require(ring.mem[ring.at + _MENDED] == so_far + 1, "a cell is mended once", getting)
                ring.most = max(ring.most, ring.cells)
                while ring.held:
                    ring.get()
                for value in range(2 * ring.cells):
                    if killed:  # he may have left a cell that nobody has waited for yet
                        ring.call(entry_points.mend, ring.place.who[0], ring.slot)
                    ring.put(value)
                    ring.get()
                ring.idle()
                ring.free()
                return more

            everywhere(scene, 8)


def tellers(world: World, seed: int) -> None:
    """Stop who wakes sleepers anywhere; meanwhile others sleep and wake: the word they sleep on never goes back."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        ring = _ring(world)
        word = ring.at + _NEWS
        ring.arm("NEWS")
        call = Halted(steps, parking.tell, ring.mem, word)
        more = call.run(before)
        for _ in range(2):
            ring.call(parking.tell, word)
            ring.arm("NEWS")
        now = ring.mem[word]
        require(call.finish(), "sleepers are to be woken")
        require(ring.mem[word] >= now, "the word never goes back", ring.mem[word], now)
        return more

    everywhere(scene, 2)


def shutdowns(world: World, seed: int) -> None:
    """Stop a shutdown anywhere; meanwhile a value is put and got: in the end the ring is shut all the same."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        ring = _ring(world)
        call = Halted(steps, entry_points.shut, ring.mem, ring.place.who[1], ring.at, NUMBER)
        more = call.run(before)
        me = ring.place.who[0]
        if ring.call(entry_points.put, me, ring.at, NUMBER, 5, 0) & ~8 == _DONE:
            require(ring.call(entry_points.get, me, ring.at, NUMBER, 0)[0] & ~8 == _DONE, "what was put is got")
        call.finish()
        require(ring.call(entry_points.put, me, ring.at, NUMBER, 5, 0) == SHUT, "a ring that was shut down takes none")
        ring.free()
        return more

    everywhere(scene, 8)


def last_put(world: World, seed: int) -> None:
    """Shut a ring down while a put is under way: a get waits for the value, and is not told that there are no more."""
    ring = _ring(world)
    me, mem, at = ring.place.who[0], ring.mem, ring.at
    put = Halted(world.stepping(), entry_points.put, mem, ring.place.who[1], at, NUMBER, 5, ALL)
    put.until("cas", at)
    put.step()
    ring.call(entry_points.shut, me, at, NUMBER)
    require(ring.call(entry_points.get, me, at, NUMBER, 3) == (STALLED, 0), "a get waits for what is being put")
    put.finish()
    require(ring.call(entry_points.get, me, at, NUMBER, 3) == (_DONE, 5), "and gets it")
    require(ring.call(entry_points.get, me, at, NUMBER, 3) == (SHUT, 0), "and then there are no more")
    ring.free()
