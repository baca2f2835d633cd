"""Attempts: what is allocated is kept, undone, abandoned, or written into the sink."""

from itertools import pairwise

import numpy as np
import pytest
from free_memory import free_spans
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena
from latchfree.arena import layout
from latchfree.arena.kernels import allocator, blocks, freelists
from latchfree.arena.kernels.allocator import ORDINARY, URGENT
from latchfree.arena.kernels.freelists import reserve_of, round_up
from latchfree.arena.kernels.participants import claim, collect

U = np.uint64
BLOCK = int(blocks.BLOCK_WORDS)
STOCK_WORDS = int(blocks.STOCK) * BLOCK
#: Blocks that serve as nodes where memory has run out.
EXTRA = int(blocks.STOCK - blocks.SPARES)


class Owner:
    """A participant that allocates as the kernels do: a header with the size in every node."""

    def __init__(self, arena):
        self.base = U(arena.base)
        self.words = arena.words
        self.me = U(claim(self.base, U(1 << 16)))

    def begin(self, urgent=ORDINARY):
        return bool(allocator.begin(self.base, self.me, urgent))

    def allocate(self, words):
        node = int(allocator.allocate(self.base, self.me, U(words)))
        if node:
            self.words[node] = words << 40
        return node

    def failed(self):
        return bool(allocator.failed(self.base, self.me))

    def undo(self):
        allocator.undo(self.base, self.me)

    def abandon(self):
        allocator.abandon(self.base, self.me)

    def collect(self):
        collect(self.base, self.me)

    def fill(self, words, urgent=ORDINARY):
        """Allocate nodes until there is no room for one more; returns them."""
        nodes = []
        while self.begin(urgent):
            node = self.allocate(words)
            if self.failed():
                break
            nodes.append(node)
        return nodes

    @property
    def live(self):
        return int(self.words[int(self.me + layout.P_LIVE)])


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


@pytest.fixture
def owner(arena):
    return Owner(arena)


def spares(arena):
    return arena.census().spare


def test_nodes_of_an_attempt_lie_side_by_side(owner):
    assert owner.begin()
    first = owner.allocate(10)
    assert owner.allocate(3) == first + 12
    assert owner.allocate(100) == first + 15
    assert owner.allocate(1) == first + 15 + 128
    assert not owner.failed()


@pytest.mark.parametrize("urgent", [ORDINARY, URGENT])
def test_begin_stocks_what_a_commit_needs_to_retire_nodes(arena, owner, urgent):
    assert owner.begin(urgent)
    assert spares(arena) == STOCK_WORDS
    assert owner.begin(urgent)
    assert spares(arena) == STOCK_WORDS, "and no more the next time"


def test_undo_gives_nodes_back_to_be_used_again(owner):
    assert owner.begin()
    before = owner.live
    nodes = [owner.allocate(words) for words in (10, 10, 67, 100)]
    assert owner.live == before + 12 + 12 + 68 + 128
    bump = int(owner.words[owner.me + layout.P_BUMP])
    owner.undo()
    assert owner.live == before
    assert owner.begin()
    again = [owner.allocate(words) for words in (10, 10, 67, 100)]
    assert sorted(again) == sorted(nodes)
    assert int(owner.words[owner.me + layout.P_BUMP]) == bump, "new memory was used in place of the free nodes"
    assert owner.allocate(10) == bump


def test_a_freed_node_serves_its_own_class_first(owner):
    assert owner.begin()
    node = owner.allocate(10)
    owner.undo()
    assert owner.begin()
    assert owner.allocate(8) != node
    assert owner.allocate(13) != node
    assert owner.allocate(9) == node, "12 words, as 10 are"


def test_undo_forgets_nothing_and_repeats_nothing(owner):
    assert owner.begin()
    kept = owner.allocate(5)
    assert owner.begin()  # the next attempt: the first succeeded, its node is in use
    owner.allocate(5)
    owner.undo()
    owner.undo()
    assert owner.begin()
    taken = [owner.allocate(5) for _ in range(3)]
    assert kept not in taken
    assert len(set(taken)) == 3


def test_what_was_abandoned_is_free_only_after_its_grace(arena, owner):
    assert owner.begin()
    node = owner.allocate(10)
    owner.abandon()
    owner.abandon()  # the journal is empty then
    assert owner.begin()
    assert owner.allocate(10) != node
    assert arena.census().limbo == 12 + BLOCK
    for _ in range(3):
        owner.collect()
    assert arena.census().limbo == 0
    assert owner.begin()
    assert owner.allocate(10) == node


def test_an_attempt_that_fails_writes_into_the_sink_and_frees_what_it_had(arena, owner):
    owner.fill(10)
    for small in range(9, 0, -1):
        owner.fill(small)
    census = arena.census()
    assert owner.begin()
    sink = owner.allocate(128)
    assert sink == owner.me + layout.P_SINK
    assert owner.allocate(5) == sink
    assert owner.allocate(129) == 0, "larger than the sink"
    assert owner.failed()
    assert arena.census() == census, "a refused attempt changed something"


def test_part_of_a_failed_attempt_is_free_again(owner):
    taken = owner.fill(70)
    assert owner.begin()
    before = owner.live
    nodes = [owner.allocate(4) for _ in range(5)]  # the rest of the arena is less than 70 words
    assert owner.allocate(70) == owner.me + layout.P_SINK
    assert owner.failed()
    assert owner.live == before
    assert owner.begin()
    assert set(nodes) & {owner.allocate(4) for _ in range(5)}
    assert not set(nodes) & set(taken)


