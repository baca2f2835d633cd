"""The result of an exploration of plain Python: its verdict, its counts, and a schedule that fails."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from latchfree_explore.python.core.steps import Step
from latchfree_explore.python.page import page
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

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what a process of its own cannot know: the objects of the program, and what a thread raised."""
        notes = {name: value for name, value in vars(self).items() if name != "result"}
        return ExplorationFailed, (self.result.told(),), notes or None


def raise_if_wrong(result: PythonExploration) -> None:
    """Raise what the caller of an exploration is to see.

    Raises
    ------
    ExplorationFailed
        If a schedule went wrong.
    KeyboardInterrupt
        If Ctrl-C ended the search before.
    """
    __tracebackhide__ = True
    if result.wrong is not None:
        raise ExplorationFailed(result)
    if result.interrupted:
        raise KeyboardInterrupt


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
    names : list of str
        What each thread of the failing schedule is called.
    written : list of str
        The names whose reading is a step.
    scenario : str
        The calls of each thread, if an object was explored.
    longest : int
        Steps of the longest schedule.
    programs : int
        How many scenarios were explored.
    tasks : bool
        Whether tasks of an event loop made the calls of the scenario, or were the program.
    cancels : int
        How many tasks the outside cancelled at most.
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
    longest: int = 0
    steps: list[Step] = field(default_factory=list, repr=False)
    names: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    scenario: str = ""
    programs: int = 1
    tasks: bool = False
    cancels: int = 0

    @property
    def context_switches(self) -> int:
        """How often another thread goes on, in the failing schedule."""
        threads = [step.thread for step in self.steps]
        return sum(a != b for a, b in pairwise(threads))

    def told(self) -> PythonExploration:
        """Return the result without objects of the program: its steps have lines and words only."""
        wrong = None if self.wrong is None else replace(self.wrong, error=None)
        return replace(self, wrong=wrong, steps=[_told(step) for step in self.steps])

    def facts(self) -> list[str]:
        """Return where threads change, what was run, and how few changes the failing schedule needs."""
        where = "at any access" if self.switches == "free" else "only where this interpreter polls"
        programs = f" of {self.programs:,} programs" if self.programs > 1 else ""
        lines = [
            f"{self.switches}: threads change {where}",
            f"{self.schedules:,} schedules ({self.strategy}){programs} in {self.seconds:.2f} s",
        ]
        return lines if self.wrong is None else [*lines, self._changes()]

    def _changes(self) -> str:
        switches = f"{self.context_switches} context switches"
        if "outside" in self.names and self.preemptions is not None:
            return f"fewest acts of others while the loop could go on: {self.preemptions}"
        if self.preemptions == 0:
            return f"{switches}; no preemption: threads change only where one waits or ends"
        return switches if self.preemptions is None else f"{switches}; fewest preemptions: {self.preemptions}"

    def explain(self) -> str:
        """Return the verdict in words; for a violation with the schedule, a column for each thread."""
        where, run, *changes = self.facts()
        lines = [f"{self.verdict}: {self.reason}", where, run]
        if self.wrong is None:
            return "\n".join(lines)
        if self.scenario:
            lines.append(f"scenario: {self.scenario}")
        shown = table(self.steps, self.names)
        return "\n".join([*lines, "", shown, f"{self.wrong.kind}: {self.wrong.message}", *changes])

    def page(self) -> str:
        """Return the failing schedule as an HTML page that needs no network: arrows step through it.

        Raises
        ------
        ValueError
            If nothing failed.
        """
        if self.wrong is None:
            raise ValueError(f"there is no schedule to be shown: {self.reason}")
        scenario = [f"scenario: {self.scenario}"] if self.scenario else []
        return page(f"{self.wrong.kind}: {self.wrong.message}", [*scenario, *self.facts()], self.names, self.steps)


def _told(step: Step) -> Step:
    """Return a step of lines and words."""
    told = Step(step.thread)
    told.line, told.started, told.texts = step.line, step.started, step.texts
    return told
