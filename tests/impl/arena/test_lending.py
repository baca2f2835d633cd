"""A call that gives up the interpreter lock borrows a slot, and keeps the arena open."""

import gc
import itertools
import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from stepping import AtLook

from latchfree import Arena, ArenaClosed, Ctrie, ParticipantsExhausted
from latchfree.arena import layout, lending
from latchfree.arena.kernels.participants import claim

U = np.uint64


@pytest.fixture
def arena():
    return Arena.anonymous(4 << 20)


@pytest.fixture
def shared(shared_name):
    arena = Arena.create(name=shared_name, capacity=4 << 20)
    yield arena
    arena.close()


def _claimed(arena):
    """How many slots are claimed, by whomever."""
    return int(np.count_nonzero(arena.words[layout.PARTICIPANTS : layout.FIRST_NODE : layout.PARTICIPANT_WORDS]))


def _in_thread(work):
    result = []
    thread = threading.Thread(target=lambda: result.append(work()))
    thread.start()
    thread.join()
    return result[0]


def _lent(arena):
    with arena.lend() as slot:
        return slot


def test_a_thread_gets_the_slot_of_its_last_call(arena):
    """What it has freed is there, in the cache of its processor."""
    begun, ended, over = threading.Event(), threading.Event(), threading.Event()
    theirs = []

    def other():
        with arena.lend() as slot:
            theirs.append(slot)
            begun.set()
            ended.wait(60)
        over.set()

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(60)
    mine = _lent(arena)
    ended.set()
    over.wait(60)
    thread.join()
    assert theirs != [mine], "another's, which came back last"
    assert {_lent(arena) for _ in range(3)} == {mine}
    with arena.lend(), arena.lend() as inner:
        assert inner == theirs[0], "a call in the midst of another one takes whatever is free"


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_slot_is_lent_once_where_a_handler_forks_and_the_child_lends_two():
    """The child's own slots have the numbers of its parent's, one of which the call was about to take."""

    def fork():
        nonlocal child
        child = os.fork()
        if child == 0:
            with arena.lend(), arena.lend():
                pass

    for step in itertools.count():
        arena, child, once = Arena.anonymous(4 << 20), None, False
        with arena.lend(), arena.lend():
            pass
        try:
            with AtLook(fork, step) as handler, arena.lend() as slot:
                once = slot not in arena._lender.free
        finally:
            if child == 0:
                os._exit(0 if once else 1)
        assert once
        if not handler.acted:
            break
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, f"forked before step {step}"
    assert step > 2


def test_what_a_handler_raises_while_a_slot_is_looked_for_arrives():
    class Sent(KeyError, ValueError):
        pass

    def send():
        raise Sent

    for step in itertools.count():
        arena, arrived = Arena.anonymous(4 << 20), False
        _lent(arena)
        with AtLook(send, step) as handler:
            try:
                arena._lender.take()
            except Sent:
                arrived = True
        if not handler.acted:
            break
        assert arrived, f"raised before step {step}"
    assert step > 2


def test_what_threads_had_is_forgotten_when_they_are_many(arena):
    for _ in range(3 * lending._MOST):
        _in_thread(lambda: _lent(arena))
    assert len(arena._lender._last) <= lending._MOST + 1
    assert _claimed(arena) == 1


def test_a_slot_is_lent_again(arena):
    slot = _lent(arena)
    assert (slot - layout.PARTICIPANTS) % layout.PARTICIPANT_WORDS == 0
    assert arena.words[slot] >> U(16) == arena.identity
    assert {_lent(arena) for _ in range(10)} == {slot}
    assert {_in_thread(lambda: _lent(arena)) for _ in range(10)} == {slot}
    assert _claimed(arena) == 1


def test_calls_at_the_same_time_and_calls_in_calls_have_different_slots(arena):
    with arena.lend() as first, arena.lend() as second:
        third = _in_thread(lambda: _lent(arena))
        assert len({first, second, third, arena.interpreter_participant()}) == 4


def test_a_signal_handler_in_the_midst_of_a_call_has_a_slot_of_its_own(arena):
    inner = []
    before = signal.signal(signal.SIGUSR1, lambda *_: inner.append(_lent(arena)))
    try:
        with arena.lend() as slot:
            signal.raise_signal(signal.SIGUSR1)
            assert inner
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert inner != [slot]


