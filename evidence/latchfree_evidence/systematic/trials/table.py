"""Which trials judge which group of kernels, in the order in which they run, with the number of seeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import (
    arithmetic,
    claims,
    dead_claims,
    foreign,
    free_memory,
    hints,
    index_parts,
    indexed,
    kills,
    last_words,
    late,
    late_layers,
    late_rings,
    late_sketches,
    limbo,
    limited,
    listed,
    many_keys,
    matched,
    messages,
    readers,
    registries,
    retirements,
    rings,
    rosters,
    scarce,
    sketch_lives,
    sketched,
    tombs,
    topic_buffers,
    topic_changes,
    topic_late,
    topic_scarce,
    topic_texts,
    trees_freed,
    twins,
    undecided,
)
from latchfree_evidence.systematic.trials.pinned import Script, trial_of
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
    (trees_freed.only_clears, 2),
    (trees_freed.tombs_destroyed, 4),
    (trees_freed.stalled_updates, 10),
    (registries.tables, 2),
    (registries.searches, 1),
    (registries.deadlists, 3),
    (registries.dropping, 1),
    (retirements.blocks_of, 1),
    (retirements.snapshots, 8),
    (retirements.clears, 6),
    (scarce.clears, 9),
    (many_keys.bulk, 9),
    (tombs.deaths, 1),
    (tombs.generations, 1),
    (scarce.tombs, 4),
    (tombs.tombs, 6),
    (readers.churn, 1),
    (many_keys.full, 4),
    (readers.reader, 3),
    (registries.slots_again, 1),
    (registries.marked, 1),
    (retirements.large_clears, 1),
    (retirements.dropped_meanwhile, 1),
    (tombs.late_cleaners, 2),
    (hints.numbers, 1),
    (hints.generations, 2),
    (hints.leftovers, 1),
    (hints.unused_words, 1),
    (scarce.drops, 9),
    (scarce.begins, 2),
    (scarce.attempts, 2),
    (kills.remembering, 1),
    (undecided.below_a_child, 1),
    (undecided.helper_that_is_late, 1),
    (undecided.below_the_root, 1),
    (undecided.renewals, 2),
    (late.snapshots, 1),
    (late.drops, 2),
    (twins.failed_twins, 1),
    (twins.two_of_one_generation, 2),
    (late.locks, 1),
    (late.marks, 1),
    (twins.next_slots, 1),
    (late.dead_claimers, 1),
    (late.discards, 1),
)

#: Programs of users, whose answers are pinned, and with how many seeds each is run.
_SKETCHED: Final[tuple[tuple[Script, int], ...]] = (
    (sketched.merging, 21),
    (sketched.filters, 16),
    (sketched.counted_filters, 4),
    (sketched.full_counters, 1),
    (sketched.memories, 8),
    (sketched.full_layers, 2),
    (sketched.large_layers, 1),
    (sketched.counts, 8),
    (sketched.sets, 8),
    (sketched.frequent, 6),
    (sketched.long_streams, 8),
)
_INDEXED: Final[tuple[tuple[Script, int], ...]] = ((indexed.indexes, 12), (indexed.defects, 3))
_FOREIGN: Final[tuple[tuple[Script, int], ...]] = ((foreign.registers, 6), (foreign.rows, 6), (foreign.bits, 6))
_LONG: Final[tuple[tuple[Script, int], ...]] = ((sketched.quantiles, 5),)
SCRIPTS: Final = (*_LONG, *_SKETCHED, *_FOREIGN, *_INDEXED)


def _on_kernels(scripts: tuple[tuple[Script, int], ...]) -> tuple[tuple[Callable[[World, int], None], int], ...]:
    return tuple((trial_of(script), seeds) for script, seeds in scripts)


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
        (last_words.largest, 1),
        (limbo.limbo, 8),
        (limbo.idle, 1),
        (limbo.queue, 1),
        (free_memory.travelling, 1),
        (free_memory.reserving, 1),
        (claims.slots, 2),
        (claims.collecting, 1),
        (operations, 4),
        (kills.taking, 8),
        (kills.retiring, 7),
        (kills.recycling, 1),
        (readers.churn, 1),
        (many_keys.full, 6),
        (readers.reader, 2),
    ),
    "ring": (
        (rings.rings, 24),
        (messages.messages, 8),
        (rosters.many_rings, 1),
        (rosters.no_room, 1),
        (dead_claims.dead, 12),
        (rings.stalled, 1),
        (late_rings.calls, 1),
        (late_rings.drops, 1),
        (late_rings.first_tables, 1),
        (late_rings.menders, 1),
        (late_rings.tellers, 1),
        (late_rings.shutdowns, 1),
        (late_rings.last_put, 1),
    ),
    "sketches": (
        (sketch_lives.records, 1),
        (sketch_lives.unlinked, 1),
        (late_sketches.rooms, 1),
        (late_layers.copies, 1),
        (late_layers.portions, 1),
        (late_layers.layers, 1),
        (late_layers.fades, 1),
        (late_layers.torn, 1),
        (late_sketches.lanes, 1),
        *_on_kernels(_SKETCHED),
        (sketch_lives.wrong_numbers, 1),
        (sketch_lives.pins, 1),
        (late_sketches.counted, 1),
        (late_sketches.owned, 4),
        (late_sketches.removes, 1),
        (late_sketches.reads, 4),
        *_on_kernels(_LONG),
    ),
    "foreign": (
        (foreign.met, 3),
        (foreign.missing_bits, 1),
        *_on_kernels(_FOREIGN),
        (late_sketches.counted, 1),
        (sketch_lives.wrong_numbers, 1),
        (sketch_lives.pins, 1),
    ),
    "limiter": (
        (limited.numbers, 1),
        (limited.limits, 12),
        (limited.other_boots, 1),
        (sketch_lives.wrong_numbers, 1),
        (sketch_lives.pins, 1),
    ),
    "words": ((arithmetic.hashes, 1), (arithmetic.bits, 1), (arithmetic.sorts, 1)),
    "mask": ((index_parts.records, 1), (indexed.collisions, 9), *_on_kernels(_INDEXED)),
    "topics": (
        (topic_texts.parses, 3),
        (topic_texts.fences, 3),
        (topic_buffers.rooms, 1),
        (topic_changes.changes, 12),
        (topic_texts.agreements, 9),
        (matched.tries, 15),
        (topic_buffers.trees, 1),
        (topic_buffers.prefixes, 1),
        (topic_late.pins, 1),
        (topic_late.reads, 3),
        (topic_late.matches, 1),
        (topic_late.fallbacks, 1),
        (topic_late.neighbours, 4),
        (topic_late.deep, 3),
        (topic_late.renewals, 2),
        (topic_scarce.full, 2),
        (topic_scarce.tombs, 6),
        (topic_scarce.renewals, 1),
    ),
    "header": (
        (listed.states, 1),
        (listed.entries, 1),
        (listed.circles, 1),
        (listed.ends, 1),
        (listed.counts, 11),
        (listed.damages, 3),
        (listed.digests, 1),
        (listed.directories, 2),
    ),
}
