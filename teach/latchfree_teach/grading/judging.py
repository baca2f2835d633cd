"""Judge one scenario of a target: run every schedule, collect the outcomes, show a failure with few preemptions.

Example: two increments by load and store. The outcomes of all schedules are (0, 0), (0, 1) and (1, 0). The first is not
linearizable; the others are. Any program that loses this update has these three outcomes, however it is written, so the
set of outcomes names the mistake.

A plain access (`peek`, `poke`) is no step of its own, which is right for words that one thread owns. A program that
uses the given functions to read or write a shared word plainly would hide its races so. What passes is therefore
explored once more, with plain accesses as steps.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from latchfree_explore import Failure, Scenario, Target
from latchfree_explore.board import layout as b
from latchfree_explore.machine import loop
from latchfree_explore.machine.machine import Machine
from latchfree_explore.render import around, explained
from latchfree_explore.search import judge, run, trouble
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.strategies.dpor import DPOR
from latchfree_explore.strategies.random_choice import RANDOM
from latchfree_explore.strategies.strategy import Strategy
from latchfree_teach.course.lesson import Check

STEPS: Final = 400
"""Accesses after which a schedule counts as endless: those of right answers have a tenth of that."""
SOLO_STEPS: Final = 200
MOST_SCHEDULES: Final = 40_000
MOST_WRONG: Final = 3_000
"""Schedules with a wrong outcome after which the outcomes are no longer collected."""
MOST_PREEMPTIONS: Final = 3
MOST_LINES: Final = 70
_BATCH: Final = 512
_SEED: Final = 1


@dataclass(frozen=True)
class Judgement:
    """What the schedules of one scenario came to.

    Attributes
    ----------
    kind : str
        How it fails, as `latchfree_explore.Failure.kind` says; "" if it does not; "too large" if not all was run.
    message : str
    outcomes : str
        The results of all schedules, or the kind of trouble that ended the search.
    shown : str
        A failing schedule as text.
    """

    kind: str
    message: str
    outcomes: str
    shown: str = ""


def judge_check(target: Target, check: Check) -> Judgement:
    """Run every schedule of a check, or as many random ones as it says: those have no set of outcomes."""
    scenario = Scenario.parse(check.scenario)
    progress = SOLO_STEPS if check.alone else 0
    try:
        machine = Machine(target, scenario, progress=progress, steps=STEPS)
    except RuntimeError as error:  # one thread alone, before the others begin
        return Judgement("before", str(error).partition(": ")[2], "before")
    if check.random:
        found = run(machine, RANDOM, seed=_SEED, schedules=check.random).failure
        return Judgement(found.kind, found.message, found.kind, _shown(found)) if found else Judgement("", "", "")
    failure, outcomes = _search(machine, DPOR, 0, MOST_SCHEDULES)
    if failure is not None:
        small = _smallest(target, scenario, progress, plain=False) or failure
        return Judgement(failure.kind, small.message, outcomes, _shown(small))
    if outcomes == "too large":
        return Judgement("too large", f"more than {MOST_SCHEDULES:,} schedules of different kinds", outcomes)
    machine = Machine(target, scenario, progress=progress, steps=STEPS, plain=True)
    failure, more = _search(machine, DPOR, 0, MOST_SCHEDULES)
    if failure is not None:
        small = _smallest(target, scenario, progress, plain=True) or failure
        return Judgement(failure.kind, small.message, f"plain: {more}", _shown(small))
    return Judgement("", "", outcomes)


def fingerprint(judgements: Iterable[tuple[Check, Judgement]]) -> str:
    """Return a digest of what all schedules of all checks came to: the same for programs that behave the same."""
    digest = hashlib.sha256()
    for check, each in judgements:
        digest.update(f"{check.name}\n{each.kind}\n{each.outcomes}\n".encode())
    return digest.hexdigest()[:16]


def _search(machine: Machine, strategy: Strategy, bound: int, limit: int) -> tuple[Failure | None, str]:
    """Run schedules; return the first failure and the set of all outcomes, or the kind of trouble that ended it."""
    machine.start(strategy, bound=bound)
    found: set[tuple[int, ...]] = set()
    wrong: set[tuple[int, ...]] = set()
    failure: Failure | None = None
    seen = 0
    while int(machine.board[b.SCHEDULES]) + int(machine.board[b.SLEPT]) < limit and seen < MOST_WRONG:
        why = machine.drive(_BATCH)
        if why == loop.COMPLETE:
            return failure, _text(machine, found)
        if why == loop.TROUBLE:
            ended = trouble(machine)
            return failure or ended, ended.kind
        if why != loop.NEW:
            continue
        results = tuple(machine.call_rows[:, b.C_RESULT].tolist())
        found.add(results)
        if results in wrong:
            seen += 1
            continue
        unexplained = judge(machine)
        if unexplained is not None:
            failure = failure or unexplained
            wrong.add(results)
            if strategy is BOUNDED:
                break
    return failure, "too large"


def _text(machine: Machine, found: set[tuple[int, ...]]) -> str:
    """Return results as text, in a fixed order and as the model sees them."""
    convert = [machine.target.operation(each.f).result for each in machine.calls]
    return "\n".join(sorted(str([f(word) for f, word in zip(convert, row, strict=True)]) for row in found))


def _smallest(target: Target, scenario: Scenario, progress: int, *, plain: bool) -> Failure | None:
    """Return a failure with as few preemptions as there can be, if few are enough."""
    for bound in range(MOST_PREEMPTIONS + 1):
        machine = Machine(target, scenario, progress=progress, steps=STEPS, plain=plain)
        failure, _ = _search(machine, BOUNDED, bound, MOST_SCHEDULES)
        if failure is not None:
            return failure
    return None


def _shown(failure: Failure) -> str:
    """Return a failing schedule as text, the middle of a long one left out."""
    alone = len(failure.scenario.threads) == 1
    lines = [line.rstrip() for line in explained(failure, every_step=alone).splitlines()]
    before = around(failure)
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - MOST_LINES} lines ...", *lines[-half - len(before) :]]
    return "\n".join(lines)