def test_what_a_burst_has_claimed_goes_back(arena):
    barrier = threading.Barrier(40)

    def body():
        with arena.lend():
            barrier.wait()

    threads = [threading.Thread(target=body) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert _claimed(arena) == 8


def test_a_thousand_threads_wait_for_one_another(arena):
    most, now, lock = [0], [0], threading.Lock()

    def body():
        for _ in range(3):
            with arena.lend():
                with lock:
                    now[0] += 1
                    most[0] = max(most[0], now[0])
                time.sleep(0.001)
                with lock:
                    now[0] -= 1

    threads = [threading.Thread(target=body) for _ in range(1000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert now == [0]
    assert most[0] <= 64
    assert _claimed(arena) <= 8


def test_single_calls_share_one_slot(arena):
    barrier = threading.Barrier(8)
    slots = []

    def body():
        barrier.wait()
        slots.append(arena.interpreter_participant())

    threads = [threading.Thread(target=body) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(slots)) == 1
    assert _lent(arena) not in slots


def test_exhaustion_is_an_error_that_says_what_to_do(arena, monkeypatch):
    monkeypatch.setattr(lending, "_PATIENCE", 0.05)
    for _ in range(layout.PARTICIPANT_COUNT):
        assert claim(U(arena.base), U(4711 << 16))
    with pytest.raises(ParticipantsExhausted, match=r"all 256 participant slots .* by living openings; close some"):
        _lent(arena)
    with pytest.raises(ParticipantsExhausted):
        Ctrie(keys=int, values=int, arena=arena)


def test_a_call_that_fails_gives_its_slot_back(arena):
    slot = _lent(arena)
    with pytest.raises(KeyError), arena.lend():
        raise KeyError
    assert _lent(arena) == slot
    assert _claimed(arena) == 1


def test_dropping_the_arena_while_threads_live_is_harmless():
    done, dropped = threading.Event(), threading.Event()
    failures = []

    def body(holder):
        try:
            with holder.pop().lend():
                done.set()
                dropped.wait(60)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=body, args=([Arena.anonymous(4 << 20)],))
    thread.start()
    assert done.wait(60)
    gc.collect()
    dropped.set()
    thread.join()
    assert failures == []


def test_closing_waits_for_calls_of_other_threads(shared):
    inside, go_on, order = threading.Event(), threading.Event(), []

    def body():
        with shared.lend():
            inside.set()
            go_on.wait(60)
            order.append("call")

    def close():
        shared.close()
        order.append("closed")

    call, closer = threading.Thread(target=body), threading.Thread(target=close)
    call.start()
    inside.wait(60)
    closer.start()
    while not shared._lender.closing:
        time.sleep(0.001)
    assert not shared.closed
    with pytest.raises(ArenaClosed, match="open it again"):
        _lent(shared)
    go_on.set()
    call.join()
    closer.join()
    assert order == ["call", "closed"]
    assert shared.closed


def test_closed_in_the_midst_of_its_own_call_an_arena_is_closed_at_the_end_of_the_call(shared):
    with shared.lend(), shared.call():
        shared.close()
        assert not shared.closed
    assert shared.closed
    shared.close()


@pytest.mark.parametrize("enter", ["lend", "call"])
def test_an_interrupt_between_any_two_steps_leaves_no_call_under_way(shared, enter):
    """Ctrl-C raises anywhere; a call that seems to be under way for ever would keep the arena open for ever."""
    with shared.lend():
        pass
    interrupted, steps = True, 0
    while interrupted:
        interrupted, left = False, steps

        def trace(frame, event, argument):
            nonlocal interrupted, left
            if frame.f_code.co_filename != lending.__file__ or frame.f_code.co_name == "__del__":
                return None
            if event == "line":
                left -= 1
                if left < 0 and not interrupted:
                    interrupted = True
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with getattr(shared, enter)():
                pass
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        # The reaper's calls come and go.
        assert threading.get_ident() not in dict(shared._lender.under_way.values()), f"interrupted before step {steps}"
        steps += 1
    assert steps > 5
    shared.close()
    assert shared.closed


def test_a_closed_arena_lends_nothing(shared):
    shared.close()
    for enter in (shared.lend, shared.call):
        with pytest.raises(ArenaClosed, match="open it again"), enter():
            raise AssertionError
    with pytest.raises(ArenaClosed):
        shared.interpreter_participant()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_lends_slots_of_its_own(shared):
    mine = [_lent(shared), shared.interpreter_participant()]
    identity = shared.identity
    with shared.lend() as held:
        pid = os.fork()
        if pid == 0:
            try:
                theirs = [_lent(shared), shared.interpreter_participant()]
                right = not {held, *mine} & set(theirs) and shared.identity != identity
            finally:
                os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert [int(shared.words[slot]) >> 16 for slot in mine] == [identity] * 2


def _is_mine(arena, slot):
    return int(arena.words[slot]) >> 16 == arena.region.identity


def _single_is_mine(arena):
    return _is_mine(arena, arena.interpreter_participant())


def _lent_is_mine(arena):
    with arena.lend() as slot:
        return _is_mine(arena, slot)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("ask", [_single_is_mine, _lent_is_mine])
@pytest.mark.parametrize("used_before", [False, True])
def test_a_child_forked_by_a_handler_in_the_midst_of_it_has_a_slot_of_its_own(shared, ask, used_before):
    """At each point where the interpreter calls handlers; what is claimed or taken there is the parent's."""

    def fork():
        nonlocal child
        child = os.fork()

    for step in itertools.count():
        with Arena.open(shared.region.where) as arena:
            if used_before:
                ask(arena)
            child, right = None, False
            try:
                with AtLook(fork, step) as handler:
                    right = ask(arena)
                right = right and ask(arena)
            finally:
                if child == 0:
                    os._exit(0 if right else 1)
            assert right
            if not handler.acted:
                break
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, f"forked before step {step}"
    assert step > 0


def test_a_handler_that_closes_at_any_point_of_a_call_with_the_slot(shared):
    Ctrie.create(shared, "stock", keys=int, values=int)[1] = 1
    for step in itertools.count():
        with Arena.open(shared.region.where) as arena:
            trie = Ctrie.open(arena, "stock")
            with AtLook(arena.close, step) as handler:
                try:
                    found = bool(trie)
                except ArenaClosed:
                    found = ArenaClosed
            assert found in (True, ArenaClosed), f"closed before step {step}"
            if not handler.acted:
                break
    assert found is True
    assert step > 2
