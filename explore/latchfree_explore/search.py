"""The search: run schedules of one scenario under one strategy, judge new outcomes, stop at the first violation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from latchfree_explore.board import layout as b
from latchfree_explore.failure import Failure
from latchfree_explore.machine import loop
from latchfree_explore.machine.machine import PROBLEMS, Machine
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.weak.axioms import MODELS, allowed_by
from latchfree_lincheck.checking.checker import check

#: Seconds between two looks at the clock, about.
_SLICE: Final = 0.05
_FIRST_BATCH: Final = 64

MESSAGES: Final = {
    b.ENDLESS: "an operation does not end: after {steps} steps some thread is still in it",
    b.DEADLOCK: "deadlock: every thread that has not ended waits for another to write",
    b.ASTRAY: "an access outside the memory of the structure",
    b.RAISED: "an operation raised an exception",
    b.RACE: "{race}",
    b.STUCK: "a thread alone does not finish its operation: nobody disturbs it, yet it waits or starts over",
    b.OVERFULL: "a schedule touched more words than can be kept",
    b.DIVERGED: "the schedule does not fit this code: the thread to run next could not",
}


@dataclass
class Tally:
    """How far a search has come.

    Attributes
    ----------
    schedules : int
        Schedules run to their end.
    slept : int
        Schedules cut short because an equivalent one was run.
    checked : int
        Histories that the checker judged.
    forbidden : int
        Schedules that would be failures, but that the memory model forbids.
    complete : bool
        Whether the strategy has no further schedule.
    failure : Failure or None
    """

    schedules: int = 0
    slept: int = 0
    checked: int = 0
    forbidden: int = 0
    complete: bool = False
    failure: Failure | None = None


def judge(machine: Machine) -> Failure | None:
    """Have the last schedule's history checked; keep the linearization, or return the failure."""
    history = machine.target.judged(machine.history())
    verdict = check(history, machine.target.model)
    if verdict.verdict == "ok":
        machine.learn(verdict.witness)
        return None
    if verdict.verdict == "unknown":
        raise RuntimeError(f"the checker could not judge {history}: {verdict.reason}")
    return failure_of(machine, "not linearizable", verdict.message or verdict.reason)


def failure_of(machine: Machine, kind: str, message: str) -> Failure:
    """Return the last schedule as a failure."""
    weak = machine.model != "sc"
    return Failure(
        machine.scenario,
        machine.schedule,
        machine.steps,
        machine.history(),
        kind,
        message,
        choices=machine.choices if weak else [],
        models=allowed_by(machine.execution()) if weak else MODELS,
    )


def trouble(machine: Machine) -> Failure:
    """Return the failure of a schedule that did not end as it should.

    Where a data race has a wrong result, the result is the failure: it says more.
    """
    status = machine.status
    if status == b.RACE:
        wrong = judge(machine)
        if wrong is not None:
            return wrong
    race = machine.race() if status == b.RACE else ""
    return failure_of(machine, PROBLEMS[status], MESSAGES[status].format(steps=len(machine.schedule), race=race))


def allowed(machine: Machine, failure: Failure | None) -> Failure | None:
    """Return a failure that the machine's memory model allows, None for any other."""
    return failure if failure is not None and machine.model in failure.models else None


def warm_up(machine: Machine) -> Failure | None:
    """Compile what is still to be compiled: run one schedule and judge it; return how it fails, None if it is fine."""
    machine.drive(0)
    if machine.run([]) != b.DONE:
        return trouble(machine)
    return judge(machine)


def run(
    machine: Machine,
    strategy: Strategy,
    *,
    seed: int = 0,
    bound: int | None = None,
    schedules: int | None = None,
    deadline: float | None = None,
    schedule: Sequence[int] = (),
    on_progress: Callable[[int], None] | None = None,
) -> Tally:
    """Search until the strategy, `schedules` or the deadline ends it, or something is wrong.

    Parameters
    ----------
    machine : Machine
        The scenario, compiled and ready to run.
    strategy : Strategy
        Chooses the schedules.
    seed : int
        For random strategies.
    bound : int, optional
        The number that the strategy takes; by default its own.
    schedules : int, optional
        How many schedules at most.
    deadline : float, optional
        `time.monotonic` after which no further schedules are run.
    schedule : sequence of int
        The threads of the first steps of every schedule.
    on_progress : callable, optional
        Called now and then with the schedules so far.

    Returns
    -------
    Tally
    """
    bound = strategy.default_bound if bound is None else bound
    machine.start(strategy, seed=seed, bound=bound, schedule=schedule)
    done = Tally()
    before = [int(machine.board[at]) for at in (b.SCHEDULES, b.SLEPT, b.FORBIDDEN)]
    batch = _FIRST_BATCH
    while done.failure is None:
        limit = batch if schedules is None else min(batch, schedules - done.schedules)
        if limit <= 0 or (deadline is not None and time.monotonic() > deadline):
            break
        began = time.monotonic()
        why = machine.drive_allowed(limit)
        done.schedules = int(machine.board[b.SCHEDULES]) - before[0]
        done.slept = int(machine.board[b.SLEPT]) - before[1]
        if why == loop.COMPLETE:
            done.complete = True
            break
        if why in (loop.TROUBLE, loop.NEW):
            done.checked += why == loop.NEW
            found = trouble(machine) if why == loop.TROUBLE else judge(machine)
            done.failure = allowed(machine, found)
            if found is not None and done.failure is None:
                machine.refuse()
        else:
            spent = time.monotonic() - began
            batch = max(1, min(batch * 2, int(limit * _SLICE / max(spent, 1e-6))))
        if on_progress is not None:
            on_progress(done.schedules)
    done.forbidden = int(machine.board[b.FORBIDDEN]) - before[2]
    return done
