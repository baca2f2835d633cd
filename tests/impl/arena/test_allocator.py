"""Size classes, reservation, undo, and that live nodes never overlap."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena
from latchfree.arena import allocator, layout
from latchfree.arena.participants import claim

U = np.uint64
CLASSES = [*range(1, 73), *(1 << k for k in range(7, 21))]


def _round_up(words):
    return next(size for size in CLASSES if size >= words)


class Owner:
    """A participant that allocates as the kernels do: a header with the size in every node."""

    def __init__(self, arena):
        self.base = U(arena.base)
        self.words = arena.words
        self.me = U(claim(self.base, U(1), U(1)))

    def begin(self, words):
        return bool(allocator.begin(self.base, self.me, U(words)))

    def allocate(self, words):
        node = int(allocator.allocate(self.base, self.me, U(words)))
        self.words[node] = words << 40
        return node

    def undo(self):
        allocator.undo(self.base, self.me)


@pytest.fixture
def arena():
    return Arena.anonymous(2 << 20)


def test_sizes_are_exact_up_to_72_words_and_powers_of_two_above():
    asked = [*range(1, 600), 1000, 1024, 1025, 100_000, (1 << 20) - 1, 1 << 20]
    assert [int(allocator.round_up(U(n))) for n in asked] == [_round_up(n) for n in asked]


def test_every_class_has_a_free_list_of_its_own():
    lists = [int(allocator.size_class(U(size))) for size in CLASSES]
    assert len(set(lists)) == len(CLASSES)
    assert int(layout.P_FREE) + max(lists) < int(layout.P_JOURNAL)


def test_nodes_of_an_attempt_lie_side_by_side(arena):
    owner = Owner(arena)
    assert owner.begin(300)
    first = owner.allocate(10)
    assert first == layout.FIRST_NODE
    assert owner.allocate(3) == first + 10
    assert owner.allocate(100) == first + 13
    assert owner.allocate(1) == first + 13 + 128


def test_undo_gives_nodes_back_to_be_used_again(arena):
    owner = Owner(arena)
    assert owner.begin(300)
    nodes = [owner.allocate(words) for words in (10, 10, 67, 100)]
    bump = int(arena.words[owner.me + layout.P_BUMP])
    owner.undo()
    assert owner.begin(300)
    again = [owner.allocate(words) for words in (10, 10, 67, 100)]
    assert sorted(again) == sorted(nodes)
    assert int(arena.words[owner.me + layout.P_BUMP]) == bump, "new memory was used in place of the free nodes"
    assert owner.allocate(10) == bump


def test_a_freed_node_serves_its_own_class_only(arena):
    owner = Owner(arena)
    assert owner.begin(300)
    node = owner.allocate(10)
    owner.undo()
    assert owner.begin(300)
    assert owner.allocate(9) != node
    assert owner.allocate(11) != node
    assert owner.allocate(10) == node


def test_undo_forgets_nothing_and_repeats_nothing(arena):
    owner = Owner(arena)
    assert owner.begin(100)
    kept = owner.allocate(5)
    assert owner.begin(100)  # the next attempt: the first succeeded, its node is in use
    owner.allocate(5)
    owner.undo()
    owner.undo()
    assert owner.begin(100)
    taken = [owner.allocate(5) for _ in range(3)]
    assert kept not in taken
    assert len(set(taken)) == 3


def test_begin_fails_cleanly_when_full(arena):
    owner, other = Owner(arena), Owner(arena)
    assert owner.begin(300)
    live = owner.allocate(10)
    arena.words[live + 1 : live + 10] = 7
    attempts = 0
    while other.begin(8192):  # what 5,000 words round up to
        other.allocate(5000)
        attempts += 1
    assert attempts > 5
    before = arena.words.copy()
    assert not other.begin(100_000)
    assert not owner.begin(100_000)
    changed = np.flatnonzero(before != arena.words).tolist()
    journals = {int(owner.me + layout.P_JOURNALLED), int(other.me + layout.P_JOURNALLED)}
    assert set(changed) <= journals, "a refused attempt changed more than its empty journal"
    assert arena.words[layout.H_BUMP] <= len(arena.words)
    assert owner.begin(10), "what fits must still be granted"


def test_the_last_words_can_be_used(arena):
    owner = Owner(arena)
    nodes = []
    while owner.begin(16):
        nodes.append(owner.allocate(16))
    assert len(nodes) == (len(arena.words) - layout.FIRST_NODE) // 16
    assert max(nodes) + 16 <= len(arena.words)


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(st.one_of(st.integers(1, 80), st.integers(1, 3000)), max_size=8),
        st.booleans(),
    ),
    max_size=60,
)


@given(steps=_STEPS)
@settings(max_examples=60)
def test_live_nodes_never_overlap(steps):
    arena = Arena.anonymous(2 << 20)
    owners = [Owner(arena) for _ in range(3)]
    live = []
    for who, sizes, undone in steps:
        owner = owners[who]
        if not owner.begin(sum(map(_round_up, sizes))):
            continue
        nodes = [(owner.allocate(words), _round_up(words)) for words in sizes]
        if undone:
            owner.undo()
        else:
            live += nodes
        spans = sorted(nodes + live if undone else live)
        assert all(a + size <= b for (a, size), (b, _) in pairwise(spans))
        assert not spans or spans[0][0] >= layout.FIRST_NODE
        assert not spans or sum(spans[-1]) <= int(arena.words[layout.H_BUMP]) <= len(arena.words)
