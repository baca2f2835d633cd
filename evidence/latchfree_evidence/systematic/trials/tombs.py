"""Tombs left behind: a removal that is stopped before it cleans leaves a T-node, which is correct.

Example: the removal of key 7 commits a tomb, and the thread is stopped for good. Whoever comes by reads through the
tomb, cleans it, or finds it in a snapshot. Here the cleaning of the path is left out half of the time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from latchfree.ctrie.kernels import registry
from latchfree_evidence.systematic.plain.memory import MARKING
from latchfree_evidence.systematic.plain.world import World
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
    for _ in range(400):
        trial.step()
        if rng.random() < 0.05:
            trial.check()
    trial.check()
    trial.finish()


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
    adopt = world[registry.adopt]
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
    trial.place.world[registry.sweep](mem, at, who[0])
    mem[at + 5] = 0
    fresh = world[registry._claim_slot](mem, at, who[0])
    world[registry.discard](mem, fresh)
    require(mem[fresh + 20] == 0 and mem[fresh + 10] == (1 << 64) - 1, "a slot without a generation is given back")
    for number in range(20):
        trial.write(trial.trie, number)
    trial.finish()
