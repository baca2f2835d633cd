"""A campaign: many programs, and the first that is judged wrong made small."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from latchfree_evidence.stress.lifecycle.driver import Driver, Judged
from latchfree_evidence.stress.lifecycle.program import Program, generate
from latchfree_evidence.stress.lifecycle.shrink import SECONDS, shrink_failing, size


@dataclass(slots=True)
class LifecycleResult:
    """What became of the programs of a campaign.

    Attributes
    ----------
    seed : int
    verdict : str
        "ok", "violation" or "unknown".
    reason : str
        What was found, or why nothing is known.
    programs, processes, steps, writes, kills : int
        How many were run, or done; `writes` were acknowledged.
    failure : dict, optional
        The program that was judged wrong, made small.
    size : int
        Steps of the program before.
    judged : Judged, optional
        What was found of the program before.
    """

    seed: int
    verdict: str = "ok"
    reason: str = ""
    programs: int = 0
    processes: int = 0
    steps: int = 0
    writes: int = 0
    kills: int = 0
    seconds: float = 0.0
    failure: Program | None = None
    size: int = 0
    judged: Judged | None = field(default=None, repr=False)

    def add(self, judged: Judged) -> None:
        """Count a program."""
        self.programs += 1
        for name in ("processes", "steps", "writes", "kills"):
            setattr(self, name, getattr(self, name) + getattr(judged, name))


def run_lifecycle(
    programs: int = 300,
    *,
    seed: int = 0,
    program: Program | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    shrink_seconds: float = SECONDS,
    on_progress: Callable[[int, str], None] = lambda done, what: None,
) -> LifecycleResult:
    """Run random programs and judge each.

    Parameters
    ----------
    programs : int
        How many; or how often, if one is given.
    seed : int
        Of the programs. How processes meet is the machine's, so a seed repeats the programs, not the schedule.
    program : dict, optional
        This one, and no random ones.
    jobs : int, optional
        Programs at a time, by default as many as processors.
    timeout : float, optional
        Seconds after which no program is begun; then the verdict is "unknown", unless a violation was found.
    shrink_seconds : float
        How long a failing program is made smaller; 0: not at all.
    on_progress : callable
        Called with the number of programs judged, and what is going on.

    Returns
    -------
    LifecycleResult
    """
    began = time.monotonic()
    end = None if timeout is None else began + timeout
    result = LifecycleResult(seed)

    def chosen() -> Iterator[Program]:
        for number in range(programs):
            if end is not None and time.monotonic() > end:
                return
            yield generate(seed, number) if program is None else program

    on_progress(0, "compiling")
    with Driver(jobs) as driver:
        for each, judged in driver.run(chosen()):
            result.add(judged)
            on_progress(result.programs, "running")
            if judged.findings:
                result.verdict, result.reason = "violation", "; ".join(text for _, text in judged.findings[:3])
                result.failure, result.size, result.judged = each, size(each), judged
                break
        if result.failure is not None and shrink_seconds > 0:
            on_progress(result.programs, "making the failing program small")
            result.failure = shrink_failing(driver, result.failure, judged.kind, shrink_seconds)
    if result.verdict == "ok" and result.programs < programs:
        result.verdict, result.reason = "unknown", f"timeout after {timeout:g} s"
    result.seconds = time.monotonic() - began
    return result
