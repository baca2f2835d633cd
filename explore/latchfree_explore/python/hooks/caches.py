"""What the library keeps for later: `functools.cached_property`, `functools.lru_cache`, and locks that it made itself.

A property that is computed once is a read of the object, the computation, and a write. So is a call that is cached. A
cache of calls that is older than the runs is empty at the beginning of each, and after it.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sys
from collections.abc import Container
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.facts.slots import touch_namespace
from latchfree_explore.python.library.locks import Lock, tell
from latchfree_explore.python.library.twins import twin

LRU: Final = type(functools.lru_cache(len))
"""The kind of caches of calls."""
OLDER: Final[dict[int, Any]] = {}
"""The caches of calls that are older than the runs, by address."""


def is_computed_once(value: Any, name: str, held: Any) -> bool:
    """Return whether what a class has is a property that is computed once, and has no code of its own for that."""
    return (
        isinstance(held, functools.cached_property)
        and type(held).__get__ is functools.cached_property.__get__
        and held.attrname == name
        and type(value).__dictoffset__ != 0
    )


def cached(run: Run, value: Any, name: str, held: Any, line: int) -> Any:
    """Read a property that is computed once; ``__getattr__`` is asked if there is none."""
    try:
        return _cached(run, value, name, held, line)
    except AttributeError:
        answer = getattr(type(value), "__getattr__", None)
        if answer is None:
            raise
    return twin(answer(value, name))


def _cached(run: Run, value: Any, name: str, held: Any, line: int) -> Any:
    """Read such a property; before Python 3.12 one lock for all objects guards the computation."""
    namespace = value.__dict__
    if name in namespace and run.constants.constant(name) and not run.constants.exposes(type(value)):
        return twin(namespace[name])
    run.poll()
    if (known := _known(run, value, name, line)) is not namespace:
        return twin(known)
    lock = twin(getattr(held, "lock", None))
    with lock if isinstance(lock, Lock) else contextlib.nullcontext():
        if isinstance(lock, Lock) and (known := _known(run, value, name, line)) is not namespace:
            return twin(known)
        found = held.func(value)
        if CONTROL.run is run:
            run.at(line)
            run.undo.attribute(value, name)
            run.constants.wrote(name)
            run.record(value, name, WRITE)
            if run.constants.exposes(type(value)):
                touch_namespace(run, value, name, "__setitem__")
            tell(run, f"write .{name}, which is computed once")
        namespace[name] = found
    run.poll()
    return twin(found)


def _known(run: Run, value: Any, name: str, line: int) -> Any:
    """Look for what was computed; return the namespace itself if nothing was."""
    run.at(line)
    run.record(value, name, READ)
    if run.constants.exposes(type(value)):
        touch_namespace(run, value, name, "get")
    tell(run, f"read .{name}, which is computed once")
    return value.__dict__.get(name, value.__dict__)


def forget_calls(run: Run, function: Any) -> bool:
    """Have a cache of calls be empty after the run; return whether the function has one.

    One that the run has made began empty, and those of the program were emptied before.
    """
    function = getattr(function, "__func__", function)
    if type(function) is not LRU:
        return False
    if id(function) in OLDER:
        run.undo.restore(function.cache_clear)
        if function not in run.constants.caches:  # it may hold what is older than the exploration
            run.constants.caches.add(function)
            run.constants.refute()
    return True


def found(cache: Any, spaces: Container[int]) -> bool:
    """Note a cache that is older than the runs; return whether it is of a function of some modules.

    Parameters
    ----------
    cache : LRU
        The cache, as `functools.lru_cache` makes it.
    spaces : container of int
        Where the namespaces of the modules are.
    """
    OLDER[id(cache)] = cache
    function = cache
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return id(getattr(function, "__globals__", None)) in spaces


def asked(run: Run, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Ask a cache of calls: if it has no result, others may come before the result is made and kept."""
    task = run.current
    if task is not None:
        task.misses = True
    try:
        return function(*args, **kwargs)
    finally:
        if task is not None:
            task.misses = False


def guard_handlers(run: Run) -> None:
    """Give each handler of `logging` a lock under control."""
    for reference in logging._handlerList:  # type: ignore[attr-defined]
        handler = reference()
        lock = getattr(handler, "lock", None)
        if lock is not None and (new := twin(lock)) is not lock:
            run.undo.attribute(handler, "lock")
            handler.lock = new


def uses_logging(function: Any) -> bool:
    """Return whether a function is one of `logging`."""
    return "logging" in sys.modules and (getattr(function, "__module__", None) or "").partition(".")[0] == "logging"
