"""Slots are claimed, released and adopted by compare-and-swap, and their memory goes on to the next owner."""

import itertools
import os

import numpy as np
import pytest

from latchfree import Arena, Ctrie
from latchfree.arena import layout
from latchfree.arena.kernels.allocator import ORDINARY, allocate, begin
from latchfree.arena.kernels.epochs import pin, retire
from latchfree.arena.kernels.participants import FREE, adopt, claim, collect, release


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


U = np.uint64


_incarnations = itertools.count(1)


def _claim(arena, identity=1):
    return int(claim(U(arena.base), U(identity << 16 | next(_incarnations))))


def _state(arena, slot):
    """The state of a slot: who owns it, and in which incarnation."""
    return int(arena.words[slot]) >> 16, int(arena.words[slot]) & 0xFFFF


def _release(arena, slot):
    return release(U(arena.base), U(slot), U(arena.words[slot]))


def _field(arena, slot, name):
    return int(arena.words[slot + int(getattr(layout, name))])


def _states(arena):
    return arena.words[layout.PARTICIPANTS : layout.FIRST_NODE : layout.PARTICIPANT_WORDS]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_a_copy_without_the_slots_of_threads_it_lacks(arena):
    trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    trie.put_many([1], list(trie.values()))  # compiled now, not in the child
    single = arena.interpreter_participant()
    slot = _claim(arena, arena.identity)  # of another thread, in the midst of a call
    pin(U(arena.base), U(slot))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            free = _field(arena, slot, "P_STATE") == FREE and _field(arena, slot, "P_PIN") == 0
            trie.put_many([2], [2])
            trie[3] = 3
            right = free and dict(trie.items()) == {1: 1, 2: 2, 3: 3}
            os.write(write, b"right" if right else b"wrong")
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b"right"
    os.waitpid(child, 0)
    assert _state(arena, slot)[0] == arena.identity
    assert _field(arena, slot, "P_PIN") != 0
    assert arena.interpreter_participant() == single
    assert dict(trie.items()) == {1: 1}


def test_a_claim_writes_down_who_it_is(arena):
    slot = _claim(arena, 11)
    assert (_state(arena, slot)[0], _field(arena, slot, "P_INCARNATION")) == (11, 1)
    assert _release(arena, slot)
    assert _claim(arena, 33) == slot
    assert (_state(arena, slot)[0], _field(arena, slot, "P_INCARNATION")) == (33, 2)


def test_a_second_release_of_one_claim_changes_nothing(arena):
    slot = _claim(arena, 11)
    first = U(arena.words[slot])
    assert release(U(arena.base), U(slot), first)
    assert not release(U(arena.base), U(slot), first), "the slot is free"
    assert _claim(arena, 11) == slot
    assert not release(U(arena.base), U(slot), first), "the slot is another claim's, of the same opening"
    assert _state(arena, slot)[0] == 11


def test_the_number_of_slots_ever_claimed_bounds_what_must_be_looked_at(arena):
    slots = [_claim(arena) for _ in range(7)]
    assert arena.words[layout.H_CLAIMED] == 7
    for slot in slots:
        _release(arena, slot)
    assert arena.words[layout.H_CLAIMED] == 7
    _claim(arena)
    assert arena.words[layout.H_CLAIMED] == 7


def _with_memory(arena, identity=1):
    """A participant that has free nodes, spare blocks, a chunk, and a node in its limbo."""
    slot = _claim(arena, identity)
    base, me = U(arena.base), U(slot)
    assert begin(base, me, ORDINARY)
    nodes = [int(allocate(base, me, U(10))) for _ in range(5)]
    for node in nodes:
        arena.words[node] = 10 << 40
    retire(base, me, U(nodes[0]))
    return slot, nodes


def test_memory_goes_to_the_next_claimant(arena):
    slot, nodes = _with_memory(arena)
    census, allocated = arena.census(), arena.allocated
    _release(arena, slot)
    assert _claim(arena) == slot
    assert arena.census() == census
    assert arena.allocated == allocated
    for _ in range(3):
        collect(U(arena.base), U(slot))
    assert arena.census().nodes == 4 * 12
    assert begin(U(arena.base), U(slot), ORDINARY)
    assert allocate(U(arena.base), U(slot), U(10)) == nodes[0]


ME = U(5)


def test_a_slot_is_adopted_with_its_pin_and_its_memory(arena):
    slot, _ = _with_memory(arena, 77)
    pin(U(arena.base), U(slot))
    census = arena.census()
    state = U(arena.words[slot])
    assert adopt(U(arena.base), U(slot), state, ME)
    assert _field(arena, slot, "P_STATE") == FREE
    assert _field(arena, slot, "P_PIN") == 0
    assert arena.census() == census
    assert not adopt(U(arena.base), U(slot), state, ME), "once is enough"


@pytest.mark.parametrize("difference", [1 << 16, 1])
def test_a_slot_of_somebody_else_is_not_adopted(arena, difference):
    slot = _claim(arena, 77)
    pin(U(arena.base), U(slot))
    state = int(arena.words[slot])
    assert not adopt(U(arena.base), U(slot), U(state ^ difference), ME)
    assert arena.words[slot] == state
    assert _field(arena, slot, "P_PIN") != 0


def test_a_borrowed_slot_is_neither_claimed_nor_emptied_by_another(arena):
    slot, _ = _with_memory(arena)
    me = _claim(arena)
    arena.words[slot] = 99  # some process is emptying it
    limbo = arena.census().limbo
    assert limbo > 0
    for _ in range(4):
        collect(U(arena.base), U(me))
    assert arena.census().limbo == limbo
    assert _claim(arena) not in (slot, me)
    assert _field(arena, slot, "P_STATE") == 99


def test_a_slot_borrowed_by_a_process_that_died_is_adopted(arena):
    slot, _nodes = _with_memory(arena)
    arena.words[slot] = 99
    assert adopt(U(arena.base), U(slot), U(99), ME)
    assert _claim(arena) == slot
    assert arena.census().nodes == 4 * 12


def test_collecting_empties_the_limbo_of_slots_that_nobody_owns(arena):
    slot, _ = _with_memory(arena)
    me = _claim(arena)
    for _ in range(4):
        collect(U(arena.base), U(me))
    assert arena.census().limbo > 0, "somebody owns it"
    _release(arena, slot)
    for _ in range(4):
        collect(U(arena.base), U(me))
    assert arena.census().limbo == 0
    assert _field(arena, slot, "P_STATE") == FREE


def test_slots_released_after_exhaustion_are_claimed_again(arena):
    slots = []
    while slot := _claim(arena):
        slots.append(slot)
    assert len(slots) == layout.PARTICIPANT_COUNT
    assert _states(arena).all()
    for slot in slots[::3]:
        _release(arena, slot)
    assert [_claim(arena) for _ in slots[::3]] == slots[::3]
    assert _claim(arena) == 0
