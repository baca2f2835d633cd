"""A program of asyncio to explore: a coroutine function, and what must hold when it has ended."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any

from latchfree_explore.python.aio.loop import ExploredLoop
from latchfree_explore.python.aio.older import Older
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.verdicts import Wrong, broken, ended_wrong


class AsyncProgram:
    """A coroutine function on an event loop.

    Parameters
    ----------
    main : callable
        Run as `asyncio.run` does.
    check : callable, optional
        Called with what main returned.
    cancels : int
        How many tasks the outside cancels at most.
    older : Older, optional
        What is older than the program, if that is known.
    """

    def __init__(
        self,
        main: Callable[[], Coroutine[Any, Any, Any]],
        check: Callable[[Any], Any] | None = None,
        cancels: int = 0,
        older: Older | None = None,
    ) -> None:
        self._main = main
        self._check = check
        self._cancels = cancels
        self._older = Older() if older is None else older
        self._loop = ExploredLoop()
        self._result: Any = None
        self.inside = False

    def roots(self) -> list[Any]:
        """Return the functions."""
        return [self._main, *([] if self._check is None else [self._check])]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make a loop."""
        loop = self._loop = ExploredLoop(self._cancels)
        self._result = None
        context = contextvars.copy_context()

        def thread() -> None:
            try:
                self._result = context.run(loop.run_main, self._main)
            except SystemExit as error:
                raise RuntimeError(f"SystemExit({error.code!r}) ended the loop") from error

        def start(run: Run) -> None:
            self._older.put_back_later(run)
            run.spawn(thread, "main")

        return [loop, self._main], start

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, whether a task or a callback failed unnoticed, then the check."""
        wrong = ended_wrong(run) or self.unnoticed(run)
        if wrong is None and self._check is not None:
            wrong = broken(run, self._check, (self._result,))
        return wrong

    def unnoticed(self, run: Run) -> Wrong | None:
        """Return what a task or a callback raised that nobody has asked for."""
        if not self._loop.errors:
            return None
        message, error = self._loop.errors[0]
        words = f"{type(error).__name__}: {error}" if error is not None else ""
        return Wrong("exception", f"{message}; {words}".rstrip(": ;"), [step.thread for step in run.steps], error)


def outside_event(label: str = "an event", result: object = None) -> asyncio.Future[Any]:
    """Return a future that the outside completes, at any moment it likes: a reply, a connection, a message.

    Only in a program that `explore_async` runs.

    Parameters
    ----------
    label : str
        What the schedule calls the event.
    result : object
        What the future returns; an exception is raised.

    Raises
    ------
    RuntimeError
        If no exploration runs.

    Examples
    --------
    >>> async def query():
    ...     return await outside_event("the reply", {"rows": 3})
    """
    loop = asyncio._get_running_loop()
    if CONTROL.run is None or not isinstance(loop, ExploredLoop):
        raise RuntimeError("outside_event() is for coroutines that explore_async runs")
    return loop.event(label, result)
