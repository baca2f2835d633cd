"""Who is late with the registry of snapshots: a call stops before one of its accesses, and others register and drop.

Example: a thread has marked its snapshot as dropped, and stops. Another thread sweeps, and its next snapshot gets the
slot. When the first thread goes on, the slot is not its own any more, and it must leave the slot alone.

After each scene the snapshots that are open are as they were, and no slot is left.
"""

from __future__ import annotations

from latchfree.ctrie.kernels import entry_points, registry, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.late_scene import Scene
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import Frozen

_GEN, _HEAD, _OWNER, _STATE, _REGISTERED, _LOCK = 0, 10, 20, 30, 4, 5


def snapshots(world: World, seed: int) -> None:
    """Stop a snapshot anywhere; meanwhile two others come and go."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = Scene(world, steps)
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
        here = Scene(world, steps, 2)
        call = here.dropping(here.trie.frozen[seed])
        more = call.run(before)
        here.come_and_go()
        here.open()
        call.finish()
        here.end()
        return more

    everywhere(scene, 30)


def locks(world: World, seed: int) -> None:
    """Stop where the lock was found free, while another one takes it and stops in the middle of its work."""
    steps = world.stepping()
    here = Scene(world, steps, 2)
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
    here = Scene(world, steps, 2)
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
        here = Scene(world, steps, 1)
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
        here = Scene(world, steps, 1)
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
