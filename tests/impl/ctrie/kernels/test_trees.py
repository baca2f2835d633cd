"""Trees: what is cut off whole is freed a few nodes at a time, by any participant, and by nobody but its structure."""

import numpy as np
import pytest

from latchfree import Arena, ArenaFull, Ctrie
from latchfree.arena import layout
from latchfree.arena.kernels import allocator
from latchfree.arena.kernels.epochs import try_advance
from latchfree.arena.kernels.participants import claim, collect, release
from latchfree.ctrie.kernels import shape, trees

U = np.uint64


@pytest.fixture
def cleared(arena):
    """A trie whose 10,000 keys were cleared, and whose tree may be freed now."""
    trie = Ctrie({k: k for k in range(10_000)}, keys=int, values=int, arena=arena)
    trie.clear()
    for _ in range(3):
        assert try_advance(U(arena.base))
    return trie


def deferred(arena, me):
    return int(arena.words[me + int(layout.P_DEFERRED)])


def test_the_scratch_words_of_tries_do_not_overlap():
    path, retiring = int(shape.P_PATH), int(shape.P_RETIRING)
    assert int(layout.P_SCRATCH) == path <= path + 12 <= retiring <= retiring + 9 <= int(layout.P_SCRATCH) + 32
    assert int(shape.P_WALK) + 2 * 12 <= int(layout.P_SCRATCH_MORE) + 32 <= int(layout.P_SINK)


def test_the_arena_hands_a_tree_back_and_frees_nothing_of_it(cleared, arena):
    me = arena.interpreter_participant()
    before = arena.census()
    assert before.deferred == 1
    assert allocator.begin(U(arena.base), U(me), allocator.ORDINARY)
    assert deferred(arena, me)
    after = arena.census()
    assert after.deferred == 1
    assert after.nodes > 20_000


def test_every_attempt_frees_a_few_nodes(cleared, arena):
    me = arena.interpreter_participant()
    base = U(arena.base)
    sizes = []
    while not sizes or arena.census().deferred:
        assert trees.begin(base, U(me), allocator.ORDINARY)
        sizes.append(arena.census().nodes)
    assert len(sizes) > 50
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 1000
    steps = -np.diff(sizes)
    assert steps.max() < 64 * 100


def test_collecting_frees_all_of_it(cleared, arena):
    arena.collect()
    census = arena.census()
    assert census.deferred == 0
    assert census.nodes < 1000


def test_what_a_released_slot_has_deferred_goes_to_who_collects(cleared, arena):
    """The slot of a thread that ended while a tree was being freed: what is left is taken over."""
    base = U(arena.base)
    other = int(claim(base, U(12345 << 16)))
    me = arena.interpreter_participant()
    assert allocator.begin(base, U(me), allocator.ORDINARY)
    trees.free_trees(base, U(me), U(500))
    words = arena.words
    word = int(layout.P_DEFERRED)
    words[other + word], words[me + word] = words[me + word], 0
    release(base, U(other), U(12345 << 16))
    length = arena.census().deferred
    assert length > 1
    collect(base, U(me))
    assert deferred(arena, other) == 0
    assert arena.census().deferred == length
    arena.collect()
    assert arena.census().deferred == 0
    assert arena.census().nodes < 1000


def fill(trie, most):
    """Put keys until there are `most` or the arena is full; returns how many there are."""
    for k in range(most):
        try:
            trie[k] = k
        except ArenaFull:
            return k
    return most


def test_a_full_arena_is_filled_again_after_clear():
    trie = Ctrie(keys=int, values=int, arena=Arena.anonymous(4 << 20))
    room = fill(trie, 10**6)
    assert room > 10_000
    trie.clear()
    assert fill(trie, room // 2) == room // 2
    assert len(trie) == room // 2
