"""An event loop that draws which task goes on next, from a seed, and whose clock jumps to the next timer.

asyncio's own loop runs what is ready in turn, so a program without a network runs in one order only. Here, of the
tasks that are ready, any may be the next: a network could have delayed the others. What is no step of a task (a
callback) keeps its turn among its kind, and a task has one step ready at a time, so nothing else can change places.

No time passes while nothing is ready: the clock is set to the earliest timer. A program in which nothing is ready and
no timer is set would wait for ever, and ends with `Stuck` at once. The same seed gives the same run.
"""

from __future__ import annotations

import asyncio
import heapq
import inspect
import logging
import random
from collections.abc import Callable, Coroutine, Hashable
from contextvars import Context
from typing import Any, Final, NoReturn, TypeVar

from latchfree_lincheck.testing.stuck import Stuck

T = TypeVar("T")

MOST_STEPS: Final = 100_000
"""Steps of all tasks after which a program is taken to run for ever."""


async def settled(result: Any) -> Any:
    """Return a result, awaited if it can be."""
    return await result if inspect.isawaitable(result) else result


_Base: Any = asyncio.AbstractEventLoop  # what is not defined here is added below, which no type checker sees


class SeededLoop(_Base):  # type: ignore[misc]
    """An event loop for programs in memory: tasks, futures, timers; no network, no threads, no signals.

    Parameters
    ----------
    rng : random.Random, optional
        Draws the next task; without it the tasks go on in turn, as on asyncio's own loop.
    """

    def __init__(self, rng: random.Random | None = None) -> None:
        self._rng = rng
        self._ready: list[tuple[Hashable, asyncio.Handle]] = []
        self._timers: list[tuple[float, int, asyncio.TimerHandle, Callable[..., object]]] = []
        self._number = 0
        self._time = 0.0
        self._steps = 0
        self._closed = False

    def run_until_complete(self, future: Any) -> Any:
        """Run a coroutine or a future to its end and return its result.

        Raises
        ------
        Stuck
            If it can never end, or takes more than `MOST_STEPS` steps.
        """
        future = asyncio.ensure_future(future, loop=self)
        self._steps = 0
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            while not future.done():
                self._step()
        finally:
            asyncio._set_running_loop(outer)
        return future.result()

    def run_until_settled(self, result: Any) -> Any:
        """Return a result; run it to its end first if it can be awaited."""
        return self.run_until_complete(settled(result)) if inspect.isawaitable(result) else result

    def _step(self) -> None:
        while self._timers and (self._timers[0][0] <= self._time or not self._ready):
            when, _, timer, callback = heapq.heappop(self._timers)
            if not timer.cancelled():
                self._time = max(self._time, when)
                self._add(timer, callback)
        if not self._ready:
            raise Stuck("no task can go on: each waits for another, or for what nobody sends")
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise Stuck(f"no end after {MOST_STEPS:,} steps")
        _, handle = self._ready.pop(self._next())
        if not handle.cancelled():
            handle._run()

    def _next(self) -> int:
        """Return the place of what goes on next: any task, or the first of the callbacks."""
        if self._rng is None:
            return 0
        places: dict[Hashable, int] = {}
        for place, (whose, _) in enumerate(self._ready):
            places.setdefault(whose, place)
        return self._rng.choice(list(places.values()))

    def _add(self, handle: asyncio.Handle, callback: Any) -> None:
        task = getattr(callback, "__self__", None)
        self._ready.append((id(task) if isinstance(task, asyncio.Task) else None, handle))

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        """Have a callback called when its turn comes."""
        handle = asyncio.Handle(callback, args, self, context)
        self._add(handle, callback)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called in `delay` seconds of this loop's clock."""
        return self.call_at(self._time + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Have a callback called at a time of this loop's clock."""
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._number += 1
        heapq.heappush(self._timers, (when, self._number, timer, callback))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """Do nothing: a cancelled timer is skipped when its time comes."""

    def time(self) -> float:
        """Return the seconds of this loop's clock."""
        return self._time

    def create_future(self) -> asyncio.Future[Any]:
        """Return a future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(self, coro: Coroutine[Any, Any, T], **options: Any) -> asyncio.Task[T]:
        """Return a task of this loop."""
        return asyncio.Task(coro, loop=self, **options)

    def is_running(self) -> bool:
        """Return whether this loop runs now."""
        return asyncio._get_running_loop() is self

    def is_closed(self) -> bool:
        """Return whether `close` was called."""
        return self._closed

    def get_debug(self) -> bool:
        """Return False."""
        return False

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Log what a callback raised, as asyncio does."""
        logging.getLogger("asyncio").error(context.get("message"), exc_info=context.get("exception"))

    async def shutdown_asyncgens(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Cancel what still runs, and let each task end."""
        for _ in range(10):
            left = asyncio.all_tasks(self)
            for task in left:
                task.cancel()
            if not left:
                break
            try:
                self.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            except Stuck:
                break
        self._ready.clear()
        self._timers.clear()
        self._closed = True


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(self: SeededLoop, *arguments: object, **options: object) -> NoReturn:
        raise NotImplementedError(
            f"loop.{name}: programs of tasks run in memory, without network, threads, processes or signals; "
            "give the object something in memory instead, or record a real run with Recorder"
        )

    return refuse


for _name in dir(asyncio.AbstractEventLoop):
    if not _name.startswith("__") and _name not in vars(SeededLoop):
        setattr(SeededLoop, _name, _refusing(_name))