def test_begin_fails_cleanly_when_there_is_no_room_for_spare_blocks(arena):
    owner, other = Owner(arena), Owner(arena)
    assert owner.begin()
    owner.fill(10)
    for small in range(9, 0, -1):
        owner.fill(small)
    census, before = arena.census(), arena.words[: layout.PARTICIPANTS].copy()
    assert not other.begin()
    assert arena.census() == census
    assert (arena.words[: layout.PARTICIPANTS] == before).all()
    assert other.begin(URGENT), "the reserve is for the urgent"
    assert owner.begin(), "who has spare blocks needs no room for them"


def test_the_reserve_is_for_the_urgent(arena, owner):
    owner.fill(16)
    assert not [node for node in owner.fill(16) if node]
    reserve = int(reserve_of(U(len(arena.words))))
    assert spares(arena) == STOCK_WORDS, "not yet touched"
    urgent = owner.fill(16, URGENT)
    assert reserve // 16 - 1 <= len(urgent) - EXTRA * (BLOCK // 16) <= reserve // 16
    assert owner.fill(16, URGENT) == []


def test_the_last_words_can_be_used(arena, owner):
    nodes = owner.fill(16, URGENT)
    room = len(arena.words) - layout.FIRST_NODE - STOCK_WORDS
    assert len(nodes) == room // 16 + EXTRA * (BLOCK // 16)
    assert max(nodes) + 16 <= len(arena.words)


def use_up(owner, take):
    """Take every free word, with `take` or `take_urgently`."""
    for size in range(72, 0, -1):
        while take(owner.base, owner.me, U(size)):
            pass


def take_all(base, me, size):
    return freelists.take(base, me, size, URGENT)


@pytest.mark.parametrize("words", [4, 16, 60, 67, 68])
def test_without_memory_the_stock_serves_the_urgent_as_nodes(arena, owner, words):
    size = int(round_up(U(words)))
    owner.fill(72, URGENT)
    use_up(owner, take_all)
    stock = [start for start, _ in free_spans(arena)]
    assert len(stock) == int(blocks.STOCK)
    before = arena.census()
    nodes = owner.fill(words, URGENT)
    assert len(nodes) == EXTRA * (BLOCK // size)
    assert all(any(block <= node and node + size <= block + BLOCK for block in stock) for node in nodes)
    now = arena.census()
    assert now.nodes == before.nodes + len(nodes) * size
    assert now.free == EXTRA * (BLOCK % size), "the rest of each"
    assert now.spare == int(blocks.SPARES) * BLOCK, "what the attempts retire can still be listed"
    assert arena.allocated == 8 * (now.nodes + now.spare)


def test_where_memory_has_run_out_only_the_urgent_begin(arena, owner):
    owner.fill(72, URGENT)
    use_up(owner, blocks.take_urgently)
    assert spares(arena) == int(blocks.SPARES) * BLOCK
    census = arena.census()
    assert not owner.begin()
    assert owner.begin(URGENT)
    assert owner.allocate(1) == owner.me + layout.P_SINK, "the last blocks are no nodes"
    assert owner.failed()
    assert arena.census() == census


def test_the_stock_is_made_up_when_there_is_memory_again(arena, owner):
    nodes = owner.fill(72, URGENT)
    use_up(owner, blocks.take_urgently)
    for node in nodes[1:EXTRA]:
        freelists.give(owner.base, owner.me, U(node), U(72))
    assert not owner.begin()
    assert spares(arena) == STOCK_WORDS - BLOCK
    freelists.give(owner.base, owner.me, U(nodes[0]), U(72))
    assert owner.begin()
    assert spares(arena) == STOCK_WORDS
    assert not owner.failed()


def test_a_node_may_be_as_large_as_a_value_may_be(arena):
    owner = Owner(Arena.anonymous(64 << 20))
    assert owner.begin()
    assert owner.allocate((1 << 20) - 1)
    assert not owner.failed()


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.lists(st.one_of(st.integers(1, 80), st.integers(1, 3000)), max_size=8),
        st.sampled_from(["commit", "undo", "abandon"]),
    ),
    max_size=60,
)


@given(steps=_STEPS)
@settings(max_examples=60)
def test_live_nodes_never_overlap(steps):
    arena = Arena.anonymous(4 << 20)
    owners = [Owner(arena) for _ in range(3)]
    live = []
    for who, sizes, end in steps:
        owner = owners[who]
        if not owner.begin():
            continue
        nodes = [(owner.allocate(words), int(round_up(U(words)))) for words in sizes]
        if owner.failed():
            continue
        spans = sorted(nodes + live)
        assert all(a + size <= b for (a, size), (b, _) in pairwise(spans))
        assert not spans or spans[0][0] >= layout.FIRST_NODE
        assert not spans or sum(spans[-1]) <= int(arena.words[layout.H_BUMP]) <= len(arena.words)
        if end == "undo":
            owner.undo()
        elif end == "abandon":
            owner.abandon()
        else:
            live += nodes
    for _ in range(4):
        for owner in owners:
            owner.collect()
    spans = sorted(live + free_spans(arena))
    assert all(a + size == b for (a, size), (b, _) in pairwise(spans)), "a word is in no place, or in two"
    assert not spans or sum(spans[-1]) == int(arena.words[layout.H_BUMP])
    assert arena.census().nodes == sum(size for _, size in live)
