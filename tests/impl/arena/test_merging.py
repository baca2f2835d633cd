"""Merging: no word is lost or found twice, and what lies side by side is one piece again."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from free_memory import free_spans, private_list
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena, Ctrie
from latchfree.arena import layout
from latchfree.arena.border import ARENA
from latchfree.arena.kernels import freelists
from latchfree.arena.kernels.participants import FREE, claim, release
from latchfree.arena.merging import joined

U = np.uint64
URGENT = U(1)
ALL = 1 << 20


class Owner:
    def __init__(self, arena):
        self.arena = arena
        self.base = U(arena.base)
        self.me = int(claim(self.base, U(1 << 16)))

    def take(self, words):
        """A node of at least so many words and its size, or None."""
        size = int(freelists.round_up(U(words)))
        node = int(freelists.take(self.base, U(self.me), U(size), URGENT))
        return (node, size) if node else None

    def give(self, node, size):
        self.arena.words[node : node + size] = (1 << 64) - 1
        freelists.give(self.base, U(self.me), U(node), U(size))

    def merge(self, room=ALL):
        starts, ends = np.zeros((2, room), np.uint64)
        found = ARENA.gather(self.arena.base, self.me, 0, starts, ends)
        ARENA.scatter(self.arena.base, self.me, *joined(starts[:found], ends[:found]))

    def release(self):
        release(self.base, U(self.me), self.arena.words[self.me])

    def private(self):
        """All that only its owner may touch."""
        words = self.arena.words
        chunk = int(words[self.me + int(layout.P_BUMP)]), int(words[self.me + int(layout.P_LIMIT)])
        return chunk, [private_list(self.arena, self.me, kind) for kind in range(int(freelists.CLASSES))]


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


def free_words(arena):
    census = arena.census()
    return census.free + census.tails


def check_partition(arena, live):
    spans = sorted(live + free_spans(arena))
    assert not spans or spans[0][0] == layout.FIRST_NODE
    assert all(a + size == b for (a, size), (b, _) in pairwise(spans)), "a word is in no place, or in two"
    assert not spans or sum(spans[-1]) == int(arena.words[layout.H_BUMP])
    assert arena.census().nodes == sum(size for _, size in live)


def largest_pieces(arena, live):
    """What is not in use, in the pieces that a merge makes of it."""
    pieces, at = [], layout.FIRST_NODE
    for node, size in [*sorted(live), (int(arena.words[layout.H_BUMP]), 0)]:
        while at < node:
            piece = int(freelists.piece_of(U(node - at)))
            pieces.append((at, piece))
            at += piece
        at = node + size
    return pieces


def play(owners, live, steps):
    """Take and give in turn, as `steps` say."""
    for who, action, words, which in steps:
        owner = owners[who]
        if action == "take":
            for _ in range(1 + which % 40):
                node = owner.take(words)
                live += [node] if node else []
        else:
            for k in range(min(len(live), 1 + which % 60)):
                owner.give(*live.pop(which * (k + 1) % len(live)))


_STEPS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from(["take", "give"]),
        st.one_of(st.integers(1, 8), st.integers(1, 80), st.integers(1, 20_000)),
        st.integers(0, 1000),
    ),
    max_size=40,
)


@given(before=_STEPS, after=_STEPS, room=st.sampled_from([0, 1, 7, 100, ALL]))
@settings(max_examples=60)
def test_no_word_is_lost_or_found_twice(before, after, room):
    arena = Arena.anonymous(4 << 20)
    owners, live = [Owner(arena), Owner(arena)], []
    for steps in (before, after):
        play(owners, live, steps)
        free, others = free_words(arena), owners[1].private()
        owners[0].merge(room)
        assert free_words(arena) == free
        assert owners[1].private() == others, "what another has in hand is his"
        assert arena.allocated == 8 * sum(size for _, size in live)
        check_partition(arena, live)


@given(steps=_STEPS)
@settings(max_examples=60)
def test_all_that_nobody_has_in_hand_is_merged(steps):
    arena = Arena.anonymous(4 << 20)
    owners, live = [Owner(arena), Owner(arena)], []
    play(owners, live, steps)
    owners[1].release()
    free = free_words(arena)
    owners[0].merge()
    assert free_words(arena) == arena.census().free == free
    assert sorted(free_spans(arena)) == largest_pieces(arena, live)
    assert arena.words[owners[1].me] == FREE, "a slot without owner can be claimed again"


@pytest.mark.parametrize("small", [2, 5, 8, 12, 72])
def test_small_nodes_make_a_large_one(arena, small):
    owners, nodes = [Owner(arena), Owner(arena)], []
    while node := owners[len(nodes) % 2].take(small):
        nodes.append(node)
    for k, node in enumerate(nodes):
        owners[k // 3 % 2].give(*node)
    assert owners[0].take(1 << 16) is None
    owners[1].release()
    owners[0].merge()
    large = [owners[0].take(1 << 16) for _ in range(3)]
    assert None not in large
    check_partition(arena, large)


def test_a_word_in_use_between_two_free_nodes_keeps_them_apart(arena):
    owner = Owner(arena)
    nodes = [owner.take(8) for _ in range(30)]
    while owner.take(1):
        pass
    for k, node in enumerate(nodes):
        if k % 3 != 2:
            owner.give(*node)
    owner.merge()
    assert sorted(free_spans(arena)) == [(nodes[k][0], 16) for k in range(0, 30, 3)]


@pytest.mark.parametrize("by", ["the caller", "a thread that has ended"])
def test_values_larger_than_any_free_piece_find_room(arena, by):
    """An arena filled with small entries and emptied takes large ones, without anybody asking for a merge."""
    trie = Ctrie(keys=int, values=bytes, arena=arena)

    def fill_and_empty():
        if by == "the caller":
            for k in range(30_000):
                trie[k] = b"%d" % k
            for k in range(30_000):
                del trie[k]
        else:
            trie.put_many(list(range(30_000)), [b"%d" % k for k in range(30_000)])
            assert all(trie.remove_many(list(range(30_000))))

    worker = threading.Thread(target=fill_and_empty)
    worker.start()
    worker.join()
    large = {k: bytes([k]) * 20_000 for k in range(50)}
    unused = arena.capacity - arena.used
    assert unused < 8 * 4096 * len(large), "there is no room without merging"
    for k, value in large.items():
        trie[k] = value
    assert dict(trie.items()) == large
