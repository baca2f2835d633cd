"""The roster of rings: more rings than a table has slots, owners that die, and rings that do not fit."""

from __future__ import annotations

from latchfree.arena import layout
from latchfree.arena.kernels import freelists
from latchfree.streams.kernels import entry_points, payload
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.ring import WORD


def many_rings(world: World, seed: int) -> None:
    """More rings than a table of the roster has slots; slots are used again, and dead owners' are taken over."""
    place = Place(world, 2, (layout.FIRST_NODE + 60_000) * 8)
    mem, me = place.mem, place.who[0]
    create, drop, adopt = world[entry_points.create], world[entry_points.drop], world[entry_points.adopt]
    made = [create(mem, me, 5, 1, 1, 0)]
    table = mem[int(layout.H_OWNED)]
    require(not any(mem[table + k] for k in range(4, 128)), "the other slots of a new table are free")
    made += [create(mem, me, 5, k + 1, 1, 0) for k in range(1, 126)]
    require(len({slot for _, slot in made}) == len({at for at, _ in made}) == 126, "rings and slots are distinct")
    for at, slot in made:
        require(mem[slot] == 5 and mem[slot + 1] == at, "a slot has owner and ring")
    for _, slot in made[::2]:
        drop(mem, me, slot)
    more = [create(mem, me, 6, 1000 + k, 3, 0) for k in range(63)]
    used = {slot for _, slot in made[1::2]}
    require(len({slot for _, slot in more} - used) == 63, "a slot has one ring")
    table, count = mem[int(layout.H_OWNED)], 0
    while table:
        table, count = mem[table], count + 1
        require(all((slot - table) % 2 == 0 for _, slot in made if table), "slots are where they are documented to be")
    require(count == 2, "free slots are used before another table is made", count)
    at, slot = made[1]
    adopt(mem, slot, 9, 6)
    require(mem[slot] == 5 and mem[at + WORD["NUMBER"]] == 2, "nobody takes over a slot of somebody else")
    for at, slot in made[1::2]:
        adopt(mem, slot, 5, 6)
        require(mem[slot] == 6 and mem[at + WORD["NUMBER"]] == 0, "a dead owner's ring takes no calls")
    require(all(mem[at + WORD["NUMBER"]] for at, _ in more), "others do")
    for _ in range(4):
        world[entry_points.sweep](mem, me, 6)
    require(all(mem[slot] == 0 for _, slot in made[1::2]), "it is swept")
    for _, slot in more:
        drop(mem, me, slot)
    tables, table = [], mem[int(layout.H_OWNED)]
    while table:
        tables.append((table, 128))
        table = mem[table]
    place.account(tables)


def no_room(world: World, seed: int) -> None:
    """Make rings that do not fit: they leave nothing behind."""
    place = Place(world, 1, (layout.FIRST_NODE + 5000) * 8)
    mem, me = place.mem, place.who[0]
    ordinary = mem.bare[int(layout.H_CAPACITY)] - world[freelists.reserve_of](mem.bare[int(layout.H_CAPACITY)])
    bump, mem[int(layout.H_BUMP)] = mem[int(layout.H_BUMP)], ordinary - 64
    require(world[entry_points.create](mem, me, 8, 1, 1, 0) == (0, 0), "no room for a table")
    require(mem[int(layout.H_OWNED)] == 0 and mem[int(layout.H_BUMP)] == ordinary - 64, "no table in the reserve")
    mem[int(layout.H_BUMP)] = bump
    for identity in (0, 8):
        for mask in (4095, 2047, 1023):
            require(world[entry_points.create](mem, me, identity, 1, mask, 0) == (0, 0), "no room", mask)
    ordinary = mem.bare[int(layout.H_CAPACITY)] - world[freelists.reserve_of](mem.bare[int(layout.H_CAPACITY)])
    held: list[int] = []
    size, own = 0, [0]
    while world[payload.take_block](mem, me, 8 * 70, own):
        held.append(own[0])
    require(own[0] == held[-1], "where there is no room for a block, there is none")
    require(len(held) > 10 and mem.bare[int(layout.H_BUMP)] <= ordinary, "a block takes none of the reserve", len(held))
    for identity in (0, 8):
        require(world[entry_points.create](mem, me, identity, 1, 127, 0) == (0, 0), "no room for a ring's words")
        require(mem.bare[int(layout.H_BUMP)] <= ordinary, "a ring takes none of the reserve", size)
    world[payload.free_blocks](mem, me, held)
    require(not any(held), "blocks that are free are not had any more")
    table = mem[int(layout.H_OWNED)]
    require(all(mem[table + 2 + 2 * k] == 0 for k in range(63)), "slots are given back")
    place.account([(table, 128)])
