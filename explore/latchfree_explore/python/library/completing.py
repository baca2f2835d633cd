"""The twin of `asyncio.as_completed`: tasks begin in the order given, and not in that of their addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

_as_completed: Final = asyncio.as_completed


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
