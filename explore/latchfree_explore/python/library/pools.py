"""Functions that an event loop hands to threads of a pool: the threads are those of the schedule."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from typing import Any

from latchfree_explore.python.core.places import caller
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.library.copies import library


class Threads:
    """The pool that a loop uses where none is named: a thread for each call, as long as calls are few."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop
        self.unfinished = 0

    def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> asyncio.Future[Any]:
        """Call a function in a thread; return a future of the loop that ends as the call does."""
        run = CONTROL.run
        assert run is not None
        outer: asyncio.Future[Any] = self._loop.create_future()
        state = {"begun": False, "cancelled": False}

        def body() -> None:
            run.at(0)
            run.record(state, "begun", WRITE)
            state["begun"] = not state["cancelled"]
            if state["begun"]:
                self._loop.call_soon_threadsafe(_copy, _Ended(function, arguments), outer)
            run.record(self, "threads", WRITE)
            self.unfinished -= 1

        def cancelled(done: asyncio.Future[Any]) -> None:
            if done.cancelled() and CONTROL.run is run:
                run.record(state, "begun", WRITE)
                state["cancelled"] = not state["begun"]

        outer.add_done_callback(cancelled)
        self.unfinished += 1
        run.alone = False
        task = run.spawn(body)
        if run.telling:
            run.tell(*caller(), f"start {task.name}")
        return outer

    def ready(self) -> bool:
        """Return whether all threads have ended."""
        return self.unfinished == 0

    def waited_for(self) -> str:
        """Return what the end of the loop waits for."""
        return "the threads of its pool"

    def shutdown(self) -> None:
        """Wait until all threads have ended."""
        run = CONTROL.run
        if run is not None and self.unfinished:
            run.wait(self, (run.location(self, "threads"), WRITE))
            run.record(self, "threads", READ)


class _Ended:
    """How a call ended, asked as a future is."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._error: BaseException | None = None
        self._value: Any = None
        try:
            self._value = function(*arguments)
        except Exception as error:
            self._error = error

    def cancelled(self) -> bool:
        return False

    def exception(self) -> BaseException | None:
        return self._error

    def result(self) -> Any:
        return self._value


def submitted(
    loop: Any, executor: Any, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> asyncio.Future[Any]:
    """Call a function in a pool; return a future of the loop that ends as the call does.

    Raises
    ------
    RuntimeError
        If the pool's threads are real ones: it was made before the schedule began.
    """
    if isinstance(executor, concurrent.futures.Executor):
        raise RuntimeError(f"{type(executor).__name__} was made before the program began; fix: make the pool in main")
    inner = executor.submit(function, *arguments)
    outer: asyncio.Future[Any] = loop.create_future()
    inner.add_done_callback(lambda done: None if loop.is_closed() else loop.call_soon_threadsafe(_copy, done, outer))
    outer.add_done_callback(lambda done: inner.cancel() if done.cancelled() else None)
    return outer


def run_coroutine_threadsafe(coroutine: Coroutine[Any, Any, Any], loop: Any) -> Any:
    """Have a loop run a coroutine, from another thread; return a future whose result that thread can wait for."""
    future: Any = library().modules["concurrent.futures._base"].Future()

    def begin() -> None:
        task = loop.create_task(coroutine)
        task.add_done_callback(lambda done: _copy(done, future))

    loop.call_soon_threadsafe(begin)
    return future


def _copy(source: Any, target: Any) -> None:
    """Have one future end as another one did."""
    if target.done():
        return
    if source.cancelled():
        target.cancel()
    elif (error := source.exception()) is not None:
        target.set_exception(error)
    else:
        target.set_result(source.result())
