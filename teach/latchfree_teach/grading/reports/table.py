"""Grades as a table of comma-separated values, a line a submission."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Final

from latchfree_teach.grading.result import Graded

COLUMNS: Final = ("name", "lesson", "status", "score", "points", "passed", "mistake", "message")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def table(grades: Iterable[Graded]) -> str:
    """Return the table; a name that a spreadsheet would take for a formula gets an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for graded in grades:
        first = graded.failed[0].message if graded.status == "graded" and graded.failed else graded.message
        row = (graded.name, graded.lesson, graded.status, graded.score, graded.points, graded.passed, graded.mistake)
        writer.writerow([_plain(str(value)) for value in (*row, first)])
    return out.getvalue()


def _plain(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
