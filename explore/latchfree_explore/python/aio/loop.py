"""An event loop whose callbacks run in asyncio's own order; what comes from outside, and when, is chosen.

Invariant: what is ready runs first in, first out, one round after the other, as on asyncio's loop. What a network or a
timer brings joins at the end of the queue and only between two rounds; what another thread hands over
(`call_soon_threadsafe`) joins at any time. So every order that is run can happen, and every order that can happen is a
choice of the moments at which the outside acts.

Each callback is a step of the thread "main". The steps of the outside (`world`) and the rounds of the loop share three
locations of the loop: "news", what has landed since the last round; "clock", the time; "queue", the end of the queue.
Each timer and each task that may be cancelled has a location of its own, which the step that ends it writes last: the
search then knows before which step the outside could still have acted.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from types import FrameType
from typing import Any, Final, TypeVar

from latchfree.extras import require
from latchfree_explore.python.aio.still import StillLoop
from latchfree_explore.python.aio.where import told_as, waits_at
from latchfree_explore.python.aio.world import cancels, completes, passes
from latchfree_explore.python.core.run import CONTROL, Run, Task
from latchfree_explore.python.core.steps import BAR, READ, WRITE
from latchfree_explore.python.library import pools

T = TypeVar("T")

MOST_TURNS: Final = 20
"""Rounds after which the outside acts, if it has anything to do: a loop of ``sleep(0)`` must not keep it away."""


class ExploredLoop(StillLoop):
    """The event loop of one schedule.

    Parameters
    ----------
    cancels : int
        How many tasks the outside cancels at most.
    """

    def __init__(self, cancels: int = 0) -> None:
        super().__init__()
        self.ready: deque[asyncio.Handle] = deque()
        self.landed: list[asyncio.Handle] = []
        self.timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.cancels = cancels
        self.quiet_turns = 0
        self.events = 0  # of the outside that have not landed yet
        self.thread: Task | None = None
        self.made: list[asyncio.TimerHandle] = []  # all timers, by number
        self._cancellable: dict[asyncio.Task[Any], int] = {}

    # the thread ------------------------------------------------------------------------------------------------------

    def run_main(self, main: Callable[[], Any]) -> Any:
        """Run a coroutine function as `asyncio.run` does: at the end what still runs is cancelled and awaited."""
        run = _running()
        self.thread = run.current
        run.alone = True
        outer, hooks = asyncio._get_running_loop(), sys.get_asyncgen_hooks()
        asyncio._set_running_loop(self)
        sys.set_asyncgen_hooks(finalizer=self._finalize)
        try:
            coroutine = main()
            if not asyncio.iscoroutine(coroutine):
                what = type(coroutine).__name__
                run.stop("out of control", f"main returned a {what}, not a coroutine; fix: give a coroutine function")
            task = self.create_task(coroutine, name="main")
            self._until(task)
            self._end()
            return task.result()
        finally:
            sys.set_asyncgen_hooks(*hooks)
            asyncio._set_running_loop(outer)
            self._abandon()

    def _until(self, future: asyncio.Future[Any]) -> None:
        while not future.done():
            self._turn()

    def _end(self) -> None:
        left = [task for task in self.tasks if not task.done()]
        for task in left:
            task.cancel()
        for task in left:
            self._until(task)
        if self._executor is not None:
            self._executor.shutdown()
        for task in self.tasks[1:]:
            if task.done() and not task.cancelled() and task._log_traceback:
                self.errors.append((f"nobody asked for the result of {task.get_name()}", task.exception()))
        run = _running()
        run.record(self, "news", WRITE)
        for number, timer in enumerate(self.made):
            if timer.when() > run.now and not timer.cancelled():
                run.record(self, ("timer", number), WRITE)
        self._over = True

    def _abandon(self) -> None:
        """Let go of what is left, silently: the schedule is over, or was broken off."""
        self._over = True
        for task in self.tasks:
            if not task.done():
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                try:
                    task.get_coro().close()
                except BaseException:
                    continue
            else:
                task._log_traceback = False
        self.ready.clear()
        self.landed.clear()
        self.timers.clear()

    def _turn(self) -> None:
        """Run one round: what has landed and whose time has come joins the queue, which then runs to where it ended."""
        run = _running()
        self.quiet_turns += 1
        if not self.can_turn():
            run.wait(_Idle(self), (run.location(self, "news"), READ))
        elif self.quiet_turns > MOST_TURNS and (self.events or self.next_timer() is not None):
            run.wait(_Patient(self), (run.location(self, "news"), READ))
        else:
            run.point()
        for place in ("news", "clock", "queue"):
            run.record(self, place, READ)
        self.ready.extend(self.landed)
        self.landed.clear()
        while self.timers and self.timers[0][0] <= run.now:
            self.ready.append(heapq.heappop(self.timers)[2])
        first = True
        for _ in range(len(self.ready)):
            handle = self.ready.popleft()
            if handle.cancelled():
                continue
            if not first:
                run.point()
            first = False
            self._call(run, handle)

    def _call(self, run: Run, handle: asyncio.Handle) -> None:
        if run.telling:
            run.tell(*told_as(handle))
        owner = getattr(handle._callback, "__self__", None)  # type: ignore[attr-defined]
        if isinstance(owner, asyncio.Task) and owner in self._cancellable:
            run.record(self, ("cancel", self._cancellable[owner]), WRITE)
        handle._run()
        if CONTROL.run is not run:  # the schedule has ended while this callback ran
            raise require("greenlet", "explore").GreenletExit
        for task, number in list(self._cancellable.items()):
            if task.done():
                del self._cancellable[task]
                run.record(self, ("cancel", number), WRITE)

    def can_turn(self) -> bool:
        """Return whether there is anything to run."""
        if self.ready or self.landed:
            return True
        while self.timers and self.timers[0][2].cancelled():
            heapq.heappop(self.timers)
        return bool(self.timers) and self.timers[0][0] <= _running().now

    def next_timer(self) -> int | None:
        """Return the number of the next timer in the future, None if there is none."""
        now = _running().now
        left = [(when, number) for when, number, timer in self.timers if when > now and not timer.cancelled()]
        return min(left)[1] if left else None

    def others(self) -> list[Task]:
        """Return the threads of the schedule."""
        return _running().tasks

    def unfinished(self) -> str:
        """Return which tasks wait, and where."""
        return "; ".join(waits_at(task) for task in self.tasks if not task.done())

    # callbacks -------------------------------------------------------------------------------------------------------

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Have a callback called when its turn comes."""
        self._check_open()
        handle = asyncio.Handle(callback, args, self, context)
        run = CONTROL.run
        if run is not None and run.current is not None:
            if not run.alone and not run.current.outside:
                run.at(0)
            run.record(self, "queue", WRITE)
        self.ready.append(handle)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Have a callback called, from any thread."""
        handle = self.call_soon(callback, *args, context=context)
        run = CONTROL.run
        if run is not None and run.current is not self.thread:
            run.poll()
        return handle

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called in `delay` seconds of this loop's clock."""
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called at a time of this loop's clock."""
        self._check_open()
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        number = len(self.made)
        self.made.append(timer)
        heapq.heappush(self.timers, (when, number, timer))
        run = _running()
        if when > run.now:
            for other, each in enumerate(self.made):
                if each.when() > when and not each.cancelled():
                    run.record(self, ("timer", other), BAR)
            passes(run, self, number)
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        if CONTROL.run is not None:
            number = next(at for at, each in enumerate(self.made) if each is handle)
            CONTROL.run.record(self, ("timer", number), WRITE)

    def time(self) -> float:
        """Return the seconds of this loop's clock, which is the schedule's."""
        run = CONTROL.run
        if run is None:
            return 0.0
        run.record(self, "clock", READ)
        return run.now

    # tasks and futures -----------------------------------------------------------------------------------------------

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T], *, name: str | None = None, **options: Any) -> asyncio.Task[T]:
        """Return a task of this loop, which the outside may cancel."""
        self._check_open()
        number = len(self.tasks)
        named = name or f"task {number} ({getattr(coro, '__qualname__', type(coro).__name__).rpartition('.')[2]})"
        if self._factory is not None:
            task = self._factory(self, coro, **options)
            task.set_name(named)
        else:
            task = asyncio.Task(coro, loop=self, name=named, **options)
        self.tasks.append(task)
        if self.cancels and number and not _for_a_timeout():
            self._cancellable[task] = number
            cancels(_running(), self, number)
        made: asyncio.Task[T] = task
        return made

    def event(self, label: str, result: object) -> asyncio.Future[Any]:
        """Return a future that the outside completes whenever it likes, with a result or an exception."""
        future = self.create_future()
        completes(_running(), self, future, label, result)
        return future

    # threads ---------------------------------------------------------------------------------------------------------

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        """Call a function in a thread of a pool, which is a thread of the schedule."""
        self._check_open()
        chosen = executor or self._executor
        if chosen is None or isinstance(chosen, pools.Threads):
            self._executor = threads = chosen or pools.Threads(self)
            return threads.call(func, args)
        return pools.submitted(self, chosen, func, args)

    def _finalize(self, generator: Any) -> None:
        if not self._over and CONTROL.run is not None:
            self.call_soon(self.create_task, generator.aclose())


class _Idle:
    """What a loop with nothing to run waits for."""

    def __init__(self, loop: ExploredLoop) -> None:
        self._loop = loop

    def ready(self) -> bool:
        return self._loop.can_turn()

    def waited_for(self) -> str:
        return f"what nobody sends: {self._loop.unfinished()}"


class _Patient(_Idle):
    """What a loop waits for that has turned often without news: something lands, or somebody hands something over."""

    def ready(self) -> bool:
        return self._loop.quiet_turns <= MOST_TURNS

    def waited_for(self) -> str:
        return "the outside"


def _running() -> Run:
    run = CONTROL.run
    assert run is not None
    return run


def _for_a_timeout() -> bool:
    """Return whether `asyncio.wait_for` makes the task, which nobody else holds."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_name == "wait_for":
            return True
        frame = frame.f_back
    return False
