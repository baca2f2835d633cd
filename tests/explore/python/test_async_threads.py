"""Programs of asyncio with clocks, threads, and locks that are older, compared with asyncio's own loop."""

import asyncio
import time

import pytest

pytest.importorskip("greenlet")

import timed_tasks as tt

from latchfree_explore import CannotControl, explore_async


def explored(main, **options):
    """Return the result, and what main returned in any schedule."""
    seen = set()
    return explore_async(main, check=seen.add, raises=False, **{"strategy": "dpor", **options}), seen


def test_a_sleep_without_end_does_not_end():
    result, seen = explored(tt.never_wakes)
    assert result.complete
    assert seen == {asyncio.run(tt.never_wakes())} == {()}


def test_equal_sleeps_may_end_apart(monkeypatch):
    result, seen = explored(tt.apart)
    assert result.complete
    assert asyncio.run(tt.apart()) in seen
    monkeypatch.setattr(tt, "pause", lambda: time.sleep(0.05))
    assert asyncio.run(tt.apart()) == ("A", "B", "C")
    assert ("A", "B", "C") in seen


@pytest.mark.parametrize("main", [tt.of_one_moment, tt.of_equal_sums])
def test_timers_of_one_moment_are_called_as_asyncio_calls_them(main):
    result, seen = explored(main)
    assert result.complete
    assert seen == {asyncio.run(main())}


@pytest.mark.parametrize(
    ("main", "outcomes"),
    [
        (tt.naps_beside_a_timer, {True, False}),
        (tt.waits_beside_a_timer, {True, False}),
        (tt.asks_the_time, {(False, False), (False, True), (True, True)}),
        (tt.looks_twice, {(False, False), (False, True), (True, True)}),
        (tt.looks_twice_at_a_list, {(0, 0), (0, 1), (1, 1)}),
        (tt.appends_in_a_thread, {(0, 0), (0, 1), (1, 1)}),
        (tt.looks_twice_at_a_queue, {(True, True), (True, False), (False, False)}),
    ],
)
def test_threads_beside_timers(main, outcomes):
    result, seen = explored(main)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert seen == outcomes
    assert asyncio.run(main()) in seen


@pytest.mark.parametrize(
    "main",
    [
        tt.raises_in_a_thread,
        tt.leaves_in_a_thread,
        tt.asks_for_a_cancelled_result,
        tt.waits_for_a_cancelled_result,
        tt.cancels_from_a_thread,
        tt.asks_for_the_loop,
        tt.makes_a_task_in_a_thread,
        tt.shuts_the_pool,
        tt.polls_a_thread,
        tt.polls_a_future,
        tt.wraps_a_future,
        tt.asks_the_loop_for_what_it_cannot_do,
        tt.sets_what_is_slow,
    ],
)
@pytest.mark.parametrize("switches", ["free", "gil"])
def test_threads_of_a_loop_do_as_on_asyncio(main, switches):
    result, seen = explored(main, switches=switches)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert seen == {asyncio.run(main())}


@pytest.mark.parametrize(
    "main",
    [
        tt.wakes_nobody,
        tt.sets_an_event_in_a_thread,
        tt.completes_a_future_in_a_thread,
        tt.puts_an_item_in_a_thread,
    ],
)
def test_a_thread_that_does_not_wake_the_loop(main):
    result, seen = explored(main, strategy="auto")
    assert result.wrong.kind == "deadlock"
    assert "does not wake it; fix: call_soon_threadsafe" in result.wrong.message
    assert seen <= {None, 1}


@pytest.mark.parametrize("strategy", ["dpor", "auto"])
@pytest.mark.parametrize(
    ("main", "outcome"),
    [
        (tt.of_the_module, False),
        (tt.of_an_object, False),
        (tt.permits, False),
        (tt.appends, 1),
        (tt.leaves_it_locked, False),
        (tt.leaves_an_item, 0),
        (tt.waits_for_an_item, 1),
        (tt.leaves_it_set, False),
        (tt.notifies, False),
    ],
)
def test_older_locks_are_put_back(main, outcome, strategy):
    result, seen = explored(main, strategy=strategy)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert seen == {outcome}
    assert not tt.LOCK.locked()
    assert tt.HELD.queue.empty()
    assert not tt.HELD.event.is_set()


def test_a_thread_of_anyio_is_refused_by_name():
    anyio = pytest.importorskip("anyio")

    async def main():
        return await anyio.to_thread.run_sync(int)

    with pytest.raises(CannotControl, match=r"anyio: to_thread.run_sync\(\) starts a thread out of sight"):
        explored(main)
