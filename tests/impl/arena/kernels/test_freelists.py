"""Free lists: sizes, trading between participants, splitting, and that no word is ever in two places."""

from itertools import pairwise

import numpy as np
import pytest
from free_memory import free_spans, private_list, shared_list
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena
from latchfree.arena import layout
from latchfree.arena.kernels import freelists
from latchfree.arena.kernels.participants import claim

U = np.uint64
CLASSES = [*range(1, 9), *range(12, 73, 4), *(1 << k for k in range(7, 27))]
LISTS = [*range(1, 73), *(1 << k for k in range(7, 27))]
ORDINARY, URGENT = U(0), U(1)


def _round_up(words):
    return next(size for size in CLASSES if size >= words)


class Owner:
    def __init__(self, arena):
        self.arena = arena
        self.base = U(arena.base)
        self.me = int(claim(self.base, U(1 << 16)))

    def take(self, size, urgent=ORDINARY):
        return int(freelists.take(self.base, U(self.me), U(size), urgent))

    def give(self, node, size):
        # What a free node held is of no importance, and nobody may rely on it.
        self.arena.words[node : node + size] = (1 << 64) - 1
        freelists.give(self.base, U(self.me), U(node), U(size))

    def length(self, size):
        return len(private_list(self.arena, self.me, int(freelists.size_class(U(size)))))


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


def batches(arena, size):
    return shared_list(arena, int(freelists.size_class(U(size))))


def test_sizes_are_exact_up_to_8_words_multiples_of_4_up_to_72_and_powers_of_two_above():
    asked = [*range(1, 600), 1000, 1024, 1025, 100_000, (1 << 20) - 1, 1 << 20]
    assert [int(freelists.round_up(U(n))) for n in asked] == [_round_up(n) for n in asked]


def test_every_class_has_a_free_list_of_its_own():
    kinds = [int(freelists.size_class(U(size))) for size in LISTS]
    assert kinds == list(range(int(freelists.CLASSES)))
    assert [int(freelists.class_size(U(kind))) for kind in kinds] == LISTS
    assert int(layout.P_FREE) + len(kinds) <= int(layout.P_LENGTH)
    assert int(layout.P_LENGTH) + len(kinds) <= int(layout.P_JOURNAL)
    assert int(layout.P_EDGE) + len(kinds) <= layout.PARTICIPANT_WORDS
    assert int(layout.SHARED_LISTS) + len(kinds) <= layout.PARTICIPANTS


@pytest.mark.parametrize("size", [1, 2, 5, 8, 9, 67, 72, 128, 1024])
def test_what_is_given_is_taken_again(arena, size):
    owner = Owner(arena)
    nodes = [owner.take(size) for _ in range(20)]
    given_before = arena.census().given
    for node in nodes:
        owner.give(node, size)
    assert arena.census().nodes == 0
    assert sorted(owner.take(size) for _ in range(20)) == sorted(nodes)
    assert arena.census().given == given_before


@pytest.mark.parametrize("size", [2, 8, 9, 72, 128])
def test_a_long_list_spills_a_batch_which_another_takes(arena, size):
    giver, taker = Owner(arena), Owner(arena)
    batch = int(freelists.batch_of(freelists.size_class(U(size))))
    nodes = [giver.take(size) for _ in range(10 * batch)]
    for node in nodes:
        giver.give(node, size)
    assert giver.length(size) < 2 * batch, "a private list holds less than two batches"
    assert [len(shared) for shared in batches(arena, size)] == [batch] * len(batches(arena, size))
    assert giver.length(size) + batch * len(batches(arena, size)) == 10 * batch
    before = arena.census().given
    taken = [taker.take(size) for _ in range(9 * batch - 1)]
    assert set(taken) <= set(nodes)
    assert len(set(taken)) == len(taken)
    assert arena.census().given == before, "new memory was used while others had free nodes to share"


