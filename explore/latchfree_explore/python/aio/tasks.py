"""Tasks and futures whose hash is the same in every run: sets of them keep one order, where addresses would differ."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

_Task: Any = asyncio.Task
_Future: Any = asyncio.Future
_as_completed: Final = asyncio.as_completed


class ExploredFuture(_Future):  # type: ignore[misc]
    """A future with a number."""

    def __init__(self, *, loop: Any) -> None:
        self._latchfree_number = loop.next_number()
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return int(self._latchfree_number)


class ExploredTask(_Task):  # type: ignore[misc]
    """A task with a number."""

    def __init__(self, coro: Any, *, loop: Any, **options: Any) -> None:
        self._latchfree_number = loop.next_number()
        super().__init__(coro, loop=loop, **options)

    def __hash__(self) -> int:
        return int(self._latchfree_number)


def is_eager(factory: Any) -> bool:
    """Return whether a factory is asyncio's own that begins a task at once; Python 3.12."""
    return factory is not None and factory is getattr(asyncio, "eager_task_factory", None)


def _in_order(awaitables: Iterable[Any]) -> list[Any]:
    """Return a task for each coroutine, in the order given; asyncio makes them in the order of their addresses."""
    return [asyncio.ensure_future(each) for each in dict.fromkeys(awaitables)]


def as_completed(fs: Any, *, timeout: float | None = None) -> Any:
    """Return what `asyncio.as_completed` does; the tasks begin in the order in which the coroutines are given."""
    if asyncio.isfuture(fs) or asyncio.iscoroutine(fs):
        raise TypeError(f"expect an iterable of futures, not {type(fs).__name__}")
    if hasattr(_as_completed([]), "__anext__"):  # Python 3.13: the tasks are made by the call
        return _as_completed(_in_order(fs), timeout=timeout)
    return _when_asked(_as_completed, fs, timeout)


def _when_asked(real: Callable[..., Iterator[Any]], fs: Iterable[Any], timeout: float | None) -> Iterator[Any]:
    yield from real(_in_order(fs), timeout=timeout)
