"""Make a failure small: first drop operations, then preemptions, other context switches, and reads of old values."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import Final

from latchfree_explore import search
from latchfree_explore.board import layout as b
from latchfree_explore.failure import Failure
from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.pct import PCT
from latchfree_explore.target import Target
from latchfree_explore.weak.axioms import MODELS
from latchfree_lincheck.checking.checker import check

#: Schedules spent on one smaller scenario for each number of preemptions, and on fewer preemptions in the end.
_TRIES: Final = 3_000
_LAST_TRIES: Final = 50_000
_MOST_PREEMPTIONS: Final = 2

_Path = list[tuple[int, int]]
"""A thread and a choice for each step."""


@dataclass(frozen=True)
class _Search:
    """What is searched, and until when."""

    target: Target
    seed: int
    plain: bool
    memory: str
    races: bool
    deadline: float

    def machine(self, scenario: Scenario, memory: str | None = None) -> Machine:
        """Return a machine for a scenario, under this memory model or another."""
        return Machine(self.target, scenario, plain=self.plain, memory=memory or self.memory, races=self.races)

    @property
    def over(self) -> bool:
        """Whether there is no time left."""
        return time.monotonic() > self.deadline


def failure_along(machine: Machine, schedule: list[int], choices: list[int]) -> Failure | None:
    """Return how a schedule fails; None if it does not, does not fit the code, or the memory model forbids it."""
    status = machine.run(schedule, choices=choices)
    if status == b.DIVERGED:
        return None
    if status != b.DONE:
        return search.allowed(machine, search.trouble(machine))
    verdict = check(machine.target.judged(machine.history()), machine.target.model)
    if verdict.verdict != "violation":
        return None
    failure = search.failure_of(machine, "not linearizable", verdict.message or verdict.reason)
    return search.allowed(machine, failure)


def minimised(
    target: Target,
    failure: Failure,
    *,
    seed: int = 0,
    plain: bool = False,
    memory: str = "sc",
    races: bool = True,
    seconds: float = 20.0,
    on_progress: Callable[[str], None] | None = None,
) -> Failure:
    """Return a failure of the same kind, with as few operations and context switches as are found in some seconds.

    Where memory is weak, a failure under a stronger model is preferred: it happens on more machines.
    """
    deadline = time.monotonic() + seconds
    say = on_progress or (lambda _: None)
    plan = _Search(target, seed, plain, memory, races, deadline)
    failure = _fewer_operations(plan, failure, say)
    for stronger in MODELS[: MODELS.index(failure.models[0])] if memory != "sc" else ():
        say(f"looking for the same under {stronger}")
        machine = plan.machine(failure.scenario, stronger)
        found = _search(plan, machine, failure.kind)
        if found is not None:
            failure = found
            break
    else:
        machine = plan.machine(failure.scenario)
    failure = _fewer_preemptions(machine, failure, deadline)
    failure = _fewer_switches(machine, failure, deadline)
    return _fewer_stale(machine, failure, deadline)


def _search(plan: _Search, machine: Machine, kind: str) -> Failure | None:
    """Look for a failure of that kind, a short time."""
    attempts = [*((BOUNDED, bound) for bound in range(_MOST_PREEMPTIONS + 1)), (PCT, PCT.default_bound)]
    for strategy, bound in attempts:
        done = search.run(machine, strategy, seed=plan.seed, bound=bound, schedules=_TRIES, deadline=plan.deadline)
        found = done.failure
        if found is not None and found.kind == kind:
            return found
    return None


def _fewer_operations(plan: _Search, failure: Failure, say: Callable[[str], None]) -> Failure:
    tried = {str(failure.scenario)}
    while True:
        for scenario in failure.scenario.smaller():
            if plan.over:
                return failure
            if str(scenario) in tried:
                continue
            tried.add(str(scenario))
            say(f"minimising: {scenario}")
            found = _search(plan, plan.machine(scenario), failure.kind)
            if found is not None:
                failure = found
                break
        else:
            return failure


def _fewer_preemptions(machine: Machine, failure: Failure, deadline: float) -> Failure:
    for bound in range(min(failure.preemptions, _MOST_PREEMPTIONS + 1)):
        found = search.run(machine, BOUNDED, bound=bound, schedules=_LAST_TRIES, deadline=deadline).failure
        if found is not None and found.kind == failure.kind:
            return found
    return failure


def _fewer_switches(machine: Machine, failure: Failure, deadline: float) -> Failure:
    """Bring pieces of one thread together, as long as the schedule still fails."""
    again = True
    while again:
        again = False
        for path in _simpler(_path(failure)):
            if time.monotonic() > deadline:
                return failure
            found = failure_along(machine, [thread for thread, _ in path], [choice for _, choice in path])
            if (
                found is not None
                and found.kind == failure.kind
                and (found.context_switches, found.preemptions) < (failure.context_switches, failure.preemptions)
            ):
                failure, again = found, True
                break
    return failure


def _path(failure: Failure) -> _Path:
    return list(zip(failure.schedule, failure.choices or [0] * len(failure.schedule), strict=True))


def _fewer_stale(machine: Machine, failure: Failure, deadline: float) -> Failure:
    """Let loads read the newest value, as long as the schedule still fails."""
    for k in range(len(failure.choices)):
        if k < len(failure.choices) and failure.choices[k] and time.monotonic() < deadline:
            choices = [*failure.choices[:k], 0, *failure.choices[k + 1 :]]
            found = failure_along(machine, failure.schedule, choices)
            if found is not None and found.kind == failure.kind and found.stale < failure.stale:
                failure = found
    return failure


def _simpler(path: _Path) -> Iterator[_Path]:
    """Yield the path cut off after each piece, then with two neighbouring pieces exchanged."""
    pieces = [list(piece) for _, piece in groupby(path, itemgetter(0))]
    for k in range(len(pieces)):
        yield list(chain(*pieces[:k]))
    for k in range(len(pieces) - 1):
        yield list(chain(*pieces[:k], pieces[k + 1], pieces[k], *pieces[k + 2 :]))
