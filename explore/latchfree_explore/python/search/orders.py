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
from latchfree_explore.python.search.races import Order

Event: TypeAlias = tuple[str, int]


@dataclass
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
    order = Order(run)
    steps = {("call", k): call.first for k, call in enumerate(calls) if call.first >= 0}
    steps |= {("return", k): call.last for k, call in enumerate(calls) if call.ended}
    after: dict[Event, set[Event]] = {}
    for event, step in steps.items():
        after[event] = {other for other, at in steps.items() if order.happens_before(at, step)}
        if event[0] == "return":
            after[event].add(("call", event[1]))
    yield from _extended([], frozenset(), after)


def _extended(path: list[Event], done: frozenset[Event], after: dict[Event, set[Event]]) -> Iterator[list[Event]]:
    """Return whatever can return, then begin any call."""
    path = list(path)
    while ready := [each for each in after if each not in done and each[0] == "return" and after[each] <= done]:
        path += ready
        done |= set(ready)
    beginnings = [each for each in after if each not in done and each[0] == "call" and after[each] <= done]
    if not beginnings:
        yield path
    for each in beginnings:
        yield from _extended([*path, each], done | {each}, after)


def schedule_of(run: Run, calls: Sequence[Made], events: Sequence[Event]) -> list[int]:
    """Return a schedule, equivalent to the one that was run, in which calls begin and return in a given order."""
    order = Order(run)
    left = list(range(len(run.steps)))
    bounds = {("call", k): call.first for k, call in enumerate(calls)}
    bounds |= {("return", k): call.last for k, call in enumerate(calls)}
    done: list[int] = []
    for event in events:
        goal = bounds[event]
        wanted = [each for each in left if each == goal or order.happens_before(each, goal)]
        done += wanted
        left = [each for each in left if each not in wanted]
    return [run.steps[each].thread for each in (*done, *left)]
