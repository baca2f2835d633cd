"""The result of a stress run."""

from __future__ import annotations

from dataclasses import dataclass, field

from latchfree_lincheck.checking.verdict import Verdict
from latchfree_lincheck.history import History


@dataclass(slots=True)
class StressResult:
    """The result of a stress run: what was run, and the verdict.

    Attributes
    ----------
    verdict : str
        "ok", "violation" or "unknown".
    reason : str
        Why, in one line.
    operations, threads, seed : int
        As run; `operations` counts those recorded.
    overlapping : int
        Operations that were in flight together with one of another thread.
    histories : list of Verdict
        One a phase.
    failure : History, optional
        An excerpt that fails by itself, when the verdict is "violation".
    """

    target: str
    threads: int
    keys: int
    seed: int
    mutant: str | None
    verdict: str = "ok"
    reason: str = ""
    operations: int = 0
    overlapping: int = 0
    run_seconds: float = 0.0
    check_seconds: float = 0.0
    histories: list[Verdict] = field(default_factory=list)
    failure: History | None = None

    @property
    def seconds(self) -> float:
        """Running and checking together."""
        return self.run_seconds + self.check_seconds

    def explain(self) -> str:
        """Return the verdict in words, with the checker's explanation of a violation."""
        head = (
            f"{self.target}: {self.verdict} after {self.operations:,} operations by {self.threads} threads on "
            f"{self.keys} keys, {self.overlapping:,} of them overlapping (seed {self.seed})"
        )
        if self.reason:
            head += f"\n{self.reason}"
        return head
