"""The result of an exploration of plain Python: its verdict, its counts, and a schedule that fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from latchfree_explore.python.core.steps import Step
from latchfree_explore.python.showing import table
from latchfree_explore.python.verdicts import Wrong


class ExplorationFailed(AssertionError):
    """A schedule went wrong; the text shows the schedule.

    Attributes
    ----------
    result : PythonExploration
    """

    def __init__(self, result: PythonExploration) -> None:
        super().__init__(result.explain())
        self.result = result


@dataclass
class PythonExploration:
    """What an exploration found.

    Attributes
    ----------
    switches : "free" or "gil"
        Where threads could change.
    verdict : "ok", "violation" or "unknown"
        Ok if nothing is wrong in what was run, and `complete` says whether that was everything. Unknown if the search
        was to run every class of schedules and was cut short.
    reason : str
        Why, in one line.
    schedules : int
        Schedules that were run to their end.
    cut : int
        Schedules that were broken off, since equivalent ones had been run.
    preemptions : int or None
        The fewest changes away from a thread that could have gone on, in any failing schedule; None if that is not
        known.
    steps : list of Step
        Of the failing schedule.
    threads : int
    written : list of str
        The names whose reading is a step.
    scenario : str
        The calls of each thread, if an object was explored.
    longest : int
        Steps of the longest schedule.
    """

    switches: str
    verdict: Literal["ok", "violation", "unknown"] = "ok"
    reason: str = ""
    strategy: str = "auto"
    schedules: int = 0
    cut: int = 0
    seconds: float = 0.0
    complete: bool = False
    interrupted: bool = False
    wrong: Wrong | None = None
    found_after: int = 0
    preemptions: int | None = None
    threads: int = 0
    longest: int = 0
    steps: list[Step] = field(default_factory=list, repr=False)
    written: list[str] = field(default_factory=list)
    scenario: str = ""

    @property
    def context_switches(self) -> int:
        """How often another thread goes on, in the failing schedule."""
        threads = [step.thread for step in self.steps]
        return sum(a != b for a, b in pairwise(threads))

    def explain(self) -> str:
        """Return the verdict in words; for a violation with the schedule, a column for each thread."""
        where = "at any access" if self.switches == "free" else "only where this interpreter polls"
        lines = [
            f"{self.verdict}: {self.reason}",
            f"{self.switches}: threads change {where}",
            f"{self.schedules:,} schedules ({self.strategy}) in {self.seconds:.2f} s",
        ]
        if self.wrong is None:
            return "\n".join(lines)
        if self.scenario:
            lines.append(f"scenario: {self.scenario}")
        switches = f"{self.context_switches} context switches"
        if self.preemptions == 0:
            switches += "; no preemption: threads change only where one waits or ends"
        elif self.preemptions is not None:
            switches += f"; fewest preemptions: {self.preemptions}"
        shown = table(self.steps, max(self.threads, 1))
        return "\n".join([*lines, "", shown, f"{self.wrong.kind}: {self.wrong.message}", switches])
