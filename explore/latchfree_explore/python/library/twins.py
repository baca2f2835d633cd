"""What stands in for the library's objects while a program is explored: ``threading.Lock`` is a lock under control.

Modules, classes and functions have one twin each. A lock, condition or queue that was made before gets a fresh twin in
every run, with the state that the original has, and an iterator that can be copied a copy. The originals are never
changed.
"""

from __future__ import annotations

import _thread
import asyncio
import concurrent.futures
import concurrent.futures._base
import concurrent.futures.thread
import copy
import itertools
import queue
import threading
import time
import types
import warnings
from collections import deque
from functools import cache
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.library.completing import as_completed
from latchfree_explore.python.library.copies import library
from latchfree_explore.python.library.local import Local
from latchfree_explore.python.library.locks import OUTSIDE, Lock, RLock, SimpleQueue
from latchfree_explore.python.library.pools import run_coroutine_threadsafe, wrap_future

_REAL_LOCK: Final = type(_thread.allocate_lock())
_REAL_RLOCK: Final = type(_thread.RLock())
_MADE: Final = (
    threading.Condition, threading.Event, threading.Semaphore, threading.BoundedSemaphore, threading.Barrier,
    queue.Queue, queue.LifoQueue, queue.PriorityQueue, concurrent.futures.Future,
)  # fmt: skip
_COPIED: Final[tuple[type, ...]] = (itertools.count, type(iter([0])), type(iter(())), type(iter(range(0))))
"""Kinds of iterators whose copies go on from where the original is, and share nothing with it."""
_OF_SEQUENCES: Final[tuple[type, ...]] = (type(iter([0])), type(iter(())))
_INSTANCES: Final = frozenset({_REAL_LOCK, _REAL_RLOCK, threading.local, queue.SimpleQueue, *_MADE, *_COPIED})
_NAMED: Final = frozenset({types.ModuleType, type, types.FunctionType, types.BuiltinFunctionType})


@cache
def _exchanged() -> dict[int, tuple[Any, Any]]:
    """Return original and twin of each module, class and function, by the original's address."""
    modules = library().modules
    pairs = [
        (_thread, modules["_thread"]),
        (time, modules["time"]),
        (threading, modules["threading"]),
        (queue, modules["queue"]),
        (concurrent.futures._base, modules["concurrent.futures._base"]),
        (concurrent.futures.thread, modules["concurrent.futures.thread"]),
        (concurrent.futures, modules["concurrent.futures"]),
    ]
    found: dict[int, tuple[Any, Any]] = {}
    for original, private in pairs:
        found[id(original)] = original, private
        for name, value in list(vars(private).items()):
            real = vars(original).get(name)
            kind = real is not None and real is not value and callable(real)
            if kind and not name.startswith("__") and getattr(real, "__module__", "") != "builtins":
                found.setdefault(id(real), (real, value))
    found[id(asyncio.run_coroutine_threadsafe)] = asyncio.run_coroutine_threadsafe, run_coroutine_threadsafe
    found[id(asyncio.wrap_future)] = asyncio.wrap_future, wrap_future
    found[id(asyncio.as_completed)] = asyncio.as_completed, as_completed
    return found


def twin(value: Any) -> Any:
    """Return the twin of a value, the value itself if it has none."""
    kind = type(value)
    if kind in _NAMED:
        pair = _exchanged().get(id(value))
        return value if pair is None else pair[1]
    return TWINS.of(value) if kind in _INSTANCES else value


class Twins:
    """The twins of objects that were made before a run."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}

    def forget(self) -> None:
        """Give every object a fresh twin from now on."""
        self._made.clear()
        CONTROL.originals.clear()

    def born(self, value: Any) -> None:
        """Note that the program has just made a value: if it is an iterator, it needs no copy."""
        if type(value) in _COPIED:
            self._made[id(value)] = value, value

    def returned(self, function: Any, value: Any) -> None:
        """Note what a function has returned: an iterator that ``__iter__`` gives has just been made."""
        if type(value) in _COPIED and getattr(function, "__name__", "") == "__iter__":
            self.born(value)

    def of(self, value: Any) -> Any:
        """Return the twin of a lock, a condition or a queue, made at the first call of a run."""
        known = self._made.get(id(value))
        if known is None:
            new = self._blank(value)
            known = self._made[id(value)] = value, new
            CONTROL.originals[id(new)] = value
            if type(value) in _COPIED:
                self._made[id(new)] = new, new
            else:
                self._fill(value, new)
        return known[1]

    def _blank(self, value: Any) -> Any:
        if type(value) is _REAL_LOCK:
            return Lock()
        if type(value) is _REAL_RLOCK:
            return RLock()
        if type(value) is queue.SimpleQueue:
            return SimpleQueue()
        if type(value) is threading.local:
            return Local()
        if type(value) in _COPIED:
            return _copy(value)
        pair = _exchanged()[id(type(value))]
        return pair[1].__new__(pair[1])

    def _fill(self, value: Any, new: Any) -> None:
        if isinstance(new, Lock):
            taken = value.locked() if type(value) is _REAL_LOCK else not repr(value).startswith("<unlocked")
            new._holder = OUTSIDE if taken else None
            return
        if isinstance(new, SimpleQueue):
            if not value.empty():
                raise RuntimeError("a SimpleQueue with items was made before the run; fix: make the queue in setup=")
            return
        if isinstance(new, Local):
            vars(new).update(vars(value))
            return
        for name, each in vars(value).items():
            vars(new)[name] = self._part(each)

    def _part(self, value: Any) -> Any:
        if isinstance(value, types.BuiltinMethodType) and type(value.__self__) in _INSTANCES:
            return getattr(self.of(value.__self__), value.__name__)
        if isinstance(value, deque | list):
            return type(value)(value)
        return twin(value)


TWINS: Final = Twins()


def _copy(iterator: Any) -> Any:
    """Return a copy of an iterator, itself where this version of Python has none.

    The class of a list may iterate it otherwise than the iterator does.
    """
    if type(iterator) in _OF_SEQUENCES:
        _, (source, *_), *state = iterator.__reduce__()
        new: Any = (tuple if isinstance(source, tuple) else list).__iter__(source)
        if state:
            new.__setstate__(*state)
        return new
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return copy.copy(iterator)
        except TypeError:
            return iterator


def is_instance(value: Any) -> bool:
    """Return whether a value is a lock, a condition, a queue or an iterator of the library itself."""
    return type(value) in _INSTANCES
