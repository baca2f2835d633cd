"""Calls of asyncio's own objects by the program: queues, locks, futures, tasks.

Their code is not rewritten. While the loop is the only thread nobody comes in between, so their accesses need not be
known. Where there are other threads, such a call touches one location of the loop, "objects"; all callbacks write it.
"""

from __future__ import annotations

import types
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE

_READERS: Final = frozenset({
    "done", "cancelled", "result", "exception", "cancelling", "get_name", "get_coro", "get_stack", "get_loop", "locked",
    "is_set", "empty", "full", "qsize", "when", "expired", "all_tasks", "current_task", "isfuture", "iscoroutine",
    "iscoroutinefunction", "get_running_loop", "get_event_loop", "sleep", "wait", "wait_for", "timeout", "timeout_at",
})  # fmt: skip
"""Functions and methods that only look, or whose changes are seen: in what a task waits for, and in the timers."""
_OBJECTS: Final = ("asyncio.", "_asyncio", "latchfree_explore.python.aio.tasks")


def is_of_asyncio(value: Any) -> bool:
    """Return whether a value is one of asyncio's own objects."""
    return type(value).__module__.startswith(_OBJECTS)


def told_in_a_thread(line: int, value: Any) -> Any:
    """Return a function that tells what a method of asyncio's own objects touches; any other value as it is."""
    if not isinstance(value, types.MethodType | types.BuiltinMethodType) or not is_of_asyncio(value.__self__):
        return value

    def call(*args: Any, **kwargs: Any) -> Any:
        return CONTROL.call(line, value, *args, **kwargs)

    call.__name__ = value.__name__
    return call


def called(run: Run, loop: Any, function: Any, gets_on: bool) -> None:
    """Note a call of a function that is not rewritten.

    Parameters
    ----------
    run : Run
        The schedule that is running.
    loop : ExploredLoop
        The event loop in which the call is made.
    function : callable
        The function that is called.
    gets_on : bool
        Whether such a call may change something unseen, as one that reads a file does.
    """
    owner = getattr(function, "__self__", None)
    of_asyncio = is_of_asyncio(owner)
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if module == "anyio.to_thread" and name == "run_sync":
        run.stop("out of control", "anyio: to_thread.run_sync() starts a thread out of sight; fix: asyncio.to_thread")
    reads = name in _READERS
    if gets_on or ((of_asyncio or module.startswith(_OBJECTS[:2])) and not reads):
        run.unseen += 1
    if of_asyncio and not run.alone and run.current is not None:
        run.at(0)
        run.record(loop, "objects", READ if reads else WRITE)
