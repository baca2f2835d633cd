"""A submission's grade as text: what passed, the mistake, the hint, and one failing schedule."""

from __future__ import annotations

from latchfree_teach.grading.result import FAILED, Graded


def line_of(graded: Graded) -> str:
    """Return the grade in one line."""
    return graded.line


def report(graded: Graded, *, hint: bool = True) -> str:
    """Return everything a student should read, with or without the hint."""
    lines = [line_of(graded)]
    for check in graded.checks:
        why = f"  ({check.kind})" if check.status == FAILED else ""
        lines.append(f"  {check.status:<8} {check.score} of {check.points}  {check.name}{why}")
    shown = next((check.shown for check in graded.checks if check.shown), "")
    if shown:
        lines += ["", shown]
    if hint and graded.hint:
        lines += ["", f"hint: {graded.hint}"]
    return "\n".join(lines)
