"""A participant that is killed between any two writes: a word may be lost then, but is never in two places.

Example: a thread takes a new chunk, and is killed after it has written the start of the chunk and before the end. Its
successor must not find the start of the new chunk with the end of the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, epochs, freelists
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require


class Killed(BaseException):
    """The participant is killed."""


class Fuse:
    """Words that may be written so many times; with the next write the participant is killed."""

    def __init__(self, words: Any) -> None:
        self._words = words
        self.left = -1

    def __getitem__(self, at: int) -> int:
        return int(self._words[at])

    def __setitem__(self, at: int, value: int) -> None:
        if self.left == 0:
            raise Killed
        self.left -= 1
        self._words[at] = value

    def __len__(self) -> int:
        return len(self._words)


def _kill(place: Place, after: int, work: Callable[[], None]) -> bool:
    """Run some work that is killed after so many writes; return whether it was killed."""
    fuse = place.mem.bare
    fuse.left = after
    try:
        work()
    except Killed:
        return True
    finally:
        fuse.left = -1
    return False


def taking(world: World, seed: int) -> None:
    """Kill a participant while it takes and gives nodes; its successor goes on with what it finds."""
    sizes = ((5, 1024, 5, 40, 1024), (128, 128, 128), (5,) * 6, (1, 2, 512, 12))[seed % 4]
    after, killed = seed // 4, True
    while killed:
        place = Place(world, 2, (layout.FIRST_NODE + 30_000) * 8)
        mem, me = place.mem, place.who[0]
        mem.bare = Fuse(mem.bare)
        held = [(world[freelists.take](mem, me, size, 0), size) for size in sizes for _ in range(3)]
        world[freelists.take](mem, place.who[1], 5, 0)  # so that the next chunk is elsewhere
        others = [(held[k][0], held[k][1]) for k in range(1, len(held), 2)]

        def work(mem: Any = mem, me: int = me, held: list[tuple[int, int]] = held, place: Place = place) -> None:
            for k in range(0, len(held), 2):
                world[freelists.give](mem, me, *held[k])
            for size in sizes:
                world[freelists.take](mem, me, size, 0)
            for _ in range(3):
                world[freelists.take](mem, me, 1024, 0)

        killed = _kill(place, after, work)
        place.account(others, exact=False, killed=True)
        taken: list[tuple[int, int]] = []
        for size in (5, 12, 128, 5, 1024):
            taken.append((world[freelists.take](mem, me, size, 0), size))
        place.account([*others, *taken], exact=False, killed=True)
        after += 6
    require(after > 20, "there were places to be killed at", after)


def retiring(world: World, seed: int) -> None:
    """Kill a participant while it retires and frees; nothing is freed twice, and the limbo is still a queue."""
    after, killed = 0, True
    while killed:
        place = Place(world, 1, (layout.FIRST_NODE + 30_000) * 8)
        mem, me = place.mem, place.who[0]
        world[allocator.begin](mem, me, 0)
        nodes = []
        for _ in range(140):
            node = world[freelists.take](mem, me, 3, 0)
            mem[node] = 5 << 60 | 3 << 40
            nodes.append(node)
        for node in nodes[:100]:
            world[epochs.retire](mem, me, node)
        mem[int(layout.H_EPOCH)] += 3
        mem.bare = Fuse(mem.bare)

        def work(mem: Any = mem, me: int = me, nodes: list[int] = nodes) -> None:
            world[epochs.drain](mem, me, 70)
            for node in nodes[100:]:
                world[epochs.retire](mem, me, node)
            world[epochs.try_advance](mem)
            world[epochs.drain](mem, me, 1 << 62)

        killed = _kill(place, after, work)
        for _ in range(4):
            world[epochs.try_advance](mem)
        world[epochs.drain](mem, me, 1 << 62)
        require(mem[me + int(layout.P_OLDEST)] == 0, "the limbo is emptied", after)
        place.account([], exact=False, killed=True)
        after += 7
