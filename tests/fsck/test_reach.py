"""What a trie reaches, however the trie is damaged."""

import random

import numpy as np
import pytest
from ctrie_exact import settle

from latchfree import Arena, ArenaInvalid, Ctrie
from latchfree.arena import layout
from latchfree.arena.kernels.blocks import LINK
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.layout import FIRST_NODE
from latchfree.ctrie.kernels import registry
from latchfree.ctrie.kernels.nodes import L_NODE, S_NODE, T_NODE
from latchfree.ctrie.kernels.registry import push_block
from latchfree.ctrie.recovery import _slots as slots_of
from latchfree_fsck import reach as reach_module
from latchfree_fsck.nodes import entries_kind
from latchfree_fsck.reach import Reach

MASK = (1 << 64) - 1


def walked(trie, kind=0):
    reach = Reach(trie.arena.base)
    reach.add(trie._store.trie, kind)
    return reach


def nodes_of(trie, kind):
    """Offsets of the nodes of a kind that a trie reaches."""
    nodes = (np.flatnonzero(walked(trie).seen) + FIRST_NODE).tolist()
    return [node for node in nodes if int(trie.arena.words[node]) >> 60 == int(kind)]


@pytest.mark.parametrize("size", [0, 1, 100, 3000])
def test_without_snapshots_it_finds_what_is_allocated(arena, size):
    trie = Ctrie({n: n for n in range(size)}, keys=int, values=int, arena=arena)
    settle(arena)
    reach = walked(trie, entries_kind(True, True))
    assert reach.words == arena.census().nodes
    assert reach.nodes == np.count_nonzero(reach.seen)
    assert len(nodes_of(trie, S_NODE)) == size


def test_adding_twice_finds_nothing_more(arena):
    trie = Ctrie({n: n for n in range(50)}, keys=int, values=int, arena=arena)
    reach = walked(trie)
    words, nodes = reach.words, reach.nodes
    reach.add(trie._store.trie)
    assert (reach.words, reach.nodes) == (words, nodes)


@pytest.mark.parametrize("stack", [1, 2, 64])
def test_a_deadlist_longer_than_the_stack(arena, monkeypatch, stack):
    trie = Ctrie({n: n for n in range(2000)}, keys=int, values=int, arena=arena)
    kept = trie.readonly_snapshot()
    for n in range(2000):
        trie[n] = -n
    expected = walked(trie)
    monkeypatch.setattr(reach_module, "_STACK", stack)
    assert np.array_equal(walked(trie).seen != 0, expected.seen != 0)
    assert walked(trie).words == expected.words
    assert len(kept) == 2000


def test_a_snapshot_keeps_more_nodes_than_the_stack_has_room_for(arena):
    trie = Ctrie({n: n for n in range(20_000)}, keys=int, values=int, arena=arena)
    kept = trie.readonly_snapshot()
    trie.clear()
    settle(arena)
    census = arena.census()
    assert walked(trie).words == census.nodes
    kept.close()


def test_the_sizes_of_entries_are_checked_where_their_kind_is_known(arena):
    trie = Ctrie({"key": b"value"}, keys=str, values=bytes, arena=arena)
    kind = entries_kind(False, False)
    (node,) = nodes_of(trie, S_NODE)
    walked(trie, kind)
    for field, lengths in ((2, [9, 1 << 22, MASK, MASK - 7]), (3, [9, 0, 1 << 16, MASK])):
        before = int(arena.words[node + field])
        for length in lengths:
            arena.words[node + field] = length
            walked(trie)
            with pytest.raises(ArenaInvalid, match=f"leads to word {node}, no such node"):
                walked(trie, kind)
        arena.words[node + field] = before
    walked(trie, kind)


@pytest.mark.parametrize("count", [0, 1, 3, 1 << 20, MASK, MASK - 1, MASK - 2])
def test_the_count_of_an_lnode(arena, count):
    trie = Ctrie({1: 1, 2: 2}, keys=int, values=int, arena=arena, hash_mask=0)
    (node,) = nodes_of(trie, L_NODE)
    arena.words[node + 2] = count
    with pytest.raises(ArenaInvalid, match="no such node"):
        walked(trie)
    # A size to match the count modulo 2**64 must not fool it either.
    arena.words[node] = (int(arena.words[node]) & ~(((1 << 20) - 1) << 40)) | (2 << 40)
    with pytest.raises(ArenaInvalid, match="no such node"):
        walked(trie)


