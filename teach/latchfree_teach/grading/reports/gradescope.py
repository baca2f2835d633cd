"""A submission's grade as Gradescope's ``results.json``."""

from __future__ import annotations

from typing import Any

from latchfree_teach.grading.reports.text import line_of
from latchfree_teach.grading.result import NOT_RUN, PASSED, CheckResult, Graded


def results(graded: Graded) -> dict[str, Any]:
    """Return the document: a test for each check, the hint above them."""
    output = line_of(graded) + (f"\n\nHint: {graded.hint}" if graded.hint else "")
    return {
        "score": graded.score,
        "execution_time": round(graded.seconds),
        "output": output,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [_test(number, check) for number, check in enumerate(graded.checks, start=1)],
    }


def _test(number: int, check: CheckResult) -> dict[str, Any]:
    if check.status == PASSED:
        output = "right in every interleaving"
    else:
        told = f"{check.kind}: {check.message}" if check.kind else check.message
        output = f"not run: {told}" if check.status == NOT_RUN else "\n\n".join(filter(None, (told, check.shown)))
    return {
        "name": check.name,
        "number": str(number),
        "score": check.score,
        "max_score": check.points,
        "status": "passed" if check.status == PASSED else "failed",
        "output": output,
        "output_format": "text",
        "visibility": "visible",
    }
