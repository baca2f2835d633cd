"""Programs of asyncio: how they end, how long they turn, the order of their sets; compared with asyncio's loop."""

import asyncio
import sys
import types

import pytest

pytest.importorskip("greenlet")

import ending_tasks as et

from latchfree_explore import explore_async


def explored(main, **options):
    """Return the result, and what main returned in any schedule."""
    seen = set()

    def note(value):
        seen.add(tuple(value) if isinstance(value, list) else value)

    return explore_async(main, check=note, raises=False, **{"strategy": "dpor", **options}), seen


def really(main):
    value = asyncio.run(main())
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("main", [et.begun, et.soon, et.called_back, et.closed])
def test_what_asyncio_runs_after_main_has_returned(main):
    result, seen = explored(main)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert seen == {really(main)}


def test_a_task_that_fails_when_it_is_cancelled_at_the_end():
    result, _ = explored(et.fails_at_the_end)
    assert result.wrong.message == "unhandled exception during asyncio.run() shutdown; KeyError: 'at the end'"


@pytest.mark.parametrize(
    ("main", "outcomes"),
    [
        (et.within_an_hour, {"in time", "late"}),
        (et.before_an_event, {False, True}),
        (et.a_callback_gets_on, {False, True}),
        (et.polls_with_pauses, {"done"}),
        (et.polls_a_queue, {(0, 1)}),
        (et.polls_the_clock, {"done"}),
    ],
)
def test_a_loop_turns_as_long_as_it_gets_on(main, outcomes):
    result, seen = explored(main)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert seen == outcomes


def test_a_timer_need_not_pass_while_a_queue_is_filled():
    _, seen = explored(et.beside_a_heartbeat, schedules=100)
    assert "no beat" in seen
    assert really(et.beside_a_heartbeat) == "no beat"


def test_a_search_that_made_the_outside_act_is_not_complete():
    result, seen = explored(et.counts_its_rounds)
    assert (result.verdict, result.complete, seen) == ("ok", False, {True})
    assert "the outside was made to act where a loop turned long" in result.reason


def test_a_loop_that_turns_in_vain_is_a_livelock():
    result, _ = explored(et.turns_for_ever)
    assert result.wrong.kind == "livelock"
    assert "main at ending_tasks.py:" in result.wrong.message


@pytest.mark.parametrize("main", [et.cancelled_siblings, et.all_cancelled, et.as_completed])
def test_sets_of_tasks_have_one_order(main):
    first, seen = explored(main)
    assert (first.verdict, first.complete) == ("ok", True), first.explain()
    assert seen == {really(main)}
    kept = [object() for _ in range(1_000)]  # other addresses
    again, _ = explored(main)
    assert kept
    assert again.schedules == first.schedules


def test_a_cancellation_between_two_callbacks_of_a_round():
    result, seen = explored(et.looked_at_twice, cancels=1)
    assert result.complete
    assert seen == {(False, False), (False, True), (True, True)}
    assert explored(et.looked_at_twice, cancels=1, strategy="bounded", bound=9)[1] == seen


def test_only_the_task_of_asyncio_s_own_wait_for_is_not_cancelled():
    assert explored(et.wait_for, cancels=1)[1] == {False, True}


def test_context_variables_are_those_of_the_caller():
    token = et.USER.set("ann")
    try:
        assert explored(et.asks_who)[1] == {really(et.asks_who)} == {"ann"}
    finally:
        et.USER.reset(token)


@pytest.mark.parametrize("main", [et.exits, et.exits_in_a_task, et.exits_in_a_callback])
def test_an_exit_ends_the_loop(main):
    with pytest.raises(SystemExit) as caught:
        asyncio.run(main())
    result, seen = explored(main)
    assert result.wrong.kind == "exception"
    assert f"SystemExit({caught.value.code}) ended the loop" in result.wrong.message
    assert not seen


def test_a_handler_gets_what_a_lost_task_raised():
    result, seen = explored(et.handles_a_lost_task)
    assert result.verdict == "ok", result.explain()
    assert seen == {really(et.handles_a_lost_task)} == {("KeyError('k')",)}


def test_a_handler_that_raises_is_named():
    result, _ = explored(et.handles_badly)
    assert result.wrong.message == "Unhandled error in exception handler; ZeroDivisionError: division by zero"


def test_a_loop_that_is_stopped():
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(et.stops_the_loop())
    result, _ = explored(et.stops_the_loop)
    assert result.wrong.message.startswith(f"main raised RuntimeError: {caught.value}")


@pytest.mark.skipif(sys.version_info < (3, 12), reason="tasks that begin at once are new in Python 3.12")
def test_each_of_two_eager_tasks_may_be_cancelled():
    _, seen = explored(et.eager_tasks, cancels=1)
    assert {(), ("outer",), ("inner",)} <= seen


async def leaves_much():
    async def numbers():
        yield 1

    async for _ in numbers():
        break
    await asyncio.to_thread(int)
    return 1


def test_what_the_loop_does_itself_is_not_told():
    result = explore_async(leaves_much, check=lambda value: value != 1, raises=False)
    text = result.explain()
    assert "invariant: the check does not hold" in text
    assert "test_async_ends.py" in text
    assert "main goes on" in text
    for own in "Ending", "the end of", "latchfree":
        assert own not in text, own


def test_a_task_that_its_class_has_made_is_one_of_the_program():
    said = []

    async def sleeps():
        try:
            await asyncio.sleep(100)
        finally:
            said.append("ended")

    async def fails():
        raise ValueError("lost")

    async def one(of, **options):
        task = asyncio.Task(of(), **options)
        await asyncio.sleep(0)
        return task.get_name()

    result = explore_async(lambda: one(sleeps), check=lambda name: (said.pop(), name) == ("ended", "task 1 (sleeps)"))
    assert (result.verdict, said) == ("ok", [])
    result, _ = explored(lambda: one(fails, name="mine"))
    assert result.wrong.message == "nobody asked for the result of mine; ValueError: lost"

    async def waits():
        await asyncio.Task(asyncio.sleep(1))

    assert isinstance(explored(waits, cancels=1)[0].wrong.error, asyncio.CancelledError)


class Scope:
    """A cancel scope of anyio, which keeps its children in a set."""

    def __init__(self, number):
        self.number = number


def test_scopes_of_anyio_have_one_order(monkeypatch):
    async def main():
        return [scope.number for scope in {Scope(number) for number in range(50)}]

    monkeypatch.setitem(sys.modules, "anyio._backends._asyncio", types.SimpleNamespace(CancelScope=Scope))
    result, seen = explored(main, strategy="auto")
    assert (result.verdict, len(seen)) == ("ok", 1)
    assert sorted(next(iter(seen))) == list(range(50))
    assert "__hash__" not in vars(Scope)


def test_scopes_of_anyio_end_in_one_order():
    anyio = pytest.importorskip("anyio")
    pytest.importorskip("anyio._backends._asyncio")

    async def main():
        with anyio.move_on_after(1):
            async with anyio.create_task_group() as group:
                group.start_soon(anyio.sleep, 2)
                group.start_soon(anyio.sleep, 3)

    assert explored(main)[0].verdict == "ok"
