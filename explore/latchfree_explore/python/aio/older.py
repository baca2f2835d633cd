"""Locks and queues of asyncio that are older than the run: each schedule begins with them as they were."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.rewriting.heap import HEAP

_CONTAINERS: Final = (deque, list, dict, set)


class Older:
    """The locks and queues that were alive when a program was run first; programs of one object may share them."""

    def __init__(self) -> None:
        self._objects: list[weakref.ref[Any]] | None = None

    def put_back_later(self, run: Run) -> None:
        """Have their state put back when a run is over."""
        if self._objects is None:
            self._objects = [weakref.ref(each) for each in HEAP.look().of_asyncio]
        for held in self._objects:
            value = held()
            if value is not None:
                run.undo.restore(_restoring(value))


def _restoring(value: Any) -> Callable[[], None]:
    """Return a function that puts back the attributes that an object has now, and what the containers in them hold."""
    before = dict(vars(value))
    contents = [(held, held.copy()) for held in before.values() if isinstance(held, _CONTAINERS)]

    def restore() -> None:
        vars(value).clear()
        vars(value).update(before)
        for held, content in contents:
            held.clear()
            held.update(content) if isinstance(held, dict | set) else held.extend(content)

    return restore
