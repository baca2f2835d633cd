"""Locks and queues of asyncio that are older than the run: each schedule begins with them as they were."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from latchfree_explore.python.core.run import Run

_KINDS: Final = (
    asyncio.Lock, asyncio.Event, asyncio.Condition, asyncio.Semaphore, asyncio.Queue, asyncio.Barrier,
)  # fmt: skip


class Older:
    """The locks and queues that were alive when a program was run first; programs of one object may share them."""

    def __init__(self) -> None:
        self._objects: list[weakref.ref[Any]] | None = None

    def put_back_later(self, run: Run) -> None:
        """Have their state put back when a run is over."""
        if self._objects is None:
            self._objects = [weakref.ref(each) for each in gc.get_objects() if _is_kept(type(each))]
        for held in self._objects:
            value = held()
            if value is not None:
                run.undo.restore(_restoring(value))


@cache
def _is_kept(kind: type) -> bool:
    return issubclass(kind, _KINDS)


def _restoring(value: Any) -> Callable[[], None]:
    """Return a function that puts back the attributes that an object has now, and what the containers in them hold."""
    before = dict(vars(value))
    contents = [(held, held.copy()) for held in before.values() if hasattr(held, "copy") and hasattr(held, "clear")]

    def restore() -> None:
        vars(value).clear()
        vars(value).update(before)
        for held, content in contents:
            held.clear()
            held.extend(content) if hasattr(held, "extend") else held.update(content)

    return restore