def test_the_version_of_a_shared_list_rises_with_every_change(arena):
    """So that a late CAS on its head fails, though the same batch may be on top again (ABA)."""
    owner = Owner(arena)
    head = int(layout.SHARED_LISTS) + int(freelists.size_class(U(5)))
    versions = [int(arena.words[head]) >> 40]
    batch = int(freelists.batch_of(freelists.size_class(U(5))))
    for _ in range(3):
        nodes = [owner.take(5) for _ in range(3 * batch + 1)]
        versions.append(int(arena.words[head]) >> 40)
        for node in nodes:
            owner.give(node, 5)
        versions.append(int(arena.words[head]) >> 40)
    assert versions == sorted(versions)
    assert len(set(versions[::2])) == 4


@given(st.lists(st.tuples(st.sampled_from(["take", "give", "killed"]), st.integers(1, 90)), max_size=40))
@settings(deadline=None)
def test_the_edge_is_in_the_list_whenever_the_length_says_more_than_a_batch(steps):
    """Also with lengths too small, as they are left by whoever is killed between a node and its count."""
    arena = Arena.anonymous(4 << 20)
    owner, size = Owner(arena), 12
    kind = int(freelists.size_class(U(size)))
    length, edge = (owner.me + int(field) + kind for field in (layout.P_LENGTH, layout.P_EDGE))
    batch = int(freelists.batch_of(U(kind)))
    held = set()
    for step, count in steps:
        for _ in range(count):
            if step == "take":
                node = owner.take(size)
                assert node not in held
                held.add(node)
            elif step == "give" and held:
                owner.give(held.pop(), size)
            elif step == "killed" and arena.words[length] > 0:
                arena.words[length] -= U(1)
            free = private_list(arena, owner.me, kind)
            shared = [node for nodes in shared_list(arena, kind) for node in nodes]
            assert len({*free, *shared}) == len(free) + len(shared)
            assert not held & {*free, *shared}
            if arena.words[length] > batch:
                assert int(arena.words[edge]) in free


def test_nodes_of_one_word_are_never_shared(arena):
    """They have no word to link batches by."""
    owner = Owner(arena)
    nodes = [owner.take(1) for _ in range(1000)]
    for node in nodes:
        owner.give(node, 1)
    assert owner.length(1) == 1000
    assert batches(arena, 1) == []


def test_a_larger_free_node_is_split_when_nothing_else_is_left(arena):
    owner = Owner(arena)
    nodes = []
    while node := owner.take(60, URGENT):
        nodes.append(node)
    while owner.take(7, URGENT) or owner.take(1, URGENT):
        pass
    for node in nodes[:3]:
        owner.give(node, 60)
    census = arena.census()
    assert census.free == 180
    pieces = [owner.take(24, URGENT) for _ in range(6)]
    assert 0 not in pieces
    assert all(any(node <= piece and piece + 24 <= node + 60 for node in nodes[:3]) for piece in pieces)
    assert owner.take(24, URGENT) == 0, "what is left is 36 words in three pieces"
    assert arena.census().free == 180 - 144
    assert [owner.take(8, URGENT) > 0 for _ in range(4)] == [True, True, True, False]
    assert [owner.take(4, URGENT) > 0 for _ in range(4)] == [True, True, True, False]
    assert arena.census().free == 0


def test_a_shared_node_is_split_too(arena):
    giver, taker = Owner(arena), Owner(arena)
    nodes = []
    while node := giver.take(512, URGENT):
        nodes.append(node)
    while giver.take(1, URGENT):
        pass
    for node in nodes:
        giver.give(node, 512)
    assert len(batches(arena, 512)) > 10
    assert taker.take(128, URGENT) in {node + k * 128 for node in nodes for k in range(4)}


