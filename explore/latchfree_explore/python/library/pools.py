"""Functions that an event loop hands to threads of a pool: the threads are those of the schedule."""

from __future__ import annotations

import asyncio
import concurrent.futures
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

from latchfree_explore.python.core.places import caller
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.facts.refused import refuse_processes
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
                ended = _Ended(function, arguments)
                if CONTROL.run is run and not self._loop.is_closed():
                    self._loop.call_soon_threadsafe(_copy, ended, outer)
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

    async def ended(self) -> None:
        """Wait until all threads have ended: a thread waits for them and tells the loop, which turns meanwhile."""
        run = CONTROL.run
        if run is None or not self.unfinished:
            return
        future: asyncio.Future[None] = self._loop.create_future()

        def wait() -> None:
            run.wait(self, (run.location(self, "threads"), WRITE))
            run.record(self, "threads", READ)
            self._loop.call_soon_threadsafe(lambda: None if future.done() else future.set_result(None))

        run.spawn(wait, "the end of the pool")
        await future


class _Ended:
    """How a call ended, asked as a future is."""

    def __init__(self, function: Any, arguments: tuple[Any, ...]) -> None:
        self._error: BaseException | None = None
        self._value: Any = None
        of_context: Any = getattr(function, "func", None)
        try:
            if isinstance(getattr(of_context, "__self__", None), Context):  # as `asyncio.to_thread` has it
                self._value = of_context(CONTROL.call, 0, *function.args, **function.keywords)
            else:
                self._value = CONTROL.call(0, function, *arguments)
        except BaseException as error:
            if CONTROL.run is None:  # the schedule ends, and the thread with it
                raise
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
        run = CONTROL.run
        if run is not None:
            refuse_processes(run, type(executor))
        raise RuntimeError(f"{type(executor).__name__} was made before the program began; fix: make the pool in main")
    return _wrapped(executor.submit(function, *arguments), loop)


def wrap_future(future: Any, *, loop: Any = None) -> asyncio.Future[Any]:
    """Return a future of the loop that ends as a thread's future does.

    Raises
    ------
    TypeError
        If it is no future of a thread.
    """
    if asyncio.isfuture(future):
        return future
    base = library().modules["concurrent.futures._base"]
    if not isinstance(future, base.Future):
        raise TypeError(f"concurrent.futures.Future is expected, got {future!r}")
    return _wrapped(future, loop or asyncio.get_running_loop())


def _wrapped(inner: Any, loop: Any) -> asyncio.Future[Any]:
    outer: asyncio.Future[Any] = loop.create_future()
    inner.add_done_callback(lambda done: None if loop.is_closed() else loop.call_soon_threadsafe(_copy, done, outer))
    outer.add_done_callback(lambda done: inner.cancel() if done.cancelled() else None)
    return outer


def run_coroutine_threadsafe(coroutine: Coroutine[Any, Any, Any], loop: Any) -> Any:
    """Have a loop run a coroutine, from another thread; return a future whose result that thread can wait for.

    Raises
    ------
    TypeError
        If it is no coroutine.
    """
    if not asyncio.iscoroutine(coroutine):
        raise TypeError("A coroutine object is required")
    future: Any = library().modules["concurrent.futures._base"].Future()

    def begin() -> None:
        try:
            _chain(asyncio.ensure_future(coroutine, loop=loop), future, loop)
        except (SystemExit, KeyboardInterrupt):
            raise
        except BaseException as error:
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
            raise

    loop.call_soon_threadsafe(begin)
    return future


def _chain(task: asyncio.Future[Any], future: Any, loop: Any) -> None:
    """Have a thread's future end as a task does, and the task be cancelled when that future is."""

    def ended(done: asyncio.Future[Any]) -> None:
        if done.cancelled():
            future.cancel()
        if not future.set_running_or_notify_cancel():
            return
        error = done.exception()
        if error is not None:
            future.set_exception(_as_asyncio_has_it(error))
        else:
            future.set_result(done.result())

    def cancelled(done: Any) -> None:
        if done.cancelled() and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)

    future.add_done_callback(cancelled)
    task.add_done_callback(ended)


def _as_asyncio_has_it(error: BaseException) -> BaseException:
    """Return an error of `concurrent.futures` as asyncio's own class of the same name."""
    for name in ("CancelledError", "InvalidStateError"):
        if type(error) is getattr(concurrent.futures, name):
            kind: type[BaseException] = getattr(asyncio, name)
            return kind(*error.args)
    return error


def _copy(source: Any, target: Any) -> None:
    """Have one future end as another one did."""
    if target.done():
        return
    if source.cancelled():
        target.cancel()
    elif (error := source.exception()) is not None:
        target.set_exception(_as_asyncio_has_it(error))
    else:
        target.set_result(source.result())
