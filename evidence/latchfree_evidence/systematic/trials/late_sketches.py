"""A call of a sketch that is stopped before each of its accesses, and what others find meanwhile.

Example: an add stands before its last access. If it has counted its item already, then somebody who copies the sketch
now has the item, too: what is counted is in the cells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from latchfree.arena import Arena, layout
from latchfree.border import Call
from latchfree.sketches import KLL, CountingBloom
from latchfree.sketches.border import SKETCH
from latchfree.sketches.kernels import lanes as w
from latchfree.sketches.kernels import record
from latchfree.sketches.kernels.compacting import room_at
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.sketch_lives import CAPACITY, calls_of


def counted(world: World, seed: int) -> None:
    """Stop each add and each merge: what is counted is in the cells."""
    steps = world.stepping()
    with faces(world):
        arena = Arena.anonymous(CAPACITY)
        words = arena.words
        for name, border, place, given in calls_of(arena):
            if ("add" not in name and "merge" not in name) or border is not SKETCH:
                continue
            call, kernel = border.calls[name], border.calls[name].kernel  # type: ignore[union-attr]
            assert isinstance(call, Call)
            first = place.root + int(record.FIRST_CELL)
            count = int(words[place.root + int(record.CELLS)])
            if name == "top_add":  # the counters, and not the hints in the table
                count = place.shape[0] * place.shape[1]
            cells = slice(first, first + count)
            running = Halted(steps, kernel, Raw(arena.base), 0, place.root, place.number, *given)
            found: Any = None
            while running.access is not None:
                if found is None and words[place.root + int(record.ADDED)]:
                    found = words[cells].copy()
                running.step()
            found = words[cells].copy() if found is None else found
            lane = name.startswith("kll")  # whose holder's word is among the cells
            require(lane or (found == words[cells]).all(), "what is counted is in the cells", name)
        arena.close()


def removes(world: World, seed: int) -> None:
    """Stop a remove, and remove another item of the same cells meanwhile: nothing is left in the end."""
    steps = world.stepping()
    with faces(world):

        def scene(before: int) -> bool:
            made = CountingBloom(2, 0.3)
            made.add("tea")
            made.add("tea")
            place = made._place
            h = int(_hashes(made, "tea"))
            call = Halted(steps, SKETCH.calls["counting_remove"].kernel, _memory(place), 0, place.root, place.number, h)  # type: ignore[union-attr]
            more = call.run(before)
            require(made.remove("tea"), "one of two is there")
            require(call.finish() == 1, "and so is the other")
            require(not any(place.cells.tolist()), "nothing is left")
            return more

        everywhere(scene, 4)


def reads(world: World, seed: int) -> None:
    """Stop a writer of KLL: a reader finds all items of before, and maybe those of the call, each once."""
    steps = world.stepping()
    name, room, held = (("kll_add", 9, 8), ("kll_add_many", 9, 17), ("kll_absorb", 10, 12), ("kll_absorb", 9, 0))[seed]
    with faces(world):
        written = 8 if name == "kll_absorb" else 1

        def scene(before: int) -> bool:
            made = KLL(3**0.5 / room, writers=1, seed=2)
            made.add_many([float(k) for k in range(held)])
            place = made._place
            items = View(np.arange(1 << 63, (1 << 63) + written, dtype=np.uint64))
            more = {
                "kll_add": (1 << 63,),
                "kll_add_many": (items,),
                "kll_absorb": (1, View(np.array([1 << 63, (1 << 63) + 99], np.uint64)), items),
            }[name]
            call = Halted(steps, SKETCH.calls[name].kernel, _memory(place), 0, place.root, place.number, 1, *more)  # type: ignore[union-attr]
            goes_on = call.run(before)
            weight = 2 * written if name == "kll_absorb" else written
            require(made.count in (held, held + weight), "a reader finds all or none", made.count)
            require(held == 0 or made.least in (0.0, -0.0) or made.count > held, "and the least item", made.count)
            require(call.finish() == 1, "the call is done")
            require(made.count == held + weight, "all are there in the end", made.count)
            return goes_on

        everywhere(scene, 5)


def _memory(place: Any) -> Raw:
    return Raw(place.base)


def _hashes(made: Any, item: str) -> int:
    from latchfree.sketches.common.items import hash_of

    return int(hash_of(item, made.seed))


def rooms(world: World, seed: int) -> None:
    """Ask for the room of levels: two thirds of that of the level above, rounded up, and none less than 8."""
    for room in range(8, 70):
        wanted = room
        for depth in range(9):
            require(world[room_at](depth, room) == wanted, "the room of a level", room, depth)
            wanted = max(-(-2 * wanted // 3), 8)


def lanes(world: World, seed: int) -> None:
    """Claim lanes that are free, held, or left by somebody who is in no call any more."""
    place = Place(world, 3, (layout.FIRST_NODE + 8000) * 8)
    mem, (one, other, third) = place.mem, place.who
    at, room = world[record.create](mem, one, 4096), 9
    mem[at + int(w.ROOM)], mem[at + int(w.LANES)] = room, 2
    claim, release, size = world[w.claim], world[w.release], world[w.lane_words](room)
    first = at + int(record.FIRST_CELL)
    require(world[w.work_at](first, room) == first + size - 7 * room, "the place to work in is the end of a lane")
    for who, pinned in ((0, ()), (one, (one, other))):
        for each in pinned:
            place.pin(each)
        names = (who, other, third) if who else (0, 0, 0)
        require(claim(mem, names[0], at, 5) == first, "the first lane is free")
        require(mem[first] >> 32 == (who or 5), "its owner is noted", mem[first])
        ticket = mem[first]
        require(claim(mem, names[1], at, 5) == first + size, "the first is held, the second is free")
        require(mem[first + size] & 0xFFFFFFFF != ticket & 0xFFFFFFFF, "no two claims are the same")
        require(claim(mem, names[2], at, 5) == 0, "both are held")
        if who:
            place.unpin(one)
        require(claim(mem, names[2], at, 6) == first, "the first is left by who is in no call any more")
        require(mem[first] >> 32 == (third if who else 6), "its owner is another one", mem[first])
        release(mem, first)
        release(mem, first + size)
        require(mem[first] == mem[first + size] == 0, "both are free")
        if who:
            place.unpin(other)


def owned(world: World, seed: int) -> None:
    """Stop a writer of KLL at each write: it holds the lane that it writes to."""
    steps = world.stepping()
    name, held = (("kll_add", 3), ("kll_add", 8), ("kll_add_many", 8), ("kll_absorb", 8))[seed]
    with faces(world):
        made = KLL(3**0.5 / 9, writers=1, seed=2)
        made.add_many([float(k) for k in range(held)])
        place = made._place
        items = View(np.arange(1 << 63, (1 << 63) + 2, dtype=np.uint64))
        more = {"kll_add": (1 << 63,), "kll_add_many": (items,), "kll_absorb": (1, items, items)}[name]
        kernel: Any = SKETCH.calls[name]
        call = Halted(steps, kernel.kernel, _memory(place), 0, place.root, place.number, 1, *more)
        lane, written = place.root + int(record.FIRST_CELL), 0
        while call.access is not None:
            if call.access[0] == "store" and call.access[2] > lane:
                written += 1
                require(place.cells[0] != 0, "who writes holds the lane", call.access)
            call.step()
        require(written > 1 and place.cells[0] == 0, "the lane is given back", written)
