"""Make a failure small: first drop operations, then preemptions, then other context switches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain, groupby
from typing import Final

from latchfree_explore import search
from latchfree_explore.board import layout as b
from latchfree_explore.failure import Failure
from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.pct import PCT
from latchfree_explore.target import Target
from latchfree_lincheck.checking.checker import check

#: Schedules spent on one smaller scenario for each number of preemptions, and on fewer preemptions in the end.
_TRIES: Final = 3_000
_LAST_TRIES: Final = 50_000
_MOST_PREEMPTIONS: Final = 2


def failure_along(machine: Machine, schedule: list[int]) -> Failure | None:
    """Return how a schedule fails, None if it does not, or does not fit the code."""
    status = machine.run(schedule)
    if status == b.DIVERGED:
        return None
    if status != b.DONE:
        return search.trouble(machine)
    verdict = check(machine.target.judged(machine.history()), machine.target.model)
    if verdict.verdict != "violation":
        return None
    return search.failure_of(machine, "not linearizable", verdict.message or verdict.reason)


def minimised(
    target: Target,
    failure: Failure,
    *,
    seed: int = 0,
    plain: bool = False,
    seconds: float = 20.0,
    on_progress: Callable[[str], None] | None = None,
) -> Failure:
    """Return a failure of the same kind, with as few operations and context switches as are found in some seconds."""
    deadline = time.monotonic() + seconds
    say = on_progress or (lambda _: None)
    failure = _fewer_operations(target, failure, seed, plain, deadline, say)
    machine = Machine(target, failure.scenario, plain=plain)
    failure = _fewer_preemptions(machine, failure, deadline)
    return _fewer_switches(machine, failure, deadline)


def _search(target: Target, scenario: Scenario, kind: str, seed: int, plain: bool, deadline: float) -> Failure | None:
    """Look for a failure of that kind in a scenario, a short time."""
    machine = Machine(target, scenario, plain=plain)
    attempts = [*((BOUNDED, bound) for bound in range(_MOST_PREEMPTIONS + 1)), (PCT, PCT.default_bound)]
    for strategy, bound in attempts:
        done = search.run(machine, strategy, seed=seed, bound=bound, schedules=_TRIES, deadline=deadline)
        found = done.failure
        if found is not None and found.kind == kind:
            return found
    return None


def _fewer_operations(
    target: Target, failure: Failure, seed: int, plain: bool, deadline: float, say: Callable[[str], None]
) -> Failure:
    tried = {str(failure.scenario)}
    while True:
        for scenario in failure.scenario.smaller():
            if time.monotonic() > deadline:
                return failure
            if str(scenario) in tried:
                continue
            tried.add(str(scenario))
            say(f"minimising: {scenario}")
            found = _search(target, scenario, failure.kind, seed, plain, deadline)
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
        for schedule in _simpler(failure.schedule):
            if time.monotonic() > deadline:
                return failure
            found = failure_along(machine, schedule)
            if (
                found is not None
                and found.kind == failure.kind
                and (found.context_switches, found.preemptions) < (failure.context_switches, failure.preemptions)
            ):
                failure, again = found, True
                break
    return failure


def _simpler(schedule: list[int]) -> Iterator[list[int]]:
    """Yield the schedule cut off after each piece, then with two neighbouring pieces exchanged."""
    pieces = [list(piece) for _, piece in groupby(schedule)]
    for k in range(len(pieces)):
        yield list(chain(*pieces[:k]))
    for k in range(len(pieces) - 1):
        yield list(chain(*pieces[:k], pieces[k + 1], pieces[k], *pieces[k + 2 :]))
