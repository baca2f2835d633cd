"""Which trials judge which group of kernels, in the order in which they run, with the number of seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import (
    free_memory,
    kills,
    last_words,
    limbo,
    many_keys,
    messages,
    readers,
    registries,
    retirements,
    rings,
    tombs,
    trees_freed,
)
from latchfree_evidence.systematic.trials.tries import KINDS, Trial


def operations(world: World, seed: int) -> None:
    """Do random operations on a trie of one kind."""
    trial = Trial(world, KINDS[seed % len(KINDS)], seed)
    for _ in range(500):
        trial.step()
    trial.check()
    trial.finish()


_TRIES: Final = (
    (operations, 11),
    (trees_freed.few_at_a_time, 1),
    (trees_freed.room_from_trees, 1),
    (trees_freed.only_clears, 1),
    (trees_freed.tombs_destroyed, 4),
    (trees_freed.stalled_updates, 10),
    (registries.tables, 2),
    (registries.searches, 1),
    (registries.deadlists, 3),
    (registries.dropping, 1),
    (retirements.blocks_of, 1),
    (retirements.snapshots, 8),
    (retirements.clears, 6),
    (retirements.clears_without_room, 3),
    (many_keys.bulk, 9),
    (tombs.deaths, 1),
    (tombs.generations, 1),
    (tombs.tombs_without_room, 3),
    (tombs.tombs, 6),
    (readers.churn, 1),
    (many_keys.full, 4),
    (readers.reader, 3),
)

TRIALS: Final[dict[str, tuple[tuple[Callable[[World, int], None], int], ...]]] = {
    "ctrie": _TRIES,
    "arena": (
        (free_memory.pieces_of_gaps, 1),
        (free_memory.lists, 9),
        (last_words.limits, 1),
        (last_words.in_line, 1),
        (last_words.crumbs, 1),
        (last_words.stock, 1),
        (last_words.inheritance, 1),
        (last_words.gathering, 1),
        (limbo.limbo, 8),
        (limbo.idle, 1),
        (limbo.queue, 1),
        (free_memory.travelling, 1),
        (free_memory.reserving, 1),
        (limbo.slots, 2),
        (operations, 4),
        (kills.taking, 8),
        (kills.retiring, 1),
        (readers.churn, 1),
        (many_keys.full, 6),
        (readers.reader, 2),
    ),
    "ring": (
        (rings.rings, 24),
        (messages.messages, 8),
        (rings.many_rings, 1),
        (rings.no_room, 1),
        (rings.dead, 12),
        (rings.stalled, 1),
    ),
}
