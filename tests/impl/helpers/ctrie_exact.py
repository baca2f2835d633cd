"""Exactness: at rest, the words of an arena in nodes are those its tries reach, and the others are free."""

import numpy as np
from free_memory import free_spans

from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.layout import FIRST_NODE, H_BUMP
from latchfree.ctrie.kernels.shape import IDLE, REGISTERED
from latchfree_fsck.reach import Reach


def settle(arena):
    """Free all that can be freed while nothing runs."""
    for _ in range(4):
        arena.collect()


def registered(trie):
    """How many snapshots of a trie are registered and held; one that is idle is held by nobody."""
    words, where = trie.arena.words, trie._store.trie
    return int(words[where + int(REGISTERED)]) - bool(words[where + int(IDLE)])


def reached(arena, tries):
    """What the tries reach, with the forks and snapshots registered with them."""
    reach = Reach(arena.base)
    for trie in tries:
        reach.add(trie if isinstance(trie, int) else trie._store.trie)
    return reach


def exact(arena, tries):
    """Settle, and check that every word is accounted for: reached by one of the tries, or free.

    `tries` are those that are no forks, as objects or as offsets: a fork is reached through the slot of its parent's
    snapshot, and keeps its parent. Nothing may run.
    """
    settle(arena)
    census, reach = arena.census(), reached(arena, tries)
    assert census.limbo == 0, census
    assert census.deferred == 0, census
    assert census.nodes == reach.words, f"{census.nodes - reach.words} words in nodes that no trie reaches: {census}"
    assert arena.allocated == 8 * (census.nodes + census.spare)
    assert census.given == census.nodes + census.spare + census.free + census.tails
    return census


def parted(arena, tries):
    """Check word by word what `exact` checks in sum: each is in one node reached, or in one free span."""
    exact(arena, tries)
    uses = np.zeros(int(arena.words[H_BUMP]) - FIRST_NODE, np.uint8)
    for k in np.flatnonzero(reached(arena, tries).seen).tolist():
        size = (int(arena.words[FIRST_NODE + k]) >> 40) & ((1 << 20) - 1)
        uses[k : k + int(round_up(np.uint64(size)))] += 1
    for start, size in free_spans(arena):
        uses[start - FIRST_NODE : start - FIRST_NODE + size] += 1
    wrong = np.flatnonzero(uses != 1)
    assert len(wrong) == 0, f"word {wrong[0] + FIRST_NODE} is in {uses[wrong[0]]} places"
