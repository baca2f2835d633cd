"""The arena itself: size, alignment, header, figures, and its end."""

import gc
import pickle
import weakref

import numpy as np
import pytest

from latchfree import Arena, ArenaClosed, Ctrie
from latchfree.arena import layout

MIB = 1 << 20


@pytest.mark.parametrize("capacity", [-1, 0, 2 * MIB, 4 * MIB - 1, (1 << 42) + 1])
def test_refuses_a_capacity_out_of_bounds(capacity):
    with pytest.raises(ValueError, match=rf"between 4194304 bytes \(4 MiB\) and 4398046511104 bytes .* got {capacity}"):
        Arena.anonymous(capacity)


@pytest.mark.parametrize(
    ("asked", "given"), [(4 * MIB, 4 * MIB), (4 * MIB + 1, 6 * MIB), (5 * MIB, 6 * MIB), (64 * MIB, 64 * MIB)]
)
def test_rounds_the_capacity_up_to_two_mebibytes(asked, given):
    arena = Arena.anonymous(asked)
    assert arena.capacity == given
    assert arena.words.nbytes == given
    assert arena.words.ctypes.data == arena.base


def test_the_default_is_address_space_not_memory():
    arena = Arena.anonymous()
    assert arena.capacity == 64 << 30
    assert arena.used < 2 * MIB


def test_the_header_describes_the_region():
    arena = Arena.anonymous(4 * MIB)
    assert int(arena.words[int(layout.H_MAGIC)]).to_bytes(8, "big") == b"latchfre"
    assert arena.words[layout.H_VERSION] == layout.LAYOUT_VERSION == 8
    assert arena.words[layout.H_CAPACITY] * 8 == 4 * MIB
    assert arena.words[layout.H_BUMP] == layout.FIRST_NODE
    assert arena.words[layout.H_PARTICIPANT_COUNT] == layout.PARTICIPANT_COUNT


#: Words each field of a participant takes, where it is more than one.
LONG = {
    "P_SCRATCH": 32,
    "P_FREE": 92,
    "P_LENGTH": 92,
    "P_JOURNAL": layout.JOURNAL_CAPACITY,
    "P_SCRATCH_MORE": 32,
    "P_SINK": layout.SINK_WORDS,
    "P_EDGE": 92,
}


@pytest.mark.parametrize(("prefix", "end"), [("P_", layout.PARTICIPANT_WORDS), ("H_", layout.HEADER_WORDS)])
def test_fields_do_not_overlap(prefix, end):
    fields = {name: int(getattr(layout, name)) for name in dir(layout) if name.startswith(prefix)}
    taken = np.zeros(end, np.uint8)
    for name, first in fields.items():
        assert first + LONG.get(name, 1) <= end
        taken[first : first + LONG.get(name, 1)] += 1
    assert taken.max() == 1


def test_what_others_read_of_a_participant_has_cache_lines_of_its_own():
    lines = [int(field) // 8 for field in (layout.P_STATE, layout.P_PIN, layout.P_BUMP)]
    assert len(set(lines)) == 3
    lines = [int(field) // 8 for field in (layout.H_BUMP, layout.H_GENERATION, layout.H_EPOCH, layout.H_CLAIMED)]
    assert len(set(lines)) == 4


def test_two_arenas_share_nothing():
    a, b = Arena.anonymous(4 * MIB), Arena.anonymous(4 * MIB)
    a.words[layout.FIRST_NODE] = 7
    assert b.words[layout.FIRST_NODE] == 0


def test_repr_says_how_full_it_is():
    arena = Arena.anonymous(4 * MIB)
    assert arena.used == 8 * layout.FIRST_NODE
    assert f"{arena.used:,} of 4,194,304 bytes used" in repr(arena)


def test_used_never_falls_and_allocated_does():
    arena = Arena.anonymous(64 * MIB)
    trie = Ctrie({k: k for k in range(1000)}, keys=int, values=int, arena=arena)
    used, allocated = arena.used, arena.allocated
    assert 1000 * 24 < allocated < used
    trie.clear()
    for _ in range(4):
        arena.collect()
    assert arena.used == used
    assert arena.allocated < 10_000


def test_a_private_arena_cannot_be_pickled_and_says_what_to_do():
    with pytest.raises(TypeError, match=r"a private arena cannot be pickled: .* Arena\.create\(name=\.\.\.\)"):
        pickle.dumps(Arena.anonymous(4 * MIB))


def test_a_private_arena_needs_no_closing():
    arena = Arena.anonymous(4 * MIB)
    with arena:
        trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    assert not arena.closed
    assert trie[1] == 1


def test_a_private_arena_goes_with_its_last_structure():
    arena = Arena.anonymous(4 * MIB)
    gone = weakref.ref(arena)
    trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    del arena
    gc.collect()
    assert gone() is not None
    assert trie[1] == 1
    del trie
    gc.collect()
    assert gone() is None


def test_a_closed_arena_refuses_every_operation(shared_name):
    arena = Arena.create(name=shared_name, capacity=4 * MIB)
    trie = Ctrie.create(arena, "numbers", keys=int, values=int)
    words = Ctrie.create(arena, "words", keys=str, values=str)
    trie[1], words["a"] = 1, "b"
    snapshot = trie.readonly_snapshot()
    arena.close()
    arena.close()
    assert arena.closed
    assert "closed" in repr(arena)
    assert "closed" not in repr(Arena.anonymous(4 * MIB))
    uses = [
        lambda: trie[1],
        lambda: trie.get(1),
        lambda: trie.put(1, 2),
        lambda: trie.__setitem__(1, 2),
        lambda: trie.pop(1),
        lambda: 1 in trie,
        lambda: len(trie),
        lambda: list(trie),
        trie.readonly_snapshot,
        trie.snapshot,
        trie.clear,
        lambda: trie.get_many([1]),
        lambda: trie.put_many([1], [1]),
        lambda: trie.remove_many([1]),
        lambda: words["a"],
        lambda: words.get("a"),
        lambda: words.__setitem__("a", "c"),
        lambda: words.pop("a"),
        lambda: snapshot[1],
        lambda: list(snapshot),
        lambda: len(snapshot),
        lambda: Ctrie(keys=int, values=int, arena=arena),
        lambda: arena.lend().__enter__(),
        arena.interpreter_participant,
        arena.collect,
    ]
    for use in uses:
        with pytest.raises(ArenaClosed, match=r"is closed; open it again with Arena\.open"):
            use()
    snapshot = trie = words = None
    gc.collect()
    with Arena.open(shared_name) as again:
        assert dict(Ctrie.open(again, "numbers")) == {1: 1}
        assert dict(Ctrie.open(again, "words")) == {"a": "b"}
