"""Programs: what each of several processes, threads or tasks, calls in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from latchfree_lincheck.history import History
from latchfree_lincheck.testing.menu import Step
from latchfree_lincheck.testing.stuck import Stuck

Program: TypeAlias = tuple[tuple[Step, ...], ...]


def program_text(program: Sequence[Sequence[Step]]) -> str:
    """Return a program in one line: ``add(1); read() || add(1)``."""
    return " || ".join("; ".join(map(repr, process)) for process in program)


def stuck(program: Sequence[Sequence[Step]], history: History, why: str) -> Stuck:
    """Return the error of a program that did not end: it names the calls that did not come back."""
    running = "; ".join(str(each) for each in history.operations if each.return_ is None)
    return Stuck(f"the program {program_text(program)} did not end{why}: {running}")
