"""Free lists beside a set of nodes: all sizes, several participants, also where memory is short."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import freelists, pieces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require, rounded

_SIZES: Final = (1, 2, 3, 5, 7, 8, 9, 12, 13, 16, 40, 68, 72, 73, 100, 128, 129, 200, 300)


def lists(world: World, seed: int) -> None:
    """Take and give; in the end every word is accounted for, and all free pieces can be gathered and scattered."""
    rng = random.Random(seed)
    small = seed % 3 == 2
    place = Place(world, 3, (layout.FIRST_NODE + (9_000 if small else 200_000)) * 8)
    mem = place.mem
    sizes = [rng.choice(_SIZES) for _ in range(4)] if seed % 2 else list(_SIZES)
    round_up, take, give = world[freelists.round_up], world[freelists.take], world[freelists.give]
    reserve = world[freelists.reserve_of](len(mem.bare))
    require(reserve == min(len(mem.bare) // 64, 1 << 16), "the reserve", reserve)
    held: list[tuple[int, int]] = []
    for _ in range(900):
        me = rng.choice(place.who[: 1 + seed % 3])
        if rng.random() < (0.6 if len(held) < 300 else 0.35):
            words, urgent = rng.choice(sizes), int(rng.random() < 0.3)
            size = round_up(words)
            require(words <= size <= max(8, 2 * words), "a class holds its words", words, size)
            before = mem.bare[int(layout.H_BUMP)]
            node = take(mem, me, size, urgent)
            if node == 0:
                require(small, "there is memory", size)
                continue
            if not urgent and mem.bare[int(layout.H_BUMP)] > before:
                most = mem.bare[int(layout.H_CAPACITY)] - reserve
                require(mem.bare[int(layout.H_BUMP)] <= most, "the reserve is kept", before)
            for k in range(size):
                mem[node + k] = node
            held.append((node, size))
        elif held:
            node, size = held.pop(rng.randrange(len(held)))
            require(all(mem[node + k] == node for k in range(size)), "nobody writes into a node in use", node)
            give(mem, me, node, size)
    place.account(held)
    _merge(world, place, held)
    for node, size in held:
        give(mem, place.who[0], node, size)
    place.account([], exact=False)


def _merge(world: World, place: Place, held: list[tuple[int, int]]) -> None:
    """Gather what is free, in two calls where room is short, and scatter it; nothing is lost."""
    mem = place.mem
    for me in place.who[1:]:
        mem.bare[me] = 0  # nobody owns these any more: their pieces are gathered, too
    free = sum(1 for at in range(layout.FIRST_NODE, mem.bare[int(layout.H_BUMP)]) if mem.marks[at])
    for room in (5, 20_000):
        starts, ends = [0] * room, [0] * room
        found = world[pieces.gather](mem.bare, place.who[0], 0, starts, ends)
        gathered = sum(ends[k] - starts[k] for k in range(found))
        require(room == 5 or gathered == free, "all that is free is gathered", gathered, free)
        require(found <= room, "arrays are not overrun", found)
        runs = sorted((starts[k], ends[k]) for k in range(found))
        require(all(a < b for a, b in runs), "pieces have words")
        merged: list[list[int]] = []
        for start, end in runs:
            if merged and merged[-1][1] == start:
                merged[-1][1] = end
            else:
                merged.append([start, end])
        world[pieces.scatter](mem.bare, place.who[0], [a for a, _ in merged], [b for _, b in merged])
        for k, me in enumerate(place.who[1:]):
            require(mem.bare[me] == 0, "a slot is given back", k)
        place.account(held, exact=False)


def _piece(gap: int) -> int:
    if gap <= 8:
        return gap
    size = min(gap, 72) // 4 * 4 if gap < 128 else 1 << min(gap, 1 << 20).bit_length() - 1
    if gap - size == 1:
        size = 72 if size > 72 else size - 4
    return size


def travelling(world: World, seed: int) -> None:
    """Of the nodes that one participant frees, those freed first are there for another one, a batch at a time."""
    for size, batch in ((1, 64), (2, 64), (5, 64), (8, 64), (12, 16), (72, 16), (128, 1), (256, 1)):
        place = Place(world, 2, (layout.FIRST_NODE + 60_000) * 8)
        mem, (one, other) = place.mem, place.who
        kind = world[freelists.size_class](size)
        nodes = [world[freelists.take](mem, one, size, 0) for _ in range(3 * batch + 1)]
        shared = int(layout.SHARED_LISTS) + kind
        for k, node in enumerate(nodes, 1):
            world[freelists.give](mem, one, node, size)
            spilled = 0 if size == 1 else (k // batch - 1) * batch if k >= 2 * batch else 0
            require(mem[one + int(layout.P_LENGTH) + kind] == k - spilled, "the rest stays", size, k)
            require((mem[shared] & (1 << 40) - 1 != 0) == (spilled > 0), "a batch has travelled", size, k)
            if spilled == batch and k == 2 * batch:
                require(mem[shared] & (1 << 40) - 1 == nodes[batch - 1], "that of the nodes freed first", size)
        place.account([])
        if size > 1:
            bump = mem.bare[int(layout.H_BUMP)]
            require(world[freelists.take](mem, other, size, 0) in nodes, "another one takes them", size)
            require(mem.bare[int(layout.H_BUMP)] == bump, "and no new memory", size)


def reserving(world: World, seed: int) -> None:
    """Reserve memory of a file before it is used: through the mapping, or a descriptor that is the arena's still."""
    asked: list[tuple[Any, ...]] = []
    answers = {"madvise": 0, "posix_fallocate": 0, "pread": 8, "identity": 0}

    def pread(descriptor: int, address: int, length: int, offset: int) -> int:
        asked.append(("pread", descriptor, length, offset))
        Raw(address)[0] = answers["identity"]
        return answers["pread"]

    def answering(name: str) -> Callable[..., int]:
        def function(*given: int) -> int:
            asked.append((name, *given))
            return answers[name]

        return function

    named = {"madvise": answering("madvise"), "posix_fallocate": answering("posix_fallocate"), "pread": pread}
    here = world.with_named(named)
    for how in ("mapping", "refused mapping", "descriptor", "refused", "another file", "short", "nothing"):
        place = Place(here, 1, (layout.FIRST_NODE + 60_000) * 8)
        mem, me = place.mem, place.who[0]
        mem[int(layout.H_IDENTITY)], answers["identity"] = 4711, 4712 if how == "another file" else 4711
        answers["madvise"] = -1 & (1 << 32) - 1 if how == "refused mapping" else 0
        answers["posix_fallocate"] = 28 if how == "refused" else 0
        answers["pread"] = 4 if how == "short" else 8
        if "mapping" in how:
            mem[me + int(layout.P_ADDRESS)], mem[me + int(layout.P_FD)] = 1 << 40, 0
        elif how != "nothing":
            mem[me + int(layout.P_FD)] = 6
        asked.clear()
        node = here[freelists.take](mem, me, 5, 0)
        require((node == 0) == how.startswith("refused"), "memory that is not to be had is not taken", how)
        require(node != 0 or mem[me + int(layout.P_BUMP)] == 0, "and nothing has changed", how)
        start, end = layout.FIRST_NODE * 8, (layout.FIRST_NODE + mem[int(layout.H_CHUNK)]) * 8
        calls = {call[0]: call[1:] for call in asked}
        require(("madvise" in calls) == ("mapping" in how), "through the mapping", how)
        if "mapping" in how:
            address, length, advice = calls["madvise"]
            require(address % 4096 == 0 and address <= (1 << 40) + start < address + 4096, "from a page on", address)
            require(address + length == (1 << 40) + end and advice == 23, "all of it", length)
        require(("posix_fallocate" in calls) == (how in ("descriptor", "refused")), "through the descriptor", how)
        if "posix_fallocate" in calls:
            require(calls["posix_fallocate"] == (5, start, end - start), "all of it", calls["posix_fallocate"])
        if "pread" in calls:
            require(calls["pread"] == (5, 8, int(layout.H_IDENTITY) * 8), "the arena's number is read")


def pieces_of_gaps(world: World, seed: int) -> None:
    """Cut gaps into pieces of classes, none of one word but where the gap has one."""
    piece_of, size_class, class_size = (
        world[kernel] for kernel in (freelists.piece_of, freelists.size_class, freelists.class_size)
    )
    for gap in [*range(1, 700), 4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20]:
        left, cuts = gap, 0
        while left:
            size = piece_of(left)
            require(0 < size <= left and class_size(size_class(size)) == size, "a piece is of a class", gap, size)
            require(size > 1 or left == 1, "no single word", gap)
            require(size == _piece(left), "the piece of a gap", left, size)
            left -= size
            cuts += 1
        require(cuts <= 22, "few pieces", gap, cuts)
    for words in range(1, 3000):
        size = world[freelists.round_up](words)
        require(size == rounded(words) and class_size(size_class(size)) == size, "classes", words, size)
        require(world[freelists.batch_of](size_class(size)) == (64 if size <= 8 else 16 if size <= 72 else 1), "batch")
