"""Which steps of a schedule could have come in another order: the races that dynamic partial-order reduction reverses.

Step *i* happens before step *j* if a chain of dependent steps leads from one to the other. A race is a pair of
dependent steps of two threads with no step between them in that order. For each race some thread that could begin a
schedule in which *j* comes before *i* joins the threads to be tried at *i*: a *source set*.

References
----------
Abdulla, Aronis, Jonsson, Sagonas: Source Sets, JACM 2017.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import ACQUIRE, BAR, CLOCK, DUE, RELEASE, TAKE, TRY, Location, conflict

Clock: TypeAlias = list[int]


class Race(NamedTuple):
    """Two accesses that do not commute, of two threads, which could have come in the other order.

    Attributes
    ----------
    first : int
        The step of the earlier access.
    end : int
        The step of the later one; where a thread waited in vain, the step up to which it did.
    thread : int
        Whose access the later one is.
    clock : list of int or None
        Where the thread waited in vain, what happens before its access.
    """

    first: int
    end: int
    thread: int
    clock: Clock | None = None


class Order:
    """What happens before what in a schedule.

    `clocks[j][t]` is the last step of thread t that happens before step j, or is step j. The next schedule of a
    depth-first search begins as the one before did: `follow` keeps what is known of the steps that both have.

    Attributes
    ----------
    races : list of Race
        Those whose later step was not known before.
    """

    def __init__(self, run: Run) -> None:
        self._begin(run)
        self._extend(run)

    def _begin(self, run: Run) -> None:
        self._threads = len(run.tasks)
        self._last: list[Clock] = [[-1] * self._threads for _ in range(self._threads)]
        self._seen: dict[Location, dict[tuple[int, str], int]] = {}
        self._taken: dict[Location, int] = {}
        self._barred: dict[Location, tuple[int, ...]] = {}
        self._before: list[list[tuple[Any, Any, Any]]] = []  # for each step, what it has changed here
        self.clocks: list[Clock] = []
        self.races: list[Race] = []

    def follow(self, run: Run, kept: int) -> None:
        """Go on with a schedule that has the first `kept` steps of the one before."""
        if len(run.tasks) != self._threads:
            self._begin(run)
        self.races.clear()
        while len(self.clocks) > kept:
            self.clocks.pop()
            changes = self._before.pop()
            changes.reverse()
            for changed, key, old in changes:
                if old is None:
                    del changed[key]
                else:
                    changed[key] = old
        self._extend(run)
        if kept:
            self.races = [race for race in self.races if race.end >= kept]

    def _extend(self, run: Run) -> None:
        self._run = run
        for at in range(len(self.clocks), len(run.steps)):
            self._add(at)
        self._add_waiting()

    def _add(self, at: int) -> None:
        steps, seen, taken, latest = self._run.steps, self._seen, self._taken, self._last
        step = steps[at]
        thread, accesses = step.thread, step.accesses
        before: list[tuple[Any, Any, Any]] = [(latest, thread, latest[thread])]
        clock = latest[thread]
        timed = CLOCK in accesses
        if timed:
            for waiter, place, wanted in step.waiting:
                self._waits(waiter, place, wanted, at)
        found: dict[int, bool] = {}
        if timed and step.sooner:
            found = {own[each]: True for each, own in enumerate(latest) if each != thread and own[each] >= 0}
        elif timed:
            clock = _joined(clock, *latest)
        acquired: list[int] = []
        for location, kind in accesses.items():
            if kind in (ACQUIRE, TRY, TAKE):  # who took it last could have come later: what gave it back is no race
                last = taken.get(location)
                if last is not None and steps[last].thread != thread and clock[steps[last].thread] < last:
                    acquired.append(last)
                before.append((taken, location, last))
                taken[location] = at
            elif kind == BAR:
                bars = self._barred.get(location)
                before.append((self._barred, location, bars))
                self._barred[location] = (*(bars or ()), at)
            elif kind == DUE:  # each of them has kept it from happening, and may have ended since
                acquired += [
                    each
                    for each in self._barred.get(location, ())
                    if steps[each].thread != thread and clock[steps[each].thread] < each
                ]
            here = seen.get(location)
            if here is None:
                before.append((seen, location, None))
                seen[location] = {(thread, kind): at}
                continue
            for (other, earlier), last in here.items():
                if other != thread and clock[other] < last and conflict(earlier, kind):
                    found[last] = found.get(last, False) or _reversible(earlier, kind)
            key = thread, kind
            before.append((here, key, here.get(key)))
            here[key] = at
        if found:
            clock = self._ordered_after(found, clock, at)
        for each in acquired:
            race = Race(each, at, thread)
            if race not in self.races:
                self.races.append(race)
        clock = clock.copy()
        clock[thread] = at
        latest[thread] = clock
        self.clocks.append(clock)
        for started in step.started:
            before.append((latest, started, latest[started]))
            latest[started] = clock.copy()
            latest[started][started] = -1
        if timed:
            for each in range(self._threads):
                before.append((latest, each, latest[each]))
                own = latest[each][each]
                latest[each] = _joined(latest[each], clock)
                latest[each][each] = own
        self._before.append(before)

    def _ordered_after(self, steps: dict[int, bool], clock: Clock, at: int) -> Clock:
        """Return the clock after some steps, the last one first; those that no other one orders are races."""
        for each in sorted(steps, reverse=True):
            if clock[self._run.steps[each].thread] < each:
                if steps[each]:
                    self.races.append(Race(each, at, self._run.steps[at].thread))
                clock = _joined(clock, self.clocks[each])
        return clock

    def _add_waiting(self) -> None:
        """Have each thread that waits at the end race with the step that took what the thread waits for."""
        for task in self._run.tasks:
            if not task.done and task.pending is not None:
                self._waits(task.number, *task.pending, len(self._run.steps))

    def _waits(self, thread: int, location: Location, kind: str, end: int) -> None:
        """Have a thread that waits in vain race with the steps because of which it waits."""
        steps, clock = self._run.steps, self._last[thread]
        if kind == ACQUIRE:
            last = self._taken.get(location, -1)
            found = [last] if last >= 0 and steps[last].thread != thread else []
        else:
            here = self._seen.get(location, {})
            found = [at for (other, earlier), at in here.items() if other != thread and conflict(earlier, kind)]
            if kind == DUE:
                found += [at for at in self._barred.get(location, ()) if at not in found and steps[at].thread != thread]
        for each in sorted(found, reverse=True):
            if clock[steps[each].thread] < each:
                self.races.append(Race(each, end, thread, clock))

    def happens_before(self, first: int, second: int) -> bool:
        """Return whether a step happens before another one."""
        return first < second and self.clocks[second][self._run.steps[first].thread] >= first

    def apart(self, race: Race) -> list[int]:
        """Return the steps between those of a race that need not come after the earlier one."""
        i = race.first
        q = self._run.steps[i].thread
        return [k for k in range(i + 1, race.end) if self.clocks[k][q] < i]

    def firsts(self, race: Race) -> set[int]:
        """Return the threads that can go first where the later access of a race is to come before the earlier one."""
        steps, clocks = self._run.steps, self.clocks
        done: dict[int, int] = {}
        found: set[int] = set()
        for k in self.apart(race):
            thread = steps[k].thread
            if thread not in done:
                done[thread] = k
                if not any(clocks[k][other] >= first for other, first in done.items() if other != thread):
                    found.add(thread)
        if race.thread not in done:
            clock = clocks[race.end] if race.clock is None else race.clock
            if not any(clock[other] >= first for other, first in done.items()):
                found.add(race.thread)
        return found

    def way(self, race: Race) -> list[int]:
        """Return the threads of the steps that come first if a race is reversed, in order."""
        return [*(self._run.steps[k].thread for k in self.apart(race)), race.thread]


def _reversible(earlier: str, kind: str) -> bool:
    """Return whether the later of two accesses could have come first: no wait for a lock ends before its release."""
    return not (earlier == RELEASE and kind == ACQUIRE)


def _joined(first: Clock, *others: Clock) -> Clock:
    for other in others:
        first = [a if a > b else b for a, b in zip(first, other)]  # noqa: B905 (as long as each other)
    return first


def add_races(order: Order, nodes: list[Any]) -> None:
    """Have the reversal of every new race tried: add a thread to those to be tried at the earlier step.

    There is nothing to add where a thread that sleeps at that step, or was tried there, could as well go first: then an
    equivalent schedule was run, or will be, and the new one would be cut. The node keeps the threads of the steps that
    lead to the reversal: a run that follows them is cut less often than one that goes its own way.
    """
    for race in order.races:
        node = nodes[race.first]
        firsts = order.firsts(race)
        if firsts & node.to_try:
            continue
        known = node.sleeping | node.done
        able = firsts & node.able
        if firsts & known.keys() or not able:
            continue
        way = order.way(race)
        chosen = way[0] if way[0] in able else min(able)
        node.to_try.add(chosen)
        if chosen == way[0]:
            node.ways[chosen] = way[1:]
