"""Programs of asyncio: asyncio's own order is kept, and the outside acts at every moment that makes a difference."""

import asyncio
import sys
from functools import partial

import pytest

pytest.importorskip("greenlet")

import shared_tasks as st

from latchfree_explore import CannotControl, ExplorationFailed, explore_async, explore_threads, outside_event
from latchfree_explore.python.aio import loop as loops
from latchfree_explore.python.aio import world


def explored(main, **options):
    return explore_async(main, raises=False, strategy="dpor", **options)


def solvent(account):
    return account.balance >= 0


def whole(pool):
    return pool.whole()


def test_an_account_is_overdrawn_between_look_and_act():
    with pytest.raises(ExplorationFailed, match="the audit lands") as caught:
        explore_async(partial(st.withdraw_twice, st.Account), check=solvent)
    assert caught.value.result.wrong.kind == "invariant"
    assert caught.value.result.preemptions == 0
    result = explored(partial(st.withdraw_twice, st.LockedAccount), check=solvent)
    assert result.verdict == "ok"
    assert result.complete


def test_a_cancellation_loses_a_permit():
    assert explored(partial(st.use_pool, st.Pool), check=whole).verdict == "ok"
    result = explored(partial(st.use_pool, st.Pool), check=whole, cancels=1)
    assert result.wrong.kind == "deadlock"
    assert "main waits for what nobody sends: main at shared_tasks.py:" in result.wrong.message
    result = explored(partial(st.use_pool, st.FixedPool), check=whole, cancels=1)
    assert result.verdict == "ok"
    assert result.complete


def test_wait_for_swallows_a_cancellation_until_python_3_12():
    result = explored(partial(st.use_pool, st.FixedPool, users=1, waiting=5), check=whole, cancels=1)
    assert result.verdict == ("violation" if sys.version_info < (3, 12) else "ok"), result.explain()
    assert result.verdict == "violation" or result.complete


@pytest.mark.parametrize("main", [st.in_turn, st.sleeps, st.polls, st.from_a_thread])
def test_what_asyncio_promises_holds_in_every_schedule(main):
    result = explored(main)
    assert result.verdict == "ok", result.explain()
    assert result.complete


def test_another_order_of_callbacks_would_be_reported(monkeypatch):
    class Stack(loops.deque):
        def popleft(self):
            return self.pop()

    monkeypatch.setattr(loops, "deque", Stack)
    assert explored(st.in_turn).verdict == "violation"


def test_a_task_may_be_cancelled_before_it_begins(monkeypatch):
    assert explored(st.handed_over, check=lambda held: not held).verdict == "ok"
    assert explored(st.handed_over, check=lambda held: not held, cancels=1).verdict == "violation"

    def begun(self):
        return real(self) and self.loop.tasks[self._number].get_coro().cr_await is not None

    real = world._May.ready
    monkeypatch.setattr(world._May, "ready", begun)
    assert explored(st.handed_over, check=lambda held: not held, cancels=1).verdict == "ok"


def test_who_waits_for_what_nobody_sends_is_named():
    result = explored(st.never)
    assert result.wrong.kind == "deadlock"
    assert "main at shared_tasks.py:" in result.wrong.message


def test_what_fails_unnoticed_is_reported():
    result = explored(st.forgotten)
    assert result.wrong.kind == "exception"
    assert "KeyError: 'lost'" in result.wrong.message
    result = explored(st.fails_in_a_callback)
    assert "ValueError: in a callback" in result.wrong.message


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_threads_of_a_pool_are_interleaved(switches):
    result = explored(st.in_threads, check=lambda total: total == 2, switches=switches)
    assert (result.verdict == "violation") == (switches == "free"), result.explain()
    result = explore_async(st.with_a_lock, check=lambda total: total == 2, switches=switches, strategy="random",
                           schedules=50)  # fmt: skip
    assert result.verdict == "ok"


def test_the_network_is_refused_by_name():
    with pytest.raises(CannotControl, match=r"loop.create_connection: what is explored runs without network"):
        explored(st.over_the_network)


def test_what_still_runs_is_cancelled_as_asyncio_does():
    assert explored(st.left_running, check=lambda ended: ended == [True]).verdict == "ok"


def test_an_exploration_leaves_asyncio_as_it_was():
    async def outer():
        result = explored(partial(st.withdraw_twice, st.LockedAccount), check=solvent)
        await asyncio.sleep(0)
        return result.verdict

    assert asyncio.run(outer()) == "ok"
    assert asyncio._get_running_loop() is None


def test_what_makes_no_sense_is_refused():
    coroutine = st.never()
    with pytest.raises(TypeError, match="give main, not main"):
        explore_async(coroutine)
    coroutine.close()
    with pytest.raises(ValueError, match="cancels must be at least 0"):
        explore_async(st.never, cancels=-1)
    with pytest.raises(RuntimeError, match="explore_async runs"):
        outside_event("nothing")


def test_a_loop_that_the_program_runs_itself_is_refused():
    async def nothing():
        return 0

    def thread():
        asyncio.run(nothing())

    with pytest.raises(CannotControl, match=r"asyncio: run\(\) runs an event loop of its own; fix: "):
        explore_threads(thread)
