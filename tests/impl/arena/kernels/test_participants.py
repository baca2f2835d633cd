"""Slots are claimed at first use, one a thread, and come back when the thread ends."""

import gc
import os
import signal
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

from latchfree import Arena, Ctrie, ParticipantsExhausted
from latchfree.arena import layout
from latchfree.arena.kernels.allocator import ORDINARY, allocate, begin
from latchfree.arena.kernels.epochs import pin, retire
from latchfree.arena.kernels.participants import FREE, adopt, claim, collect, release
from latchfree.arena.processes import is_alive, own_identity, process_id


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


def _in_thread(work):
    result = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]


U = np.uint64


def _claim(arena, identity=1, descriptor=0):
    return int(claim(U(arena.base), U(identity), U(descriptor)))


def _field(arena, slot, name):
    return int(arena.words[slot + int(getattr(layout, name))])


def _states(arena):
    return arena.words[layout.PARTICIPANTS : layout.FIRST_NODE : layout.PARTICIPANT_WORDS]


def _claimed(arena):
    return int(np.count_nonzero(_states(arena)))


def test_a_thread_keeps_its_slot(arena):
    slot = arena.participant()
    assert arena.participant() == slot
    assert (slot - layout.PARTICIPANTS) % layout.PARTICIPANT_WORDS == 0
    assert _claimed(arena) == 1
    assert _field(arena, slot, "P_STATE") == own_identity()


def test_live_threads_have_different_slots(arena):
    barrier = threading.Barrier(8)
    slots = []

    def body():
        slots.append(arena.participant())
        barrier.wait()

    threads = [threading.Thread(target=body) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(slots)) == 8


def test_the_slot_of_a_thread_that_ended_goes_to_the_next(arena):
    mine = arena.participant()
    first = _in_thread(arena.participant)
    assert _claimed(arena) == 1
    assert first != mine
    assert _in_thread(arena.participant) == first


def test_more_threads_than_slots_one_after_the_other(arena):
    slots = {_in_thread(arena.participant) for _ in range(layout.PARTICIPANT_COUNT + 10)}
    assert len(slots) == 1
    assert _claimed(arena) == 0


def test_single_calls_share_one_slot(arena):
    slot = arena.interpreter_participant()
    assert slot != arena.participant()
    assert _in_thread(arena.interpreter_participant) == slot


def test_exhaustion_is_an_error_that_says_what_to_do(arena):
    mine = arena.participant()
    taken = [int(_claim(arena)) for _ in range(layout.PARTICIPANT_COUNT - 1)]
    assert 0 not in taken
    assert len({mine, *taken}) == layout.PARTICIPANT_COUNT

    def refused():
        with pytest.raises(ParticipantsExhausted, match=r"all 256 participant slots .* let some threads finish"):
            arena.participant()
        return True

    assert _in_thread(refused)
    release(np.uint64(arena.base), np.uint64(taken[100]))
    assert _in_thread(arena.participant) == taken[100]


def test_a_ctrie_in_an_arena_without_slots_says_so(arena):
    for _ in range(layout.PARTICIPANT_COUNT):
        _claim(arena)
    with pytest.raises(ParticipantsExhausted):
        Ctrie(keys=int, values=int, arena=arena)


def test_dropping_the_arena_while_threads_live_is_harmless():
    done, dropped = threading.Event(), threading.Event()
    failures = []

    def body(holder):
        try:
            holder.pop().participant()
            done.set()
            dropped.wait(600)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body, args=([Arena.anonymous(4 << 20)],))
    thread.start()
    assert done.wait(600)
    gc.collect()
    dropped.set()
    thread.join()
    assert failures == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_has_a_copy_without_the_slots_of_threads_it_lacks(arena):
    trie = Ctrie({1: 1}, keys=int, values=int, arena=arena)
    trie.put_many([1], list(trie.values()))  # compiled now, not in the child
    slot, single = arena.participant(), arena.interpreter_participant()
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
    assert _field(arena, slot, "P_STATE") == own_identity()
    assert _field(arena, slot, "P_PIN") != 0
    assert (arena.participant(), arena.interpreter_participant()) == (slot, single)
    assert dict(trie.items()) == {1: 1}


def test_a_claim_writes_down_who_it_is(arena):
    slot = _claim(arena, 11, 5)
    assert [_field(arena, slot, name) for name in ("P_STATE", "P_FD", "P_INCARNATION")] == [11, 5, 1]
    release(U(arena.base), U(slot))
    assert _claim(arena, 33) == slot
    assert [_field(arena, slot, name) for name in ("P_STATE", "P_FD", "P_INCARNATION")] == [33, 0, 2]


def test_the_number_of_slots_ever_claimed_bounds_what_must_be_looked_at(arena):
    slots = [_claim(arena) for _ in range(7)]
    assert arena.words[layout.H_CLAIMED] == 7
    for slot in slots:
        release(U(arena.base), U(slot))
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
    release(U(arena.base), U(slot))
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
    assert adopt(U(arena.base), U(slot), U(77), ME)
    assert _field(arena, slot, "P_STATE") == FREE
    assert _field(arena, slot, "P_PIN") == 0
    assert arena.census() == census
    assert not adopt(U(arena.base), U(slot), U(77), ME), "once is enough"


@pytest.mark.parametrize("identity", [78, 5, 1])
def test_a_slot_of_somebody_else_is_not_adopted(arena, identity):
    slot = _claim(arena, 77)
    pin(U(arena.base), U(slot))
    assert not adopt(U(arena.base), U(slot), U(identity), ME)
    assert _field(arena, slot, "P_STATE") == 77
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


def test_identities_of_processes():
    mine = own_identity()
    assert process_id(mine) == os.getpid()
    assert is_alive(mine)
    assert mine < 1 << 63
    assert not is_alive(mine + (1 << 22)), "the same id, started at another time"
    child = subprocess.Popen(["sleep", "60"])
    try:
        stat = Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
        identity = int(stat[19]) << 22 | child.pid
        assert is_alive(identity)
        child.send_signal(signal.SIGSTOP)
        assert is_alive(identity), "one that is stopped may go on"
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(identity), "a zombie does not"
    finally:
        child.kill()
        child.wait()
    assert not is_alive(identity)


def test_collecting_empties_the_limbo_of_slots_that_nobody_owns(arena):
    slot, _ = _with_memory(arena)
    me = _claim(arena)
    for _ in range(4):
        collect(U(arena.base), U(me))
    assert arena.census().limbo > 0, "somebody owns it"
    release(U(arena.base), U(slot))
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
        release(U(arena.base), U(slot))
    assert [_claim(arena) for _ in slots[::3]] == slots[::3]
    assert _claim(arena) == 0
