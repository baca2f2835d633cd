"""The idle snapshot: parked, taken again, and dropped; also one that a stopped thread has left there."""

from __future__ import annotations

from typing import Any, Final

from latchfree.ctrie.kernels import entry_points, idle, insert, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import late_scene
from latchfree_evidence.systematic.trials.halting import everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import KINDS, Frozen, Trial

_REGISTERED, _IS_FORK, _IDLE, _FORK = 4, 6, 8, 40


class _Scene:
    """A trie of some keys, and how many snapshots it has, held and idle."""

    def __init__(self, world: World, seed: int) -> None:
        self.trial = Trial(world, KINDS[0], seed)
        self.mem: Any = self.trial.mem
        self.trie = self.trial.trie
        self.at = self.trie.at
        self.me = int(self.trial.place.who[0])
        for number in range(8):
            self.put(number, number)

    def put(self, number: int, value: int) -> None:
        self.trial.place.pinned(self.me, insert.insert, self.at, self.me, self.trial.key(number), value, 0, 0)
        self.trie.held[number] = value

    def take(self) -> int:
        slot = int(self.trial.place.pinned(self.me, snapshot.take, self.at, self.me))
        self.trial.scan(self.trie, Frozen(slot, dict(self.trie.held)))
        return slot

    def give(self, slot: int) -> None:
        self.trial.place.pinned(self.me, idle.give, self.at, self.me, slot)

    def expect(self, parked: int, registered: int, what: str) -> None:
        mem = self.mem
        require(mem[self.at + _IDLE] == parked, f"{what}: the idle one", mem[self.at + _IDLE], parked)
        require(mem[self.at + _REGISTERED] == registered, f"{what}: how many", mem[self.at + _REGISTERED])

    def end(self) -> None:
        self.trial.place.pinned(self.me, idle.unpark, self.at, self.me)
        self.trial.check()
        self.trial.finish()


def taken_again(world: World, seed: int) -> None:
    """Take and give in turns, with writes between, and hold some."""
    here = _Scene(world, seed)
    first = here.take()
    here.expect(0, 1, "taken")
    root = here.mem[here.at + 1]
    for _ in range(3):
        here.give(first)
        here.expect(first, 1, "given")
        require(here.take() == first and here.mem[here.at + 1] == root, "it is taken again")
        here.expect(0, 1, "taken again")
    second = here.take()
    here.expect(0, 2, "another one, while the first is held")
    here.give(first)
    here.give(second)
    here.expect(first, 1, "the word is occupied")
    here.put(3, 33)
    here.expect(0, 0, "a write drops it")
    held = here.take()
    here.put(4, 44)
    here.give(held)
    here.expect(0, 0, "one that is old is dropped")
    here.give(here.take())
    here.trial.place.pinned(here.me, snapshot.clear, here.at, here.me)
    here.trie.held.clear()
    here.expect(0, 0, "a clear drops it")
    here.give(here.take())
    world[entry_points.unpark](here.mem, here.at, here.me)
    require(here.mem[here.me + 8] == 0, "a call ends its pin")
    here.expect(0, 0, "dropped on request")
    world[entry_points.unpark](here.mem, here.at, here.me)
    here.expect(0, 0, "there is none")
    here.end()


def left_over(world: World, seed: int) -> None:
    """Find an old one, as a thread that has stopped between parking and looking again leaves it."""
    here = _Scene(world, seed)
    old = here.take()
    here.put(1, 11)
    here.mem[here.at + _IDLE] = old
    require(here.trial.place.pinned(here.me, idle.take_idle, here.at, here.me) == 0, "an old one is not taken")
    here.expect(0, 0, "it is dropped")
    old = here.take()
    here.put(2, 22)
    here.mem[here.at + _IDLE] = old
    new = here.take()
    here.expect(0, 1, "a new one is made")
    here.give(new)
    here.expect(new, 1, "and is idle")
    here.end()


def forks(world: World, seed: int) -> None:
    """Give back one that has a fork, and one of a trie that is a fork: neither is idle afterwards."""
    here = _Scene(world, seed)
    slot = here.take()
    here.mem[slot + _FORK] = 7
    here.give(slot)
    here.expect(0, 0, "it has a fork")
    here.mem[here.at + _IS_FORK] = 1
    here.give(here.take())
    here.expect(0, 0, "the trie is a fork")
    here.mem[here.at + _IS_FORK] = 0
    here.end()


def late(world: World, seed: int) -> None:
    """Stop a give, an unpark or a take anywhere; meanwhile the slot is given to another snapshot, which is held."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = late_scene.Scene(world, steps)
        place, at, idler = here.trial.place, here.trie.at, here.late
        me = place.who[0]
        first = place.pinned(me, snapshot.take, at, me)
        if seed:
            place.pinned(me, idle.give, at, me, first)
        kernel, more = ((idle.give, (first,)), (idle.unpark, ()), (idle.take_idle, ()))[seed]
        call = here.calling(kernel, at, idler, *more)
        goes_on = call.run(before)
        here.write()
        held, other = (place.pinned(me, snapshot.take, at, me) for _ in range(2))
        here.trie.frozen.append(Frozen(held, dict(here.trie.held)))
        place.pinned(me, idle.give, at, me, other)
        found = call.finish()
        if seed == 2 and found:
            place.pinned(me, idle.give, at, me, found)
        here.write()
        require(here.mem[at + _IDLE] == 0, "nothing old is idle", before)
        require(here.mem[at + _REGISTERED] == 1, "one is held", before)
        here.end()
        return goes_on

    everywhere(scene, (6, 20, 5)[seed])


IDLES: Final = ((taken_again, 2), (left_over, 1), (forks, 1), (late, 3))
