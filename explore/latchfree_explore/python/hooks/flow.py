"""Hooks of the flow of control: entries of functions, jumps back, and loops that wait."""

from __future__ import annotations

import sys
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, MOST_IDLE, MOST_ROUNDS, Run, too_late
from latchfree_explore.python.core.steps import ACQUIRE, PROBE, READ, RELEASE, TRY, WRITE, Accesses
from latchfree_explore.python.core.task import Spin, Task
from latchfree_explore.python.facts import polling

FIRST_TICK: Final = 0.001
_OF_LOCKS: Final = (ACQUIRE, TRY, RELEASE)
_PLAIN: Final = frozenset({int, str, bytes, float, bool, type(None)})
_COMPARED: Final = frozenset({list, tuple, dict, set, frozenset})
_MOST: Final = 50
"""How many items of a container are compared."""


def enter(line: int) -> None:
    """Begin a function."""
    run = CONTROL.run
    if run is not None:
        if polling.RULES.on_entry:
            run.poll()
        task = run.current
        if task is not None and task.misses:
            task.misses = False
            run.at(line)


def resumed(value: Any, line: int) -> Any:
    """Go on in a generator."""
    run = CONTROL.run
    if run is not None and polling.RULES.on_entry:
        run.poll()
    return value


def again(rounds: int, line: int) -> int:
    """Begin a round of a ``while`` loop; return how many there were.

    A round that only read, left every variable as it was, and gave back the locks that it took, would go on so for
    ever: the thread waits until one of the places it has read is written.
    """
    run = CONTROL.run
    if run is None or run.current is None:
        if CONTROL.ending:
            too_late()
        return 0
    if rounds == 0:
        return 1
    seen = len(run.steps), len(run.step.accesses), run.writes
    if seen == run.seen:
        run.idle += 1
        if run.idle > MOST_IDLE:
            run.stop(
                "out of control",
                f"the loop at line {line} goes on after {MOST_IDLE:,} rounds that touch nothing that others write; "
                "fix: fewer rounds, or replace what it computes in setup=",
            )
    else:
        run.seen, run.idle, run.rounds = seen, 0, run.rounds + 1
    if run.rounds > MOST_ROUNDS:
        run.stop("endless", f"the loop at line {line} goes on after {MOST_ROUNDS:,} rounds")
    waits = _repeats(run, run.current, line)
    if waits is not None and run.current.gives is not None and run.current.gives.holder == run.current.number + 1:
        run.current.yields = True  # it holds a lock that others get when it waits for a notify: it waits there
    elif waits is not None:
        tick = _tick(run.current, waits)
        if tick:
            run.wait(waits, (run.location(None, "sleep"), WRITE), run.now + tick)
        else:
            run.wait(waits, None)
        for location, kind in waits.reads.items():
            run.record_at(location, kind)
    elif run.polls and polling.RULES.on_jump_back:
        run.poll()
    return rounds + 1


def _tick(task: Task, spin: Spin) -> float:
    """Return how much time passes in a loop that asks the clock, twice as much each time; 0 if it does not ask."""
    asked, task.asked_time = task.asked_time, False
    if not asked:
        return 0.0
    line, before = task.tick
    task.tick = spin.line, (before * 2 if line == spin.line else FIRST_TICK)
    return task.tick[1]


def _repeats(run: Run, task: Task, line: int) -> Spin | None:
    """Return what the loop waits for, None if the round was not a mere repetition."""
    frame = sys._getframe(2)
    doubt, task.doubt = task.doubt, False
    doubted, task.doubted = task.doubted, doubt
    before, last = task.spin, run.names.made_by(task.number)
    known = last if before is None else before[7]
    state = {name: _state(run, value, known) for name, value in frame.f_locals.items() if not name.startswith("_lf_")}
    task.spin = (frame, line, state, len(run.steps), task.holds, run.turns, run.writes, last)
    if before is None or before[0] is not frame or before[1] != line or before[2] != state or before[4] != task.holds:
        return None
    if run.loop is not None and (before[5] != run.turns or (run.alone and before[6] != run.writes)):
        return None  # it has awaited, or written in the step in which the round began
    reads: Accesses = {}
    for step in run.steps[before[3] :]:
        if step.thread == task.number:
            for location, kind in step.accesses.items():
                if run.names.is_made_since(location[0], known):
                    continue  # nobody else has seen it
                if kind in (READ, PROBE):
                    reads[location] = kind
                elif kind not in _OF_LOCKS:  # what it took it gave back, and found nothing new under it
                    return None
    if doubt and not doubted:
        return None
    spin = Spin(reads, False, f"a write that nobody makes (the loop at line {line})", line)
    for step in run.steps[before[3] :]:
        for location, kind in step.accesses.items():
            if step.thread != task.number and kind not in (READ, PROBE):
                spin.written(location)
    return spin


def _state(run: Run, value: Any, last: int) -> Any:
    """Return what a variable is compared by: plain values, and what a container holds that was made in this round."""
    if isinstance(value, int | str | bytes | float | None):
        return value
    kind = type(value)
    if kind in _COMPARED and len(value) <= _MOST:
        number = run.names.numbers.get(id(value))
        if number is None or run.names.is_made_since(number, last):
            parts = [part for pair in value.items() for part in pair] if kind is dict else list(value)
            return kind.__name__, *(part if type(part) in _PLAIN else id(part) for part in parts)
    return id(value)
