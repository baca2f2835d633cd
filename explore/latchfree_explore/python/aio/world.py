"""The outside of an event loop: events that land, time that passes, tasks that are cancelled, each a thread of its own.

When they act is the scheduler's choice, as for any thread. They end with the program, which does not wait for them:
the loop's last step writes what they wait for, so that what they could have done before is tried.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from latchfree_explore.python.core.places import OUTSIDE
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import DUE, WRITE

NAME: Final = "outside"
_Handle: Any = asyncio.TimerHandle


class Timer(_Handle):  # type: ignore[misc]
    """A timer with a number.

    Attributes
    ----------
    number : int
    moment : (float, int)
        The deadline, and the number of the first timer that was made for it.
    due : bool
        Whether its time has come.
    """

    __slots__ = ("due", "moment", "number")
    number: int
    moment: tuple[float, int]
    due: bool

    def __lt__(self, other: Any) -> bool:
        return bool(self.moment < other.moment)


class Loop(Protocol):
    """What the outside sees of a loop."""

    landed: list[asyncio.Handle]
    numbered: dict[int, asyncio.Task[Any]]
    cancels: int
    calls: bool
    to_cancel: list[asyncio.Task[Any]]
    events: int
    spared: set[int]

    def is_closed(self) -> bool:
        """Return whether the schedule is over."""
        ...

    def next_timer(self) -> Timer | None:
        """Return the next timer whose time has not come."""
        ...

    def lands(self, run: Run, timer: Timer) -> None:
        """Let time pass to the deadline of the next timer."""
        ...

    def may_pass(self, when: float) -> bool:
        """Return whether time may pass to a deadline."""
        ...

    def news(self) -> None:
        """Note that the outside has acted."""
        ...


class _Open:
    """An event may land as long as the loop runs."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop

    def ready(self) -> bool:
        return not self.loop.is_closed()

    def waited_for(self) -> str:
        return "nothing"


def completes(run: Run, loop: Loop, future: asyncio.Future[object], label: str, result: object) -> None:
    """Have the outside complete a future at a moment that is chosen, if nobody has done so before."""

    def complete() -> None:
        if future.done():
            return
        if isinstance(result, BaseException):
            future.set_exception(result)
        else:
            future.set_result(result)

    def land() -> None:
        run.wait(_Open(loop), (run.location(loop, "news"), WRITE))
        run.record(loop, "news", WRITE)
        loop.events -= 1
        loop.news()
        loop.landed.append(asyncio.Handle(complete, (), _as_loop(loop)))
        if run.telling:
            run.tell(OUTSIDE, 0, f"{label} lands")

    loop.events += 1
    run.spawn(land, NAME, outside=True)


class _Due(_Open):
    """Time may pass to the deadline of a timer that is the next one and is not cancelled."""

    def __init__(self, loop: Loop, timer: Timer) -> None:
        super().__init__(loop)
        self._timer = timer

    def ready(self) -> bool:
        """Return whether the timer is the next one, and nobody acts before it."""
        return (
            not self.loop.is_closed()
            and self.loop.next_timer() is self._timer
            and self.loop.may_pass(self._timer.when())
        )


def passes(run: Run, loop: Loop, timer: Timer) -> None:
    """Let time pass to the deadline of a timer, at a moment that is chosen."""

    def wait() -> None:
        run.wait(_Due(loop, timer), (run.location(loop, ("timer", timer.number)), DUE))
        run.record(loop, ("timer", timer.number), DUE)
        run.record(loop, "clock", WRITE)
        loop.lands(run, timer)
        if run.telling:
            run.tell(OUTSIDE, 0, f"{run.now:g} s have passed")

    run.spawn(wait, NAME, outside=True)


class _May(_Open):
    """A task may be cancelled while it runs, if it is not spared and the outside has cancelled fewer than it may."""

    def __init__(self, loop: Loop, number: int) -> None:
        super().__init__(loop)
        self._number = number

    def ready(self) -> bool:
        task = self.loop.numbered[self._number]
        return self.loop.cancels > 0 and not (self.loop.is_closed() or task.done() or id(task) in self.loop.spared)


def cancels(run: Run, loop: Loop, number: int) -> None:
    """Have the outside cancel a task between two callbacks: before the task begins, or while it waits."""

    def cancel() -> None:
        run.wait(_May(loop, number), (run.location(loop, ("cancel", number)), WRITE))
        run.record(loop, ("cancel", number), WRITE)
        run.record(loop, "cancels", WRITE)
        run.record(loop, "queue", WRITE)
        loop.cancels -= 1
        if loop.cancels == 0:
            for other in loop.numbered:
                run.record(loop, ("cancel", other), WRITE)
        task = loop.numbered[number]
        loop.news()
        if run.telling:
            run.tell(OUTSIDE, 0, f"cancel {task.get_name()}")
        run.record(loop, "asked", WRITE)
        if loop.calls:
            loop.to_cancel.append(task)  # when the callback is over, as the loop hears of it no sooner
        else:
            task.cancel()

    run.spawn(cancel, NAME, outside=True)


def _as_loop(loop: Any) -> asyncio.AbstractEventLoop:
    known: asyncio.AbstractEventLoop = loop
    return known
