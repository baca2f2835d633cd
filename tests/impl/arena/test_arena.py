"""The region itself: size, alignment, header."""

import numpy as np
import pytest

from latchfree import Arena
from latchfree.arena import layout

MIB = 1 << 20


@pytest.mark.parametrize("capacity", [-1, 0, 2 * MIB - 1, (1 << 42) + 1])
def test_refuses_a_capacity_out_of_bounds(capacity):
    with pytest.raises(ValueError, match=rf"between 2097152 bytes \(2 MiB\) and 4398046511104 bytes .* got {capacity}"):
        Arena.anonymous(capacity)


@pytest.mark.parametrize(
    ("asked", "given"), [(2 * MIB, 2 * MIB), (2 * MIB + 1, 4 * MIB), (3 * MIB, 4 * MIB), (64 * MIB, 64 * MIB)]
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
    assert arena.words[layout.H_VERSION] == layout.LAYOUT_VERSION
    assert arena.words[layout.H_CAPACITY] * 8 == 4 * MIB
    assert arena.words[layout.H_BUMP] == layout.FIRST_NODE
    assert arena.words[layout.H_PARTICIPANT_COUNT] == layout.PARTICIPANT_COUNT


def test_the_fields_of_a_participant_do_not_overlap():
    fields = [layout.P_STATE, layout.P_PID, layout.P_START, layout.P_PIN, layout.P_BUMP, layout.P_LIMIT]
    fields += [layout.P_JOURNALLED]
    assert len(set(fields)) == len(fields)
    assert max(fields) < layout.P_PATH < layout.P_FREE < layout.P_JOURNAL
    assert layout.P_PATH + np.uint64(12) <= layout.P_FREE, "a path has up to twelve I-nodes"
    assert int(layout.P_JOURNAL) + layout.JOURNAL_CAPACITY <= layout.PARTICIPANT_WORDS


def test_two_arenas_share_nothing():
    a, b = Arena.anonymous(2 * MIB), Arena.anonymous(2 * MIB)
    a.words[layout.FIRST_NODE] = 7
    assert b.words[layout.FIRST_NODE] == 0


def test_repr_says_how_full_it_is():
    arena = Arena.anonymous(2 * MIB)
    assert repr(arena) == f"<Arena {arena.used:,} of 2,097,152 bytes used>"
    assert arena.used == 8 * layout.FIRST_NODE
