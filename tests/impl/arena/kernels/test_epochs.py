"""Epochs: a pin holds the epoch, a retired node waits for its grace, and the limbo is drained in order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena
from latchfree.arena import layout
from latchfree.arena.kernels import blocks, epochs
from latchfree.arena.kernels.allocator import ORDINARY, allocate, begin, undo
from latchfree.arena.kernels.participants import claim, release

U = np.uint64
EVERYTHING = U(1 << 62)


class Owner:
    """A participant; its nodes have a header of their size."""

    def __init__(self, arena):
        self.arena = arena
        self.words = arena.words
        self.base = U(arena.base)
        self.me = U(claim(self.base, U(1 << 16)))

    def nodes(self, count, words=10):
        assert begin(self.base, self.me, ORDINARY)
        made = [int(allocate(self.base, self.me, U(words))) for _ in range(count)]
        for node in made:
            self.words[node] = words << 40
        return made

    def free_nodes(self, count, words=10):
        """What the next attempt would be given; it is given back."""
        made = self.nodes(count, words)
        undo(self.base, self.me)
        return made

    def pin(self):
        epochs.pin(self.base, self.me)

    def unpin(self):
        epochs.unpin(self.base, self.me)

    def retire(self, node):
        assert begin(self.base, self.me, ORDINARY)
        epochs.retire(self.base, self.me, U(node))

    def advance(self):
        return bool(epochs.try_advance(self.base))

    def drain(self, most=EVERYTHING):
        return bool(epochs.drain(self.base, self.me, U(most)))

    def pinned(self):
        return int(self.words[int(self.me + layout.P_PIN)])


@pytest.fixture
def owner(arena):
    return Owner(arena)


@pytest.fixture
def other(arena):
    return Owner(arena)


def epoch(arena):
    return int(arena.words[layout.H_EPOCH])


def test_a_pin_says_the_epoch(arena, owner):
    for _ in range(3):
        owner.pin()
        assert owner.pinned() == epoch(arena) << 1 | 1
        owner.unpin()
        assert owner.pinned() == 0
        assert owner.advance()


def test_the_epoch_moves_one_at_a_time_while_nobody_is_pinned(arena, owner):
    first = epoch(arena)
    for k in range(5):
        assert owner.advance()
        assert epoch(arena) == first + k + 1


def test_a_pin_lets_the_epoch_move_once_and_no_further(arena, owner, other):
    first = epoch(arena)
    owner.pin()
    assert other.advance()
    for _ in range(5):
        assert not other.advance()
        assert not owner.advance()
    assert epoch(arena) == first + 1
    other.pin()  # in the new epoch
    assert not other.advance()
    owner.unpin()
    assert other.advance(), "whoever is pinned in the current epoch does not stop it"
    assert not other.advance()
    other.unpin()
    assert other.advance()
    assert epoch(arena) == first + 3


def test_every_slot_that_was_ever_claimed_is_looked_at(arena, owner):
    others = [Owner(arena) for _ in range(20)]
    for one in others:
        release(one.base, one.me, one.words[int(one.me)])
    others[-1].pin()
    owner.advance()
    assert not owner.advance()
    others[-1].unpin()
    assert owner.advance()


def test_a_retired_node_is_not_used_again_before_its_grace(arena, owner):
    (node,) = owner.nodes(1)
    owner.retire(node)
    for _ in range(2):
        assert node not in owner.free_nodes(50)
        owner.drain()
        assert node not in owner.free_nodes(50)
        assert owner.advance()
    owner.drain()
    assert node in owner.free_nodes(50)


def test_beginning_an_attempt_drains(arena, owner):
    (node,) = owner.nodes(1)
    owner.retire(node)
    owner.advance()
    owner.advance()
    assert owner.free_nodes(1) == [node]


@pytest.mark.parametrize("later", [0, 1])
def test_a_pinned_reader_keeps_what_was_retired_since_and_just_before(arena, owner, other, later):
    """Who is pinned in an epoch may hold what is retired in it; the epoch after it is as far as time goes."""
    other.pin()
    for _ in range(later):
        assert owner.advance()
    nodes = owner.nodes(30)
    for node in nodes:
        owner.retire(node)
    for _ in range(10):
        owner.advance()
        owner.drain()
    assert not set(nodes) & set(owner.free_nodes(200))
    other.unpin()
    for _ in range(2):
        owner.advance()
    owner.drain()
    assert set(nodes) <= set(owner.free_nodes(200))


def test_somebody_who_stopped_bounds_nothing_but_memory(arena, owner, other):
    other.pin()
    for _ in range(40):
        for node in owner.nodes(50):
            owner.retire(node)
    census = arena.census()
    assert census.limbo >= 40 * 50 * 10
    assert census.nodes == 0
    other.unpin()
    for _ in range(3):
        owner.advance()
    owner.drain()
    assert arena.census().limbo == 0


def test_retiring_advances_the_epoch_now_and_then(arena, owner):
    before = epoch(arena)
    for node in owner.nodes(150):
        owner.retire(node)
    assert epoch(arena) > before


def test_memory_is_bounded_when_retiring_is_all_that_happens(arena, owner):
    for turn in range(300):
        for node in owner.nodes(20):
            owner.retire(node)
        if turn == 30:
            used = arena.used
    assert arena.used == used


@pytest.mark.parametrize("count", [1, 59, 60, 61, 200, 1000])
def test_draining_frees_every_node_once(arena, owner, count):
    nodes = [node for _ in range(0, count, 100) for node in owner.nodes(100)][:count]
    for node in nodes:
        epochs.retire(owner.base, owner.me, U(node))
        blocks.stock_spares(owner.base, owner.me, U(6), U(0))
    for _ in range(3):
        owner.advance()
    assert not owner.drain()
    free = [node for _ in range(0, count + 300, 100) for node in owner.nodes(100)]
    assert len(set(free)) == len(free)
    assert set(nodes) <= set(free)


def test_draining_a_few_at_a_time(arena, owner):
    for node in owner.nodes(100):
        epochs.retire(owner.base, owner.me, U(node))
    for _ in range(3):
        owner.advance()
    left = [arena.census().limbo]
    while owner.drain(10):
        left.append(arena.census().limbo)
        assert 0 < left[-2] - left[-1] <= 11 * 64
    assert arena.census().limbo == 0
    assert len(left) >= 10


def test_the_limbo_frees_the_oldest_first(arena, owner):
    old, new = owner.nodes(2)
    owner.retire(old)
    owner.advance()
    owner.retire(new)
    owner.advance()
    owner.drain()
    assert old in owner.free_nodes(20)
    assert new not in owner.free_nodes(20)
    owner.advance()
    owner.drain()
    assert new in owner.free_nodes(20)


def test_a_node_is_retired_in_the_epoch_read_after_it_was_unlinked(arena, owner):
    """A block holds nodes of one epoch only."""
    for _ in range(5):
        owner.retire(owner.nodes(1)[0])
        owner.advance()
    block = int(arena.words[int(owner.me + layout.P_OLDEST)])
    tags = []
    while block:
        tags.append((int(arena.words[block + int(blocks.EPOCH)]), int(arena.words[block + int(blocks.COUNT)])))
        block = int(arena.words[block + int(blocks.LINK)])
    assert [tag for tag, _ in tags] == sorted({tag for tag, _ in tags})
    assert tags[-1] == (epoch(arena) - 1, 1)


_STEP = st.tuples(
    st.integers(0, 2), st.sampled_from(["pin", "unpin", "retire", "advance", "drain", "attempt"]), st.integers(1, 12)
)


@given(steps=st.lists(_STEP, max_size=120))
@settings(max_examples=80)
def test_no_node_is_used_again_while_somebody_pinned_before_its_death_still_is(steps):
    arena = Arena.anonymous(4 << 20)
    owners = [Owner(arena) for _ in range(3)]
    pins = [None] * 3  # the moment each was pinned
    dead = {}  # node: the moment it was retired
    for now, (who, action, count) in enumerate(steps):
        owner = owners[who]
        if action == "pin" and pins[who] is None:
            owner.pin()
            pins[who] = now
        elif action == "unpin":
            owner.unpin()
            pins[who] = None
        elif action == "advance":
            owner.advance()
        elif action == "drain":
            owner.drain()
        else:
            made = owner.nodes(count)
            for node in made:
                if node in dead:
                    death = dead.pop(node)
                    held = [moment for moment in pins if moment is not None]
                    assert all(moment > death for moment in held), "used again though somebody may hold it"
            assert not set(made) & set(dead)
            if action == "retire":
                for node in made:
                    owner.retire(node)
                    dead[node] = now
            else:
                undo(owner.base, owner.me)
    for owner in owners:
        owner.unpin()
    for _ in range(3):
        owners[0].advance()
    for owner in owners:
        assert not owner.drain()
    census = arena.census()
    assert (census.limbo, census.nodes) == (0, 0)
