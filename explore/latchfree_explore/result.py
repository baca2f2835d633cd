"""The result of an exploration: its verdict, its counts, and the failure if there is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from latchfree_explore.failure import Failure


@dataclass
class Exploration:
    """The result of an exploration.

    Attributes
    ----------
    verdict : "ok", "violation" or "unknown"
        Ok if nothing is wrong in what was run; see `complete`. Unknown if nothing is wrong so far but an exhaustive
        exploration was cut short.
    reason : str
        Why, in one line.
    schedules : int
        Schedules run to their end; with "graphs", one for each execution graph.
    slept : int
        Schedules cut short by partial-order reduction because an equivalent one was run; graphs that are no execution,
        since a thread that waits would go on, or clients would have known better.
    scenarios : int
    outcomes : int
        Different results of the operations.
    checked : int
        Histories that the linearizability checker judged.
    interleavings : float or None
        How many interleavings the schedules stand for, with "dpor"; exact below 2**53.
    at_least : bool
        Whether that number is a lower bound, because not every schedule was counted.
    memory : str
        The memory model.
    stale : int
        Loads, in all schedules, that read a value that had been overwritten.
    forbidden : int
        Schedules that would be failures, but that the memory model forbids.
    longest : int
        Steps of the longest schedule.
    complete : bool
        Whether every interleaving is equivalent to one that was run.
    interrupted : bool
        Whether Ctrl-C ended it.
    failure : Failure or None
    """

    target: str
    strategy: str
    seed: int
    mutant: str | None = None
    verdict: Literal["ok", "violation", "unknown"] = "ok"
    reason: str = ""
    schedules: int = 0
    slept: int = 0
    scenarios: int = 0
    steps: int = 0
    outcomes: int = 0
    checked: int = 0
    interleavings: float | None = None
    at_least: bool = False
    memory: str = "sc"
    stale: int = 0
    forbidden: int = 0
    longest: int = 0
    seconds: float = 0.0
    complete: bool = False
    interrupted: bool = False
    failure: Failure | None = None

    def explain(self) -> str:
        """Return the verdict in words; for a violation with the failing interleaving as a table."""
        ran = f"{self.schedules:,} schedules of {self.scenarios:,} scenario(s) in {self.seconds:.2f} s"
        head = f"{self.target}: {self.verdict}: {self.reason} ({ran}, {self.strategy}, seed {self.seed})"
        if self.failure is None:
            return head
        from latchfree_explore.render import explained

        return f"{head}\n{explained(self.failure)}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, what was run, and the failing interleaving."""
        from latchfree_support.notebook import panel, pre, table

        rows = [
            ("strategy", self.strategy),
            ("schedules", f"{self.schedules:,}"),
            ("different results", f"{self.outcomes:,}"),
            ("every interleaving", "yes" if self.complete else "no"),
        ]
        parts = [table(rows)]
        if self.failure is not None:
            from latchfree_explore.render import explained

            parts.append(pre(explained(self.failure)))
        return panel(f"{self.target}: {self.verdict}: {self.reason}", parts)
