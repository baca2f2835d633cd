"""Which steps of a schedule could have come in another order: the races that dynamic partial-order reduction reverses.

Step *i* happens before step *j* if a chain of dependent steps leads from one to the other. A race is a pair of
dependent steps of two threads with no step between them in that order. For each race some thread that could begin a
schedule in which *j* comes before *i* joins the threads to be tried at *i*: a *source set*.

References
----------
Abdulla, Aronis, Jonsson, Sagonas: Source Sets, JACM 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import ACQUIRE, CLOCK, RELEASE, TRY, Location, conflict

Clock: TypeAlias = list[int]


class Order:
    """What happens before what in a schedule.

    `clocks[j][t]` is the last step of thread t that happens before step j, or is step j.

    Attributes
    ----------
    races : list of (int, int)
        Two steps; in place of the second -1 - t where thread t waits at the end of the schedule.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._threads = len(run.tasks)
        self._last: list[Clock] = [[-1] * self._threads for _ in range(self._threads)]
        self._seen: dict[Location, dict[tuple[int, str], int]] = {}
        self._taken: dict[Location, int] = {}
        self.clocks: list[Clock] = []
        self.before: list[int] = []  # the step of the same thread before each one, -1 if it is the first
        self.races: list[tuple[int, int]] = []
        for at in range(len(run.steps)):
            self._add(at)
        self._add_waiting()

    def _add(self, at: int) -> None:
        step = self._run.steps[at]
        thread = step.thread
        clock = self._last[thread]
        self.before.append(clock[thread])
        if CLOCK in step.accesses:
            clock = _joined(clock, *self._last)
        found: dict[int, bool] = {}
        acquired: list[int] = []
        for location, kind in step.accesses.items():
            if kind in (ACQUIRE, TRY):
                last = self._taken.get(location, -1)
                if last >= 0 and self._run.steps[last].thread != thread and clock[self._run.steps[last].thread] < last:
                    acquired.append(last)
                self._taken[location] = at
            for each, reversible in self._conflicting(location, kind, thread):
                found[each] = reversible or found.get(each, False)
        clock = self._ordered_after(found, clock, at)
        self.races.extend((each, at) for each in acquired if (each, at) not in self.races)
        clock = list(clock)
        clock[thread] = at
        self._last[thread] = clock
        self.clocks.append(clock)
        for location, kind in step.accesses.items():
            self._seen.setdefault(location, {})[thread, kind] = at
        for started in step.started:
            self._last[started] = list(clock)
            self._last[started][started] = -1
        if CLOCK in step.accesses:
            for each in range(self._threads):
                own = self._last[each][each]
                self._last[each] = _joined(self._last[each], clock)
                self._last[each][each] = own

    def _conflicting(self, location: Location, kind: str, thread: int) -> Iterator[tuple[int, bool]]:
        """Yield the last conflicting steps, and whether the later one could have come before: no wait ends too soon."""
        for (other, earlier), at in self._seen.get(location, {}).items():
            if other != thread and conflict(earlier, kind):
                yield at, not (earlier == RELEASE and kind == ACQUIRE)

    def _ordered_after(self, steps: dict[int, bool], clock: Clock, at: int) -> Clock:
        """Return the clock after some steps, the last one first; those that no other one orders are races."""
        for each in sorted(steps, reverse=True):
            if clock[self._run.steps[each].thread] < each:
                if steps[each]:
                    self.races.append((each, at))
                clock = _joined(clock, self.clocks[each])
        return clock

    def _add_waiting(self) -> None:
        """Have each thread that waits at the end race with the step that took what the thread waits for."""
        for task in self._run.tasks:
            if task.done or task.pending is None:
                continue
            location, kind = task.pending
            clock = self._last[task.number]
            if kind == ACQUIRE:
                last = self._taken.get(location, -1)
                found = [last] if last >= 0 and self._run.steps[last].thread != task.number else []
            else:
                found = [each for each, _ in self._conflicting(location, kind, task.number)]
            for each in sorted(found, reverse=True):
                if clock[self._run.steps[each].thread] < each:
                    self.races.append((each, -1 - task.number))

    def happens_before(self, first: int, second: int) -> bool:
        """Return whether a step happens before another one."""
        return first < second and self.clocks[second][self._run.steps[first].thread] >= first

    def firsts(self, race: tuple[int, int]) -> set[int]:
        """Return the threads that can go first where the later step of a race is to come before the earlier one."""
        i, j = race
        steps, clocks = self._run.steps, self.clocks
        q = steps[i].thread
        end = j if j >= 0 else len(steps)
        apart = [k for k in range(i + 1, end) if clocks[k][q] < i]
        last = steps[j].thread if j >= 0 else -1 - j
        done: dict[int, int] = {}
        found: set[int] = set()
        for k in apart:
            thread = steps[k].thread
            if thread not in done:
                done[thread] = k
                if not any(clocks[k][other] >= first for other, first in done.items() if other != thread):
                    found.add(thread)
        if last not in done:
            clock = self.clocks[j] if j >= 0 else self._last[last]
            if not any(clock[other] >= first for other, first in done.items()):
                found.add(last)
        return found


def _joined(first: Clock, *others: Clock) -> Clock:
    for other in others:
        first = [a if a > b else b for a, b in zip(first, other, strict=True)]
    return first


def add_races(run: Run, nodes: list[Any]) -> None:
    """Have the reversal of every race tried: add a thread to those to be tried at the earlier step."""
    order = Order(run)
    for race in order.races:
        node = nodes[race[0]]
        firsts = order.firsts(race) & node.able
        if firsts and not firsts & node.to_try:
            node.to_try.add(min(firsts))
