"""A failure: one schedule that violates what a target promises."""

from __future__ import annotations

from dataclasses import dataclass, field

from latchfree_explore.scenario import Scenario
from latchfree_explore.steps import Step
from latchfree_explore.weak.axioms import MODELS
from latchfree_lincheck.history import History


@dataclass(frozen=True)
class Failure:
    """A schedule that violates what the target promises.

    Attributes
    ----------
    scenario : Scenario
    schedule : list of int
        The thread of each step.
    steps : list of Step
    history : History
        What the operations returned.
    kind : str
        "not linearizable", "endless", "deadlock", "astray", "raised", "not obstruction-free", "data race".
    message : str
        The problem in words.
    choices : list of int
        Under a weak memory model, the choice of each step; below 0 where an execution graph gives what the machine
        would not choose. Empty otherwise.
    models : tuple of str
        The memory models that allow the schedule, the strongest first.
    """

    scenario: Scenario
    schedule: list[int]
    steps: list[Step] = field(repr=False)
    history: History = field(repr=False)
    kind: str
    message: str
    choices: list[int] = field(default_factory=list)
    models: tuple[str, ...] = MODELS

    @property
    def stale(self) -> int:
        """How many steps do not go by the newest value."""
        return sum(choice != 0 for choice in self.choices)

    @property
    def context_switches(self) -> int:
        """How often another thread goes on."""
        return sum(a != b for a, b in zip(self.schedule, self.schedule[1:], strict=False))

    @property
    def preemptions(self) -> int:
        """Context switches away from a thread that had steps left."""
        last = {thread: k for k, thread in enumerate(self.schedule)}
        return sum(
            a != b and last[a] > k for k, (a, b) in enumerate(zip(self.schedule, self.schedule[1:], strict=False))
        )