def test_a_node_that_would_reach_past_the_end(arena):
    trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    (node,) = nodes_of(trie, S_NODE)
    arena.words[node] = int(arena.words[node]) | (((1 << 20) - 1) << 40)
    with pytest.raises(ArenaInvalid, match="no such node"):
        walked(trie)


def test_a_deadlist_that_goes_in_circles(arena):
    trie = Ctrie({n: n for n in range(500)}, keys=int, values=int, arena=arena)
    kept = trie.readonly_snapshot()
    for n in range(500):
        trie[n] = -n
    expected = walked(trie)
    blocks = nodes_of(trie, 8)
    assert len(blocks) > 2
    for block in blocks:
        before = int(arena.words[block + 1])
        arena.words[block + 1] = blocks[0]
        assert walked(trie).words <= expected.words
        arena.words[block + 1] = before
    kept.close()


def test_random_damage_is_found_or_harmless(rng):
    arena = Arena.anonymous(4 << 20)
    trie = Ctrie({str(n): b"x" * (n % 50) for n in range(300)}, keys=str, values=bytes, arena=arena)
    kept = [trie.readonly_snapshot()]
    for n in range(300):
        trie[str(n)] = b""
        if n % 50 == 0:
            kept.append(trie.snapshot())
    nodes = (np.flatnonzero(walked(trie).seen) + FIRST_NODE).tolist()
    bump = int(arena.words[layout.H_BUMP])
    found = 0
    for _ in range(3000):
        node = rng.choice(nodes)
        size = int(round_up(np.uint64((int(arena.words[node]) >> 40) & ((1 << 20) - 1))))
        at = node + rng.randrange(min(size, 6))
        before = int(arena.words[at])
        arena.words[at] = rng.choice(
            [rng.getrandbits(64), rng.randrange(bump), rng.randrange(bump) | 1 << 63, before ^ 1 << rng.randrange(64)]
        )
        try:
            walked(trie, entries_kind(False, False))
        except ArenaInvalid:
            found += 1
        arena.words[at] = before
    assert found > 1000
    walked(trie, entries_kind(False, False))
    kept.clear()


def test_kinds_of_nodes_are_told_apart(arena):
    trie = Ctrie({n: n for n in range(100)}, keys=int, values=int, arena=arena)
    trie.readonly_snapshot().close()
    rng = random.Random(0)
    for _ in range(60):
        (node,) = rng.sample(nodes_of(trie, S_NODE), 1)
        before = int(arena.words[node])
        for kind in (0, 1, 2, int(T_NODE), 4, 6, 7, 8, 9, 15):
            arena.words[node] = (before & ((1 << 60) - 1)) | kind << 60
            with pytest.raises(ArenaInvalid):
                walked(trie)
        arena.words[node] = before


def test_a_deadlist_takes_over_nodes_that_its_snapshot_never_saw(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    older = trie.readonly_snapshot()
    trie.update({n: n for n in range(40)})
    newer = trie.readonly_snapshot()
    trie.update({n: -n for n in range(0, 40, 2)})
    # As when `newer` is dropped by another thread just before this one hands the nodes over.
    words = arena.words
    of_older, of_newer = sorted(
        (slot for slot in slots_of(arena, trie._store.trie) if words[slot + int(registry.GEN)]),
        key=lambda slot: int(words[slot + int(registry.GEN)]),
    )
    head, gen = int(words[of_newer + int(registry.HEAD)]), int(words[of_newer + int(registry.GEN)])
    words[of_newer + int(registry.HEAD)] = int(registry.EMPTY) | gen
    while not head & int(registry.EMPTY):
        below = int(words[head + int(LINK)])
        assert push_block(*np.array([arena.base, of_older, words[of_older + int(registry.GEN)], head], np.uint64))
        head = below
    newer.close()
    # What the nodes link to is freed, for `older` does not see it, and is something else now.
    for n in range(40):
        del trie[n]
    settle(arena)
    assert walked(trie).words == arena.census().nodes
    trie.update({n: n for n in range(1000)})
    settle(arena)
    assert walked(trie).words == arena.census().nodes
    assert dict(older) == {}
    older.close()
    settle(arena)
    assert walked(trie).words == arena.census().nodes
