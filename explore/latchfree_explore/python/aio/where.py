"""Where a task stands, in words: the line of the innermost coroutine that is neither of asyncio nor ours."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, Final

from latchfree_explore.python.core.places import OUTSIDE, is_of_the_program

ENDING: Final = ("the end of generators", "the end of the pool")
"""The names of the tasks that a loop runs when main has ended."""


def place_of(task: asyncio.Task[Any]) -> tuple[str, int]:
    """Return file and line at which a task waits, or is to begin."""
    found = ("", 0)
    coroutine: Any = task.get_coro()
    while coroutine is not None:
        frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "ag_frame", None)
        if frame is not None and is_of_the_program(frame.f_code.co_filename):
            found = frame.f_code.co_filename, frame.f_lineno
        coroutine = getattr(coroutine, "cr_await", None) or getattr(coroutine, "ag_await", None)
    return found


def waits_at(task: asyncio.Task[Any]) -> str:
    """Return which task waits, and at which line."""
    file, line = place_of(task)
    return f"{task.get_name()} at {Path(file).name}:{line}" if file else task.get_name()


def told_as(handle: asyncio.Handle) -> tuple[str, int, str]:
    """Return file, line and words for a callback that is about to run; no words for what only the loop itself does."""
    callback: Any = handle._callback  # type: ignore[attr-defined]
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        if owner.get_name() in ENDING:
            return OUTSIDE, 0, ""
        file, line = place_of(owner)
        return file or OUTSIDE, line, f"{owner.get_name()} goes on"
    name = getattr(callback, "__qualname__", type(callback).__name__)
    if name.startswith("completes."):
        return OUTSIDE, 0, "an event is handed over"
    ours = str(getattr(callback, "__module__", "")).startswith("latchfree_explore.")
    return OUTSIDE, 0, "" if ours else f"callback {name}"
