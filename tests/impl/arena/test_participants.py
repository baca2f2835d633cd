"""Slots are claimed at first use, one a thread, and come back when the thread ends."""

import gc
import os
import threading

import numpy as np
import pytest

from latchfree import Arena, Ctrie, ParticipantsExhausted
from latchfree.arena import layout
from latchfree.arena.participants import claim, release


@pytest.fixture
def arena():
    return Arena.anonymous(2 << 20)


def _in_thread(work):
    result = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]


def _claimed(arena):
    stride = layout.PARTICIPANT_WORDS
    states = arena.words[layout.PARTICIPANTS : layout.FIRST_NODE : stride]
    return int(np.count_nonzero(states))


def test_a_thread_keeps_its_slot(arena):
    slot = arena.participant()
    assert arena.participant() == slot
    assert (slot - layout.PARTICIPANTS) % layout.PARTICIPANT_WORDS == 0
    assert _claimed(arena) == 1
    assert arena.words[slot + int(layout.P_PID)] == os.getpid()
    assert arena.words[slot + int(layout.P_START)] > 0


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
    taken = [int(claim(np.uint64(arena.base), np.uint64(1), np.uint64(1))) for _ in range(layout.PARTICIPANT_COUNT - 1)]
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
        claim(np.uint64(arena.base), np.uint64(1), np.uint64(1))
    with pytest.raises(ParticipantsExhausted):
        Ctrie(keys=int, values=int, arena=arena)


def test_dropping_the_arena_while_threads_live_is_harmless():
    done, dropped = threading.Event(), threading.Event()
    failures = []

    def body(holder):
        try:
            holder.pop().participant()
            done.set()
            dropped.wait(60)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body, args=([Arena.anonymous(2 << 20)],))
    thread.start()
    assert done.wait(60)
    gc.collect()
    dropped.set()
    thread.join()
    assert failures == []


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_child_does_not_release_its_parents_slot(arena):
    slot = arena.participant()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            del arena._local.claim  # what the end of the thread does
            gc.collect()
            os.write(write, b"%d" % arena.words[slot])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == b"1"
    os.waitpid(child, 0)
    assert arena.words[slot] == 1
    assert arena.participant() == slot
