"""A participant that is killed between any two writes: a word may be lost then, but is never in two places.

Example: a thread takes a new chunk, and is killed after it has written the start of the chunk and before the end. Its
successor must not find the start of the new chunk with the end of the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree.arena import layout
from latchfree.arena.kernels import allocator, epochs, freelists
from latchfree.ctrie.kernels import entry_points, insert
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import Place, require
from latchfree_evidence.systematic.trials.tries import KINDS, Trial, Trie


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
    after, killed = seed, True
    while killed:
        place = Place(world, 1, (layout.FIRST_NODE + 30_000) * 8)
        mem, me = place.mem, place.who[0]
        world[allocator.begin](mem, me, 0)
        nodes = []
        for _ in range(140):
            node = world[freelists.take](mem, me, 3, 0)
            mem[node] = 5 << 60 | 3 << 40
            nodes.append(node)
        last = nodes.pop()
        for node in nodes[:100]:
            world[epochs.retire](mem, me, node)
        mem[int(layout.H_EPOCH)] += 3
        mem.bare = Fuse(mem.bare)

        def work(mem: Any = mem, me: int = me, nodes: list[int] = nodes) -> None:
            world[epochs.drain](mem, me, 70)
            for node in nodes[100:]:
                world[epochs.retire](mem, me, node)
            for _ in range(3):
                world[epochs.try_advance](mem)
            world[epochs.drain](mem, me, 1 << 62)

        header = [mem[k] for k in range(8)]
        killed = _kill(place, after, work)
        world[epochs.retire](mem, me, last)
        for _ in range(4):
            world[epochs.try_advance](mem)
        world[epochs.drain](mem, me, 1 << 62)
        require(mem.marks[last], "what the successor retires is freed", after)
        require(header == [mem[k] for k in range(8)], "no words are written that are no node's", after)
        require(mem[me + int(layout.P_OLDEST)] == 0, "the limbo is emptied", after)
        place.account([], exact=False, killed=True)
        after += 7


def recycling(world: World, seed: int) -> None:
    """Kill a participant whose next chunk is a free node, in front of the old chunk: they are never taken for one."""
    after, killed = 0, True
    while killed:
        place = Place(world, 1, (layout.FIRST_NODE + 30_000) * 8)
        mem, me = place.mem, place.who[0]
        low = world[freelists.take](mem, me, 1024, 0)
        held = [(world[freelists.take](mem, me, 40, 0), 40) for _ in range(5)]
        mem[int(layout.H_BUMP)] = mem[int(layout.H_CAPACITY)]
        mem[me + int(layout.P_LIMIT)] = mem[me + int(layout.P_BUMP)] + 10
        world[freelists.give](mem, me, low, 1024)
        mem.bare = Fuse(mem.bare)
        killed = _kill(place, after, lambda mem=mem, me=me: world[freelists.take](mem, me, 40, 0))  # type: ignore[misc]
        place.account(held, exact=False, killed=True)
        node = world[freelists.take](mem, me, 5, 0)  # none where the free node was lost
        place.account([*held, *([(node, 5)] if node else [])], exact=False, killed=True)
        after += 1
    require(after > 5, "there were places to be killed at", after)


def remembering(world: World, seed: int) -> None:
    """Kill an update of one trie; its successor updates another one, whose snapshot keeps what it sees.

    What the dead one was about to remember of its trie's snapshots is nothing that the successor believes.
    """
    after, killed = 0, True
    while killed:
        trial = Trial(world, KINDS[0], 0)
        mem, me = trial.mem, trial.place.who[0]
        trial.me = lambda me=me: me  # type: ignore[method-assign, misc]

        def put(trie: Trie, number: int, trial: Trial = trial, me: int = me, after: int = after) -> None:
            trial.place.pinned(me, insert.insert, trie.at, me, trial.key(number), number + after, 0, 0)
            trie.held[number] = number + after

        put(trial.trie, 1)
        trial.freeze(trial.trie)
        other = Trie(trial.place.pinned(me, entry_points.create, trial.kind.mask, me))
        for number in range(8):
            put(other, number)
        trial.freeze(other)
        put(other, 1)
        mem.bare = Fuse(mem.bare)
        killed = _kill(trial.place, after, lambda trial=trial, put=put: put(trial.trie, 1))  # type: ignore[misc]
        trial.place.unpin(me)
        for number in range(8):
            put(other, number)
        for _ in range(4):
            world[epochs.try_advance](mem)
            world[epochs.drain](mem, me, 1 << 62)
        trial.scan(other, other.frozen[0])
        trial.drop(other, other.frozen[0])
        for _ in range(4):
            world[epochs.try_advance](mem)
            world[epochs.drain](mem, me, 1 << 62)
        trial.scan(trial.trie, trial.trie.frozen[0])
        after += 1
    require(after > 20, "there were places to be killed at", after)
