"""The calls that threads make on a shared object, and every order in which they may have returned and begun.

A schedule fixes what each call returned. It does not fix which call returned before which other one began: that
differs between equivalent schedules. So the calls are no steps of the search. When a schedule has come to its end, the
orders of its calls are enumerated from what happens before what, and each new history is judged. Of each order only the
strictest history matters: a call begins right before its first step and returns right after its last one, and
whatever can return does so before another call begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.search.strategies import order_of

Event: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class Made:
    """A call that a thread made.

    Attributes
    ----------
    first, last : int
        Its first and last step; -1 where there was none.
    ended : bool
        Whether the call returned.
    """

    process: int
    f: str
    arguments: tuple[Any, ...]
    result: Any = None
    first: int = -1
    last: int = -1
    ended: bool = False


def begin(run: Run, call: Made) -> None:
    """Have the next step of the running thread be the first one of a call."""
    assert run.current is not None
    run.current.opening = call


def end(run: Run, call: Made, result: Any) -> None:
    """Note the result of a call; a call that touched nothing takes a step of its own."""
    task = run.current
    assert task is not None
    if call.first < 0:
        run.point()
    call.result, call.last, call.ended = result, task.last_step, True


def orders(run: Run, calls: Sequence[Made]) -> Iterator[list[Event]]:
    """Yield the orders of the beginnings and returns of calls, as ``("call", k)`` and ``("return", k)``.

    Beginnings are ordered in every way that what happens before what allows.
    """
    clocks, steps = order_of(run).clocks, run.steps
    events: list[Event] = []
    places: list[tuple[int, int, int]] = []  # step, thread, bit
    for k, call in enumerate(calls):
        for what, at in (("call", call.first), ("return", call.last if call.ended else -1)):
            if at >= 0:
                places.append((at, steps[at].thread, 1 << len(events)))
                events.append((what, k))
    after: list[int] = []  # for each event, the bits of those before it
    for event, (at, _, bit) in zip(events, places, strict=True):
        clock = clocks[at]
        before = bit >> 1 if event[0] == "return" else 0  # the beginning of the call stands before its return
        for other, thread, its in places:
            if other < at and clock[thread] >= other:
                before |= its
        after.append(before)
    returns = [k for k, event in enumerate(events) if event[0] == "return"]
    beginnings = [k for k, event in enumerate(events) if event[0] == "call"]
    for path in _extended([], 0, after, returns, beginnings):
        yield [events[k] for k in path]


def _extended(
    path: list[int], done: int, after: list[int], returns: list[int], beginnings: list[int]
) -> Iterator[list[int]]:
    """Return whatever can return, then begin any call; what is left shrinks on the way."""
    while True:
        while ready := [k for k in returns if not after[k] & ~done]:
            path = path + ready
            returns = [k for k in returns if k not in ready]
            for k in ready:
                done |= 1 << k
        able = [k for k in beginnings if not after[k] & ~done]
        if len(able) != 1:
            break
        path = path + able
        beginnings = [k for k in beginnings if k != able[0]]
        done |= 1 << able[0]
    if not able:
        yield path
    for k in able:
        left = [each for each in beginnings if each != k]
        yield from _extended([*path, k], done | 1 << k, after, returns, left)


def own_order(calls: Sequence[Made]) -> list[Event]:
    """Return the order in which the calls of a run began and returned in the run itself."""
    places = [(call.first, 0, ("call", k)) for k, call in enumerate(calls) if call.first >= 0]
    places += [(call.last, 1, ("return", k)) for k, call in enumerate(calls) if call.ended and call.last >= 0]
    return [event for _, _, event in sorted(places)]


def schedule_of(run: Run, calls: Sequence[Made], events: Sequence[Event]) -> list[int]:
    """Return a schedule, equivalent to the one that was run, in which calls return before others as in a given order.

    A thread goes on as long as it can; then that whose next step came first in the run.
    """
    order = order_of(run)
    threads = run.choices
    before = [{each for each in range(at) if order.happens_before(each, at)} for at in range(len(threads))]
    returned: set[int] = set()
    for what, k in events:
        if what == "return":
            returned.add(calls[k].last)
        else:
            before[calls[k].first] |= returned
    left = list(range(len(threads)))
    done: set[int] = set()
    found: list[int] = []
    while left:
        able = [at for at in left if before[at] <= done]
        same = [at for at in able if found and threads[at] == found[-1]]
        at = (same or able)[0]
        left.remove(at)
        done.add(at)
        found.append(threads[at])
    return found
