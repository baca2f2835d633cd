"""Who is late with the registry of snapshots: a call stops before one of its accesses, and others register and drop.

Example: a thread has marked its snapshot as dropped, and stops. Another thread sweeps, and its next snapshot gets the
slot. When the first thread goes on, the slot is not its own any more, and it must leave the slot alone.

After each scene the snapshots that are open are as they were, and no slot is left.
"""

from __future__ import annotations

from typing import Any

from latchfree.ctrie.kernels import entry_points, insert, registry, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import KINDS, Frozen, Trial

_GEN, _HEAD, _OWNER, _STATE, _FROZEN = 0, 10, 20, 30, 50
_REGISTERED, _LOCK, _KEYS = 4, 5, 6


class _Scene:
    """A trie of a few keys; the third participant is the one who stops."""

    def __init__(self, world: World, steps: World, snapshots: int = 0) -> None:
        self.world, self.steps = world, steps
        self.trial = Trial(world, KINDS[0], 0)
        self.mem, self.trie, self.late = self.trial.mem, self.trial.trie, self.trial.place.who[2]
        self.round = 0
        self.write()
        for _ in range(snapshots):
            self.trial.freeze(self.trie)
            self.write()

    def write(self) -> None:
        """Put all keys."""
        self.round += 1
        me = self.trial.place.who[0]
        for number in range(_KEYS):
            value = 100 * self.round + number
            key = self.trial.key(number)
            self.trial.place.pinned(me, insert.insert, self.trie.at, me, key, value, 0, 0)
            self.trie.held[number] = value

    def open(self) -> Frozen:
        """Take a snapshot."""
        self.trial.freeze(self.trie)
        return self.trie.frozen[-1]

    def come_and_go(self) -> None:
        """Take a snapshot and drop it."""
        self.trial.drop(self.trie, self.open())

    def calling(self, kernel: Any, *arguments: Any) -> Halted:
        """Begin a call of the late one, who is pinned."""
        self.trial.place.pin(self.late)
        return Halted(self.steps, kernel, self.mem, *arguments)

    def dropping(self, which: Frozen, me: int = 0) -> Halted:
        """Begin to drop a snapshot."""
        self.trie.frozen.remove(which)
        return Halted(self.steps, entry_points.drop, self.mem, self.trie.at, me or self.late, which.slot)

    def end(self) -> None:
        """Overwrite all keys twice, and look at all snapshots; in the end no slot is in use."""
        self.trial.place.unpin(self.late)
        for _ in range(2):
            self.write()
        self.trial.place.settle(self.trial.reclaim)
        self.trial.check()
        for frozen in list(self.trie.frozen):
            self.trial.drop(self.trie, frozen)
        for table in walking.tables(self.mem, self.trie.at):
            for slot in range(table + 2, table + 2 + walking.TABLE_SLOTS):
                require(self.mem[slot + _OWNER] == 0, "no slot is left", slot)
        self.trial.finish()


def snapshots(world: World, seed: int) -> None:
    """Stop a snapshot anywhere; meanwhile two others come and go."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = _Scene(world, steps)
        call = here.calling(snapshot.freeze, here.trie.at, here.late)
        more = call.run(before)
        here.come_and_go()
        here.come_and_go()
        here.trie.frozen.append(Frozen(call.finish(), dict(here.trie.held)))
        here.end()
        return more

    everywhere(scene, 15)


def drops(world: World, seed: int) -> None:
    """Stop a drop anywhere; meanwhile another snapshot comes and goes, and one comes to stay."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = _Scene(world, steps, 2)
        call = here.dropping(here.trie.frozen[seed])
        more = call.run(before)
        here.come_and_go()
        here.open()
        call.finish()
        here.end()
        return more

    everywhere(scene, 30)


