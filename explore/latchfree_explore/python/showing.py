"""A schedule as text: a column for each thread, the lines of source, and below each line what it touches."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from latchfree_explore.python.core.steps import Step

WIDTH: Final = 58
RULE: Final = 100
"""Characters of a rule between more than two threads."""


def rows(steps: Sequence[Step]) -> list[tuple[int, str]]:
    """Return thread and text of each line to be shown, in order."""
    found: list[tuple[int, str]] = []
    before: tuple[int, str, int] | None = None
    for step in steps:
        for file, line, words in step.texts:
            place = step.thread, file, line
            if place != before:
                source = linecache.getline(file, line).strip() if file else ""
                found.append((step.thread, f"{Path(file).name}:{line}  {source}" if file else "in the library"))
            found.append((step.thread, f"    {words}"))
            before = place
    return found


def table(steps: Sequence[Step], threads: int) -> str:
    """Return a schedule with a column for each thread; a rule marks each change of threads."""
    rule = "-" * (WIDTH * threads if threads < 3 else RULE)
    lines = ["".join(f"thread {each}".ljust(WIDTH) for each in range(threads)).rstrip()]
    before = -1
    for thread, text in rows(steps):
        if thread != before:
            lines.append(rule)
            before = thread
        lines.append((" " * (WIDTH * thread) + text).rstrip())
    return "\n".join([*lines, rule])
