"""What grading comes to: for each check whether it passed, and the mistake by name."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from latchfree_support.notebook import frame, panel, pre, table

PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"


@dataclass(frozen=True)
class CheckResult:
    """One check of a submission.

    Attributes
    ----------
    name : str
    points, score : int
    status : str
        "passed", "failed" or "not run".
    kind : str
        How it failed: "not linearizable", "endless", "deadlock", "astray", "raised", "not obstruction-free", "before",
        "too large".
    message : str
    shown : str
        A failing schedule as text.
    """

    name: str
    points: int
    status: str
    kind: str = ""
    message: str = ""
    shown: str = ""

    @property
    def score(self) -> int:
        """The points that it is worth."""
        return self.points if self.status == PASSED else 0


@dataclass(frozen=True)
class Graded:
    """A submission graded.

    Attributes
    ----------
    name : str
        Of the submission.
    lesson : str
    status : str
        "graded"; "refused": no program of atomic accesses; "does not compile"; "out of time", "out of memory",
        "crashed": it was stopped on the way, and what had passed before counts.
    message : str
        Why, unless graded.
    checks : list of CheckResult
    mistake : str
        The name of the known wrong answer that behaves so, "" if none does.
    hint : str
        What to think about next, "" if everything passed.
    fingerprint : str
        Of its outcomes, "" unless graded.
    contained : list of str
        What held the process: limits, and what the system offers.
    seconds, megabytes : float
        Of processor and memory; the only parts that differ from run to run.
    page : str
        The play page of the first check that failed, opened at a shortest failure, if it was asked for and there is
        one. It is no part of the JSON.
    """

    name: str
    lesson: str
    status: str
    message: str = ""
    checks: list[CheckResult] = field(default_factory=list)
    mistake: str = ""
    hint: str = ""
    fingerprint: str = ""
    contained: list[str] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: float = 0.0
    page: str = field(default="", repr=False)

    @property
    def score(self) -> int:
        """The points reached."""
        return sum(check.score for check in self.checks)

    @property
    def points(self) -> int:
        """The points there are."""
        return sum(check.points for check in self.checks)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return self.status == "graded" and all(check.status == PASSED for check in self.checks)

    @property
    def failed(self) -> list[CheckResult]:
        """The checks that failed, small ones first."""
        return [check for check in self.checks if check.status == FAILED]

    @property
    def line(self) -> str:
        """The grade in one line."""
        what = f"{self.score} of {self.points} points"
        if self.passed:
            return f"{self.name}: {what}: every check passed"
        if self.status != "graded":
            return f"{self.name}: {what}: {self.status}: {self.message}"
        first = self.failed[0]
        return f"{self.name}: {what}: {first.kind}: {first.message}"

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        found = asdict(self)
        del found["page"]
        found["checks"] = [{**asdict(check), "score": check.score} for check in self.checks]
        return {**found, "score": self.score, "points": self.points, "passed": self.passed}

    def _repr_html_(self) -> str:
        """Return what a notebook shows: marks, a failing schedule, the hint, and the play page if it was asked for."""
        rows = [(check.status, f"{check.score} of {check.points}", check.name, check.kind) for check in self.checks]
        shown = next((check.shown for check in self.checks if check.shown), "")
        parts = [table(rows, ("", "points", "check", "failure"))]
        parts += [pre(f"hint: {self.hint}")] if self.hint else []
        parts += [frame(self.page)] if self.page else []
        return panel(self.line, [*parts, pre(shown)] if shown else parts)

    @property
    def verdict(self) -> str:
        """Everything but what differs from run to run, as one text."""
        return json.dumps({**self.to_json(), "seconds": 0, "megabytes": 0, "contained": []}, sort_keys=True)