def failed_twins(world: World, seed: int) -> None:
    """Stop a drop of a snapshot that has failed; meanwhile another one of the same generation succeeds."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = _Scene(world, steps)
        root = here.mem[here.trie.at + 1]
        slot = here.trial.place.pinned(
            here.late, registry.register, here.trie.at, here.late, root, walking.born(here.mem, root)
        )
        call = Halted(steps, entry_points.drop, here.mem, here.trie.at, here.late, slot)
        more = call.run(before)
        here.open()
        here.write()
        call.finish()
        here.end()
        return more

    everywhere(scene, 30)


def two_of_one_generation(world: World, seed: int) -> None:
    """Drop one of two snapshots of a generation: what waits for it waits for the other one."""
    here = _Scene(world, world.stepping())
    first = here.open()
    root, place = here.mem[first.slot + _FROZEN], here.trial.place
    gen = walking.born(here.mem, root)
    twin = place.pinned(here.late, registry.register, here.trie.at, here.late, root, gen)
    here.trie.frozen.append(Frozen(twin, dict(first.held)))
    here.write()
    require(any(here.mem[each.slot + _HEAD] != 1 << 63 | gen for each in here.trie.frozen), "nodes wait")
    here.trial.drop(here.trie, here.trie.frozen[seed])
    here.end()


def locks(world: World, seed: int) -> None:
    """Stop where the lock was found free, while another one takes it and stops in the middle of its work."""
    steps = world.stepping()
    here = _Scene(world, steps, 2)
    other = here.trial.place.who[1]
    one, two = here.trie.frozen
    call = here.dropping(two)
    call.until("load_seq", here.trie.at + _LOCK)
    call.step()
    working = here.dropping(one, other)
    working.until("exchange", one.slot + _GEN)
    call.finish()
    place = here.trial.place
    me = place.who[0]
    slot = place.pinned(me, snapshot.freeze, here.trie.at, me)
    require(slot not in (one.slot, two.slot), "who is at work on a slot keeps it", slot)
    here.trie.frozen.append(Frozen(slot, dict(here.trie.held)))
    working.finish()
    here.trial.me = lambda: me  # type: ignore[method-assign]
    here.end()


def marks(world: World, seed: int) -> None:
    """Stop right after a mark; the slot has another owner by then, and the next slot has a mark."""
    steps = world.stepping()
    here = _Scene(world, steps, 2)
    one, two = here.trie.frozen
    call = here.dropping(one)
    call.until("exchange", one.slot + _STATE)
    call.step()
    here.come_and_go()
    here.open()
    require(here.trie.frozen[-1].slot == one.slot, "the first free slot is taken")
    other = here.dropping(two, here.trial.place.who[1])
    other.until("exchange", two.slot + _STATE)
    other.step()
    call.finish()
    other.finish()
    here.end()


def dead_claimers(world: World, seed: int) -> None:
    """Kill a claimer anywhere; whoever finds it dead drops or discards its slot, and another snapshot is as it was."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = _Scene(world, steps, 1)
        mem, at, root = here.mem, here.trie.at, here.mem[here.trie.at + 1]
        slot = here.trie.frozen[0].slot + 1
        call = here.calling(registry.register, at, here.late, root, walking.born(mem, root))
        more = call.run(before)
        if mem[slot + _OWNER]:
            require(mem[slot + _OWNER] == mem[here.late] >> 16, "a slot has the identity of its opening")
            world[entry_points.adopt](mem, slot, mem[slot + _OWNER], 77)
            if mem[slot + _GEN]:
                world[entry_points.drop](mem, at, here.trial.place.who[1], slot)
            else:
                world[entry_points.discard](mem, slot)
        require(mem[at + _REGISTERED] >= 1, "the other snapshot is counted", mem[at + _REGISTERED])
        require(mem[at + _REGISTERED] <= 2, "and the dead one at most", mem[at + _REGISTERED])
        here.write()
        mem[at + _REGISTERED] = 1
        here.end()
        return more

    everywhere(scene, 5)


def discards(world: World, seed: int) -> None:
    """Stop a discard anywhere; meanwhile a snapshot is taken, perhaps in that slot."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = _Scene(world, steps, 1)
        slot = here.trie.frozen[0].slot
        here.trial.drop(here.trie, here.trie.frozen[0])
        here.mem[slot + _OWNER], here.mem[slot + _HEAD] = here.mem[here.late] >> 16, 1 << 63 | 9
        call = Halted(steps, entry_points.discard, here.mem, slot)
        more = call.run(before)
        here.open()
        call.finish()
        here.end()
        return more

    everywhere(scene, 2)


def next_slots(world: World, seed: int) -> None:
    """Register late, while the next slot has just the generation that the root has come to."""
    steps = world.stepping()
    here = _Scene(world, steps)
    other = here.trial.place.who[1]
    late = here.calling(snapshot.freeze, here.trie.at, here.late)
    late.until("load_seq", here.trie.at + 1)
    late.step()
    here.come_and_go()
    here.write()
    here.come_and_go()
    here.write()
    slot = next(iter(walking.tables(here.mem, here.trie.at))) + 2
    here.mem[slot + _STATE] = 0  # as in a table where nobody has been in this slot before
    late.until("exchange", slot + _GEN)
    late.step()
    here.trial.place.pin(other)
    twin = Halted(steps, snapshot.freeze, here.mem, here.trie.at, other)
    twin.until("exchange", slot + 1 + _GEN)
    twin.step()
    here.trie.frozen.append(Frozen(late.finish(), dict(here.trie.held)))
    here.trie.frozen.append(Frozen(twin.finish(), dict(here.trie.held)))
    here.trial.place.unpin(other)
    here.end()
