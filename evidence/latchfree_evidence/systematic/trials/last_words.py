"""The last words of an arena: who may take them, what is cut up for them, and attempts that find none."""

from __future__ import annotations

from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, blocks, freelists, participants, pieces
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.tries import spares

_BUMP, _CAPACITY, _LIMIT = int(layout.H_BUMP), int(layout.H_CAPACITY), int(layout.P_LIMIT)
_SPARES = int(layout.P_SPARE_COUNT)


def _place(world: World, count: int = 1) -> tuple[Place, Any, int]:
    place = Place(world, count, (layout.FIRST_NODE + 60_000) * 8)
    return place, place.mem, place.who[0]


def limits(world: World, seed: int) -> None:
    """Take exactly what is left, for an ordinary attempt and for an urgent one."""
    take = world[freelists.take]
    for urgent in (0, 1):
        _, mem, me = _place(world)
        capacity, chunk = mem[_CAPACITY], mem[int(layout.H_CHUNK)]
        ordinary = capacity - world[freelists.reserve_of](capacity)
        mem[_BUMP] = ordinary - chunk
        require(take(mem, me, 8, urgent) == ordinary - chunk and mem[me + _LIMIT] == ordinary, "a whole chunk fits")
        _, mem, me = _place(world)
        mem[_BUMP] = ordinary - 16
        require(take(mem, me, 16, urgent) == ordinary - 16 and mem[_BUMP] == ordinary, "the last ordinary words")
        node = take(mem, me, 16, urgent)
        require((node != 0) == bool(urgent), "the reserve is for urgent attempts", urgent, node)
        mem[_BUMP] = capacity - 12
        node = take(mem, me, 12, urgent)
        require((node == capacity - 12) == bool(urgent), "the last words of all", urgent, node)
        require(take(mem, me, 12, urgent) == 0 and mem[_BUMP] <= capacity, "there are no more")


