"""A schedule as text: a column for each thread, the lines of source, and below each line what it touches."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from latchfree_explore.python.core.places import OUTSIDE
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
            if file == OUTSIDE:
                found.append((step.thread, words))
                before = None
                continue
            if place != before:
                source = linecache.getline(file, line).strip() if file else ""
                found.append((step.thread, f"{Path(file).name}:{line}  {source}" if file else "in the library"))
            found.append((step.thread, f"    {words}"))
            before = place
    return found


def columns(names: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return the headings of the columns, and the column of each thread: threads of one name share a column."""
    headings = list(dict.fromkeys(names))
    return headings, [headings.index(name) for name in names]


def table(steps: Sequence[Step], names: Sequence[str]) -> str:
    """Return a schedule with a column for each name of a thread; a rule marks each change of threads."""
    headings, column = columns(names)
    rule = "-" * (WIDTH * len(headings) if len(headings) < 3 else RULE)
    lines = ["".join(each.ljust(WIDTH) for each in headings).rstrip()]
    before = -1
    for thread, text in rows(steps):
        if column[thread] != before:
            lines.append(rule)
            before = column[thread]
        lines.append((" " * (WIDTH * before) + text).rstrip())
    return "\n".join([*lines, rule])
