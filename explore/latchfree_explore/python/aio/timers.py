"""The timers of an event loop and its clock, which only the outside moves.

Two timers land at one moment only if `call_at` was given the same reading of the clock for both, with the same delay
added (`moments`). The deadlines of any other two differ, if only by the time that the code between them took, so the
loop may turn in between: then the one that was made first is the earlier one. Timers of one moment land in the order of
asyncio's heap, which compares deadlines alone.
"""

from __future__ import annotations

import asyncio
import heapq
import math
from collections.abc import Callable
from contextvars import Context
from typing import Any

from latchfree_explore.python.aio.moments import read, same
from latchfree_explore.python.aio.still import StillLoop
from latchfree_explore.python.aio.world import Timer, passes
from latchfree_explore.python.core.run import CONTROL, LITTLE, Run
from latchfree_explore.python.core.steps import BAR, READ, WRITE
from latchfree_explore.python.core.task import Task


class Timers(StillLoop):
    """The part of a loop that has to do with time.

    Attributes
    ----------
    thread : Task or None
        The thread in which the loop runs.
    timers : list of Timer
        A heap: those that are not in the queue yet.
    coming : dict of int to Timer
        Those whose time has not come and that are not cancelled, by number.
    clock_reads : int
        How often the program has asked for the time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.thread: Task | None = None
        self.timers: list[Timer] = []
        self.coming: dict[int, Timer] = {}
        self.clock_reads = 0
        self._made = 0
        self._settled: list[Timer] = []  # those that have landed or were cancelled since the last one landed

    def time(self) -> float:
        """Return the seconds of this loop's clock, which is the schedule's."""
        run = CONTROL.run
        if run is None:
            return 0.0
        if run.current is not None:
            run.current.asked_time = True
        self.asks_time(run)
        return read(run.now)

    def asks_time(self, run: Run) -> None:
        """Note that the running thread asks for the time."""
        self.clock_reads += 1
        if not run.alone and run.current is not None and not run.current.outside:
            run.at(0)
        run.record(self, "clock", READ)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called in `delay` seconds of this loop's clock."""
        self._check_open()
        if delay is None:
            raise TypeError("delay must not be None")
        run = CONTROL.run
        assert run is not None
        run.record(self, "clock", READ)
        return self._timer(run, run.now + delay, None, callback, args, context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called at a time of this loop's clock."""
        self._check_open()
        if when is None:
            raise TypeError("when cannot be None")
        run = CONTROL.run
        assert run is not None
        run.record(self, "clock", READ)
        first = next((timer.moment[1] for timer in self.coming.values() if same(timer.when(), when)), None)
        return self._timer(run, when, first, callback, args, context)

    def _timer(
        self, run: Run, when: float, first: int | None, callback: Any, args: Any, context: Context | None
    ) -> asyncio.TimerHandle:
        timer = Timer(when, callback, args, self, context)
        timer.number = self._made
        timer.moment = when, timer.number if first is None else first
        timer.due = when <= run.now
        self._made += 1
        heapq.heappush(self.timers, timer)
        if timer.due:
            for other in [each for each in self.coming.values() if each.moment <= timer.moment]:
                run.record(self, ("timer", other.number), WRITE)
                self._comes(other)
                self._settled.append(other)
        elif when != math.inf:
            self.coming[timer.number] = timer
            self._bar(run, timer.moment)
            passes(run, self, timer)
        made: asyncio.TimerHandle = timer
        return made

    def _comes(self, timer: Timer) -> None:
        timer.due = True
        self.coming.pop(timer.number, None)

    def _bar(self, run: Run, moment: tuple[float, int]) -> None:
        """Note that later timers wait for a moment to pass."""
        for other in self.coming.values():
            if other.moment > moment:
                run.record(self, ("timer", other.number), BAR)

    def sleeps(self, run: Run, when: float) -> None:
        """Note that the running thread waits for a deadline at most, before which no later timer lands."""
        if run.current is not self.thread:
            run.record(self, "clock", READ)
            self._bar(run, (when, -1))

    def lands(self, run: Run, timer: Timer) -> None:
        """Let time pass to the deadline of the next timer, after those before it have landed or were cancelled."""
        before = [each for each in self._settled if each.moment <= timer.moment]
        for each in before:
            run.record(self, ("timer", each.number), READ)
        self._settled = [timer, *(each for each in self._settled if each not in before)]
        run.now = max(run.now, timer.when())
        run.late += LITTLE
        for each in [each for each in self.coming.values() if each.moment <= timer.moment]:
            if each is not timer:
                run.record(self, ("timer", each.number), READ)
            self._comes(each)

    def _timer_handle_cancelled(self, handle: Any) -> None:
        run = CONTROL.run
        if run is not None:
            run.record(self, ("timer", handle.number), WRITE)
            if self.coming.pop(handle.number, None) is not None:
                self._settled.append(handle)

    def next_timer(self) -> Timer | None:
        """Return the next timer whose time has not come, None if there is none."""
        return min(self.coming.values(), key=lambda timer: timer.moment, default=None)

    def is_time(self) -> bool:
        """Return whether the time of a timer has come that is not in the queue yet."""
        while self.timers and self.timers[0].cancelled():
            heapq.heappop(self.timers)
        return bool(self.timers) and self.timers[0].due
