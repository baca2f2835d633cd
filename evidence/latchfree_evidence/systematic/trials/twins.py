"""Two snapshots of one generation: both are registered for a while, and one of them is about to fail.

Example: two threads have read a root of generation 5, and each registers a snapshot of 5. One of them replaces the
root; the other one drops its snapshot. What waits on the list of the one that is dropped, the other one still sees.
"""

from __future__ import annotations

from latchfree.ctrie.kernels import entry_points, registry, snapshot
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import Halted, everywhere
from latchfree_evidence.systematic.trials.late_scene import Scene
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import Frozen

_GEN, _HEAD, _STATE, _FROZEN = 0, 10, 30, 50


def failed_twins(world: World, seed: int) -> None:
    """Stop a drop of a snapshot that has failed; meanwhile another one of the same generation succeeds."""
    steps = world.stepping()

    def scene(before: int) -> bool:
        here = Scene(world, steps)
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
    here = Scene(world, world.stepping())
    first = here.open()
    root, place = here.mem[first.slot + _FROZEN], here.trial.place
    gen = walking.born(here.mem, root)
    twin = place.pinned(here.late, registry.register, here.trie.at, here.late, root, gen)
    here.trie.frozen.append(Frozen(twin, dict(first.held)))
    here.write()
    require(any(here.mem[each.slot + _HEAD] != 1 << 63 | gen for each in here.trie.frozen), "nodes wait")
    here.trial.drop(here.trie, here.trie.frozen[seed])
    here.end()


def next_slots(world: World, seed: int) -> None:
    """Register late, while the next slot has just the generation that the root has come to."""
    steps = world.stepping()
    here = Scene(world, steps)
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