def in_line(world: World, seed: int) -> None:
    """Take from chunks: a lone participant wastes nothing, and a chunk is used to its end."""
    place, mem, me = _place(world)
    take = world[freelists.take]
    first = take(mem, me, 100, 0)
    for k in range(1, 60):
        require(take(mem, me, 100, 0) == first + 100 * k, "chunks of a lone participant continue each other", k)
    place, mem, me = _place(world, 2)
    chunk = mem[int(layout.H_CHUNK)]
    take(mem, me, 128, 0)
    take(mem, place.who[1], 5, 0)
    bump = mem[_BUMP]
    for _ in range(chunk // 128 - 1):
        take(mem, me, 128, 0)
    require(mem[_BUMP] == bump, "a chunk is used to its end")
    take(mem, me, 128, 0)
    require(mem[_BUMP] > bump, "and then another")


def crumbs(world: World, seed: int) -> None:
    """Cut larger free nodes where nothing else is left: the largest becomes a chunk, else the smallest is split."""
    take, give = world[freelists.take], world[freelists.give]
    for sizes, wanted, cut in (
        ((256, 128), 8, 256), ((128, 256), 8, 256), ((128,), 200, 0), ((128,), 72, 128), ((512, 256), 256, 256),
        ((20, 40), 16, 20), ((40, 20), 16, 20), ((8,), 7, 8), ((2,), 1, 2), ((72,), 68, 72), ((16,), 20, 0),
        ((12, 72), 12, 12), ((1024,), 512, 1024), ((128, 72), 40, 128),
    ):  # fmt: skip
        _, mem, me = _place(world)
        nodes = {size: take(mem, me, size, 0) for size in sizes}
        mem[_BUMP] = mem[_CAPACITY]
        bump, limit = mem[me + int(layout.P_BUMP)], mem[me + _LIMIT]
        mem[me + int(layout.P_BUMP)] = limit
        for size in sizes:
            give(mem, me, nodes[size], size)
        node = take(mem, me, wanted, 0)
        require(node == (nodes[cut] if cut else 0), "the node to cut", sizes, wanted, node, nodes, bump)
        if cut >= 128 and cut != wanted:
            require(mem[me + _LIMIT] == node + cut, "its rest is a chunk", sizes, wanted)
        left = [each for each in sizes if each != cut]
        for size in left:
            require(take(mem, me, size, 0) == nodes[size], "the others stay whole", sizes, wanted, size)


def stock(world: World, seed: int) -> None:
    """Begin and allocate where memory has run out: only urgent attempts go on, and what they have is the stock."""
    begin, allocate = world[allocator.begin], world[allocator.allocate]
    for count in range(15):
        _, mem, me = _place(world)
        mem[me + int(layout.P_SCRATCH_LIST)] = 4711  # as a dead owner may leave it
        require(begin(mem, me, 0) and mem[me + _SPARES] == 14, "an attempt has a stock of blocks")
        for _ in range(14 - count):
            world[blocks.take_spare](mem, me)
        mem[_BUMP] = mem[_CAPACITY]
        mem[me + int(layout.P_BUMP)] = mem[me + _LIMIT]
        require(bool(begin(mem, me, 0)) == (count >= 14), "an ordinary attempt is refused", count)
        require(bool(begin(mem, me, 1)) == (count >= 6), "an urgent one needs as many as a commit may retire", count)
        require(world[blocks.stock_spares](mem, me, 6, 1) == (count >= 6), "there are no more", count)
        for size, urgent in ((20, 0), (128, 0), (200, 0), (20, 1), (68, 1), (72, 1)):
            begin(mem, me, urgent)
            had = mem[me + _SPARES]
            for kind in range(92):
                mem[me + int(layout.P_FREE) + kind] = mem[me + int(layout.P_LENGTH) + kind] = 0
            live, node = mem[me + int(layout.P_LIVE)], allocate(mem, me, size)
            if urgent and size <= 68 and had > 6:
                require(node >= layout.FIRST_NODE and mem[me + _SPARES] == had - 1, "a block is a node", size, count)
                rest = 68 - size
                require(mem[me + int(layout.P_LIVE)] == live - rest, "its rest is free", size)
                if rest:
                    require(mem[me + int(layout.P_FREE) + 47] == node + size, "its rest is on a list", size)
                require(not world[allocator.failed](mem, me), "the attempt goes on")
                require(mem[me + int(layout.P_JOURNALLED)] == 1, "and notes the node")
                mem[node] = 5 << 60 | size << 40
                world[allocator.undo](mem, me)
                require(mem[me + int(layout.P_JOURNALLED)] == 0, "what is undone is noted no more")
            else:
                sink = me + int(layout.P_SINK)
                require(node == (sink if size <= 128 else 0), "the sink takes what nobody reads", size, urgent, node)
                require(mem[me + _SPARES] == had and world[allocator.failed](mem, me), "the attempt has failed")


def inheritance(world: World, seed: int) -> None:
    """Leave one thing in a slot that nobody owns: whoever collects inherits it."""
    for what in ("limbo", "deferred", "holder", "spare", "nothing"):
        for dead in range(3):
            place, mem, _ = _place(world, 3)
            me, slot = place.who[(dead + 1) % 3], place.who[dead]
            node = world[freelists.take](mem, slot, 3, 0)
            mem[node], mem[node + 1] = 12 << 60 | 3 << 40, 0
            for at in (layout.P_OLDEST, layout.P_DEFERRED, layout.P_HOLDERS, layout.P_SPARE_COUNT):
                mem[slot + int(at)] = 0
            if what == "limbo":
                block = world[blocks.new_block](mem, slot, 4)
                world[blocks.append](mem, block, node | 3 << 40)
                mem[block + 3] = 0
                mem[slot + int(layout.P_OLDEST)] = mem[slot + int(layout.P_NEWEST)] = block
                mem[block + 1] = 0
                mem[int(layout.H_EPOCH)] += 4
            elif what == "spare":
                block = world[freelists.take](mem, slot, 68, 0)
                world[blocks.keep_spare](mem, slot, block)
            elif what != "nothing":
                field = layout.P_DEFERRED if what == "deferred" else layout.P_HOLDERS
                mem[slot + int(field)] = node
                mem[node] = 0 if what == "deferred" else mem[node]
            world[participants.release](mem, slot, mem[slot])
            world[participants.collect](mem, me)
            require(mem[slot] == 0, "the slot is free again")
            require(mem[me + int(layout.P_DEFERRED)] == (node if what == "deferred" else 0), "a thing", what, dead)
            require(mem[me + int(layout.P_HOLDERS)] == (node if what == "holder" else 0), "a holder", what, dead)
            require(bool(mem.marks[node]) == (what == "limbo"), "a node of a limbo is freed", what, dead)
            require(not spares(mem, slot), "spare blocks are freed", what, dead)
            if what == "spare":
                require(mem.marks[block], "spare blocks are freed", dead)


def gathering(world: World, seed: int) -> None:
    """Gather what the caller's other slot has, its spare blocks, and what slots without owner have."""
    for caller in range(3):
        place, mem, _ = _place(world, 3)
        me, other, dead = (place.who[(caller + k) % 3] for k in range(3))
        for who in place.who:
            require(world[allocator.begin](mem, who, 0), "there is memory")
        free = sum(mem.marks[layout.FIRST_NODE : mem[_BUMP]])
        words = 14 * 68
        mem.bare[dead] = 0
        starts, ends = [0] * 2000, [0] * 2000
        found = world[pieces.gather](mem.bare, me, other, starts, ends)
        gathered = sum(ends[k] - starts[k] for k in range(found))
        require(gathered == free + words, "the spare blocks of the other slot are gathered, too", gathered, free)
        require(mem.bare[dead] == 0 and mem.bare[other] != 0, "slots keep their owners")
        require(spares(mem, other) == [] and len(spares(mem, me)) == len(spares(mem, dead)) == 14, "the caller's stay")


class _Sparse(dict[int, int]):
    """The words of an arena of gigabytes: those that were never written are 0."""

    def __missing__(self, at: int) -> int:
        return 0


def largest(world: World, seed: int) -> None:
    """Use free nodes of the largest class there is, 512 MB: as a chunk, and where pieces are gathered."""
    words, kind, node, me = 1 << 26, int(freelists.CLASSES) - 1, 1 << 27, int(layout.PARTICIPANTS)

    def arena(at: int) -> Any:
        mem: Any = _Sparse({_BUMP: 1 << 28, _CAPACITY: 1 << 28, int(layout.H_CLAIMED): 1, me: 1 << 16})
        mem[at + kind] = node
        return mem

    mem = arena(me + int(layout.P_FREE))
    mem[me + int(layout.P_LENGTH) + kind] = 1
    require(world[freelists.take](mem, me, 8, 0) == node, "the node is a chunk now")
    require(mem[me + _LIMIT] == node + words, "all of it", mem[me + _LIMIT])
    for at in (me + int(layout.P_FREE), int(layout.SHARED_LISTS)):
        starts, ends = [0] * 9, [0] * 9
        found = world[pieces.gather](arena(at), me, 0, starts, ends)
        require((found, starts[0], ends[0]) == (1, node, node + words), "the node is gathered", at, found)
