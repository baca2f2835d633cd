"""Calls that would leave the explored threads: they are refused by name, and the message says what to do instead."""

from __future__ import annotations

import types
from typing import Any, Final

from latchfree_explore.python.core.run import Run

_RUNNING: Final = ("run", "run_until_complete", "run_forever", "guest_run", "start_guest_run")
_LOOPS: Final = ("asyncio", "anyio", "trio", "curio", "uvloop")
_LEAVING: Final = ("fork", "forkpty", "_exit")
_STARTING: Final = ("Pool", "ThreadPool", "start")
_POOLS: Final = ("ProcessPoolExecutor", "InterpreterPoolExecutor")
_POOL: Final = "multiprocessing.pool"


def refuse(run: Run, function: Any, args: tuple[Any, ...]) -> None:
    """Stop at a call that runs an event loop of its own, real threads, or another process."""
    if isinstance(function, type):
        refuse_processes(run, function)
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if name not in _NAMES and module != _POOL:
        return
    package = module.partition(".")[0]
    if name in _RUNNING and package in _LOOPS:
        for given in args:
            if isinstance(given, types.CoroutineType):
                given.close()
        fix = "explore the coroutine function with explore_async"
        run.stop("out of control", f"{package}: {name}() runs an event loop of its own; fix: {fix}")
    if name in _LEAVING and module in ("posix", "nt", "os"):
        fix = "replace what calls it in setup="
        run.stop("out of control", f"os.{name}() leaves the threads that are explored; fix: {fix}")
    if package == "multiprocessing" and (name in _STARTING or module == _POOL):
        fix = "use concurrent.futures.ThreadPoolExecutor"
        run.stop("out of control", f"{module}: {name}() runs threads or processes of the system; fix: {fix}")


def refuse_processes(run: Run, kind: type) -> None:
    """Stop at a pool whose workers are processes."""
    for each in kind.__mro__:
        if each.__name__ in _POOLS and each.__module__.startswith("concurrent.futures"):
            fix = "use concurrent.futures.ThreadPoolExecutor"
            run.stop("out of control", f"concurrent.futures: {each.__name__} runs processes of the system; fix: {fix}")


_NAMES: Final = frozenset({*_RUNNING, *_LEAVING, *_STARTING})
