"""Tombs left behind: a removal that is stopped before it cleans leaves a T-node, which is correct.

Example: the removal of key 7 commits a tomb, and the thread is stopped for good. Whoever comes by reads through the
tomb, cleans it, or finds it in a snapshot. Here the cleaning of the path is left out half of the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from latchfree.ctrie.kernels import entry_points, helping, registry, snapshot
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import KINDS, Kind, Trial

_KINDS = (KINDS[0], Kind(mask=0b111_000011, count=24), Kind(mask=(1 << 12) - 1 & ~63, count=24), KINDS[2])


def tombs(world: World, seed: int) -> None:
    """Do random operations while tombs are left behind."""
    rng = random.Random(seed)

    def lazy(made: Callable[..., Any], steps: bool) -> Callable[..., Any]:
        return lambda *arguments: made(*arguments) if rng.random() < 0.3 else None

    place = "latchfree.ctrie.kernels.remove:clean_path"
    trial = Trial(world.with_wrapped({**MARKING, place: lazy}), _KINDS[seed % len(_KINDS)], seed)
    trial.tombs = True
    for _ in range(400):
        trial.step()
        if rng.random() < 0.05:
            trial.check()
    trial.check()
    trial.finish()


def late_cleaners(world: World, seed: int) -> None:
    """Clean where no child is tombed any more, as who was faster has cleaned: nothing changes."""
    trial = Trial(world, _KINDS[1:3][seed], 0)
    mem, trie, me = trial.mem, trial.trie, trial.place.who[0]
    for number in range(24):
        trial.write(trie, number)
    lone = 0

    def clean_below(i: int, level: int) -> None:
        nonlocal lone
        main, slots = mem[i + 1], walking.slots_of(mem, mem[i + 1])
        done = trial.place.pinned(me, helping.clean, trie.at, me, i, level)
        require(done and mem[i + 1] == main, "a node without tombs stays", i, level)
        lone += level > 0 and len(slots) == 1
        for slot in slots:
            if slot & walking.TAG:
                clean_below(slot & walking.PLAIN, level + 6)

    clean_below(mem[trie.at + 1], 0)
    require(lone, "some node has one child, and nothing else")
    trial.check()
    trial.finish()


def generations(world: World, seed: int) -> None:
    """Use up the generations of an arena: the last one is given, and then none."""
    trial = Trial(world, KINDS[0], seed)
    mem, me = trial.mem, trial.place.who[0]
    most = (1 << 40) - 1024
    for left in (2, 1, 0):
        mem[24] = most - left
        at = trial.place.pinned(me, entry_points.create, (1 << 64) - 1, me)
        require((at == (1 << 64) - 1) == (left == 0), "the last generation", left)
        require(mem[24] == most - left + (left > 0), "generations are counted", left)
        slot = trial.place.pinned(me, snapshot.freeze, trial.trie.at, me)
        require((slot == (1 << 64) - 1) == (left < 2), "a snapshot needs one, too", left)
        require(mem[trial.trie.at + 4] == (left == 2), "a snapshot that was not taken is not registered", left)
        if left == 2:
            world[entry_points.drop](mem, trial.trie.at, me, slot)


def deaths(world: World, seed: int) -> None:
    """Take over what dead owners have left in the registry: slots, and the lock of dropping."""
    trial = Trial(world, KINDS[0], seed)
    mem, at, who = trial.mem, trial.trie.at, trial.place.who
    for number in range(20):
        trial.write(trial.trie, number)
    trial.freeze(trial.trie)
    slot = trial.trie.frozen[0].slot
    owner = mem[slot + 20]
    require(owner == mem[who[0]] >> 16 or owner == mem[who[1]] >> 16, "the owner of a slot", owner)
    adopt = world[entry_points.adopt]
    require(not adopt(mem, slot, owner + 1, 99), "nobody adopts a slot of somebody else")
    require(mem[slot + 20] == owner, "a slot keeps its owner")
    require(adopt(mem, slot, owner, 99) and mem[slot + 20] == 99, "a slot is adopted")
    require(adopt(mem, slot, 99, owner), "and back")
    lock = world[registry.lock]
    require(lock(mem, at, who[0]), "a free lock is taken")
    require(not lock(mem, at, who[1]), "the lock of somebody alive is not")
    mem[who[0] + 3] += 1  # another incarnation: the owner of the lock has died
    require(lock(mem, at, who[1]), "the lock of somebody dead is taken")
    require(not lock(mem, at, who[0]), "and is taken then")
    state = mem[who[1]]
    mem[who[1]] = 0
    require(lock(mem, at, who[0]), "the lock of a free participant is taken")
    mem[who[1]] = state
    mem[at + 5] = 0
    mem[slot + 30] = 2  # its owner was killed after it had marked the slot
    world[entry_points.sweep](mem, at, who[0])
    require(mem[slot + 20] == 0 and mem[at + 4] == 0, "what is marked is swept")
    trial.trie.frozen.clear()
    require(mem[who[0] + 8] == 0 and mem[at + 5] == 0, "a sweep ends its pin, and gives the lock back")
    fresh = next(iter(walking.tables(mem, at))) + 5  # somebody has claimed this slot, and was killed
    mem[fresh + 20], mem[fresh + 10] = owner, 1 << 63 | 9
    world[entry_points.discard](mem, fresh)
    require(mem[fresh + 20] == 0 and mem[fresh + 10] == (1 << 64) - 1, "a slot without a generation is given back")
    for number in range(20):
        trial.write(trial.trie, number)
    trial.finish()