def test_the_largest_free_node_becomes_the_chunk_before_a_small_one_is_split(arena):
    """So that memory once used for large nodes serves small ones without crumbs."""
    owner = Owner(arena)
    small, middle, large = owner.take(48), owner.take(256), owner.take(1024)
    rest = []
    for size in (1024, 72, 1):
        while node := owner.take(size, URGENT):
            rest.append((node, size))
    for node, size in ((small, 48), (middle, 256), (large, 1024)):
        owner.give(node, size)
    taken = [owner.take(40, URGENT) for _ in range(1024 // 40)]
    assert taken == [large + 40 * k for k in range(1024 // 40)], "side by side"
    assert owner.take(40, URGENT) == middle
    assert owner.length(48) == 1
    live = [*rest, (middle, 40), *((node, 40) for node in taken)]
    _check_partition(arena, live)


def test_a_gap_is_carved_into_pieces_that_fit_and_none_of_one_word():
    for gap in [*range(1, 300), 1000, 1025, 5000, (1 << 20) + 1, (1 << 21) + 3]:
        sizes, left = [], gap
        while left:
            sizes.append(int(freelists.piece_of(U(left))))
            left -= sizes[-1]
            assert left >= 0, gap
        assert all(size in CLASSES for size in sizes), gap
        assert 1 not in sizes[1:], f"a single word is in no shared list: {gap}"
        assert max(sizes) <= 1 << 20, "the largest node there is"
        assert len(sizes) <= 24 + gap // (1 << 20), gap


def test_the_end_of_a_chunk_that_is_given_up_is_not_lost(arena):
    first, second = Owner(arena), Owner(arena)
    chunk = int(arena.words[layout.H_CHUNK])
    live = []
    for _ in range(3):
        # In turn, so that a new chunk of one never continues its old one.
        for owner in (first, second):
            live += [(owner.take(70), 70) for _ in range(chunk // 70)]
    _check_partition(arena, live)
    assert arena.census().free > 0, "the ends, less than 70 words each"


@pytest.mark.parametrize("size", [2, 10, 67, 256])
def test_two_participants_trade_memory_in_bounded_space(arena, size):
    giver, taker = Owner(arena), Owner(arena)
    used = None
    for turn in range(200):
        nodes = [taker.take(size) for _ in range(100)]
        assert 0 not in nodes
        for node in nodes:
            giver.give(node, size)
        if turn == 5:
            used = arena.used
    assert arena.used == used
    census = arena.census()
    assert census.nodes == 0
    assert arena.allocated == 0, "the sum of what each took and gave"


def _check_partition(arena, live):
    spans = sorted(live + free_spans(arena))
    assert spans[0][0] == layout.FIRST_NODE
    assert all(a + size == b for (a, size), (b, _) in pairwise(spans)), "a word is in no place, or in two"
    assert sum(spans[-1]) == int(arena.words[layout.H_BUMP]) <= len(arena.words)
    census = arena.census()
    assert census.nodes == sum(size for _, size in live)
    assert census.free + census.tails == sum(size for _, size in free_spans(arena))


_SIZES = st.one_of(st.integers(1, 8), st.integers(1, 80), st.integers(1, 40_000))
_STEPS = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["take", "give"]), _SIZES, st.integers(0, 1000)),
    min_size=1,
    max_size=150,
)


@given(steps=_STEPS)
@settings(max_examples=80)
def test_a_word_is_in_one_place(steps):
    arena = Arena.anonymous(4 << 20)
    owners = [Owner(arena) for _ in range(3)]
    owners[0].take(1)
    live = [(layout.FIRST_NODE, 1), *_apply(owners, steps)]
    _check_partition(arena, live)


def _apply(owners, steps):
    live = []
    for who, action, size, which in steps:
        owner = owners[who]
        if action == "take":
            size = _round_up(size)
            node = owner.take(size, URGENT if which % 3 == 0 else ORDINARY)
            if node:
                live.append((node, size))
        else:
            for _ in range(min(len(live), 1 + size % 7)):
                owner.give(*live.pop(which % len(live)))
    return live


@pytest.mark.parametrize("top", [4, 80, 3000])
def test_a_word_is_in_one_place_at_length(arena, rng, top):
    """Long random runs that fill the arena to the last word, empty it, and fill it with other sizes."""
    owners = [Owner(arena) for _ in range(3)]
    live = []
    for phase in range(6):
        sizes = [rng.randint(1, top) for _ in range(5)]
        refused = 0
        while refused < 20 and len(live) < 20_000:
            size = _round_up(rng.choice(sizes))
            node = rng.choice(owners).take(size, U(rng.randrange(2)))
            refused += node == 0
            live += [(node, size)] if node else []
        _check_partition(arena, live)
        rng.shuffle(live)
        for node, size in live[len(live) // (phase + 2) :]:
            rng.choice(owners).give(node, size)
        del live[len(live) // (phase + 2) :]
        _check_partition(arena, live)
