"""Tasks and futures whose hash is the same in every run: sets of them keep one order, where addresses would differ."""

from __future__ import annotations

import asyncio
from typing import Any

_Task: Any = asyncio.Task
_Future: Any = asyncio.Future


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
