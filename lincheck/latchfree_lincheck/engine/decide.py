"""Choose searches for the parts of a history and put their answers together.

1. The monitor judges the parts it serves, all in one sweep.
2. Parts that hold one value are searched just in time, all in one sweep, for a bounded number of steps each.
3. What is left is searched part by part by all searchers of the plan in competition.

A violation found by a monitor is searched for some turns by the searchers, which can say where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, GaveUp
from latchfree_lincheck.engine.dequeues.search import ByDequeues
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning, Problem
from latchfree_lincheck.engine.frontier.kernels.configurations import BLOCKED, DONE
from latchfree_lincheck.engine.frontier.search import JustInTime
from latchfree_lincheck.engine.monitor import MONITORS, UNDECIDED, VIOLATION, Monitor
from latchfree_lincheck.engine.outcome import Outcome
from latchfree_lincheck.engine.product.search import KeyByKey
from latchfree_lincheck.engine.race import race
from latchfree_lincheck.engine.searcher import Searcher
from latchfree_lincheck.engine.together import Together, judge_together
from latchfree_lincheck.engine.wgl.compiled import DepthFirst
from latchfree_lincheck.history.compiled_code import NotThere
from latchfree_lincheck.history.timeline import Ints

_TURNS: Final = 20
"""How long to search for the place of a violation that is certain."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which judges look at the parts of a history, in which order.

    Parameters
    ----------
    name : str
        The engine that follows this plan, as a user asks for it.
    searchers : tuple of Searcher
        They compete for each part that no sweep decided.
    monitors : bool
        Whether the monitor sweeps first.
    sweeps : bool
        Whether the frontier sweeps next.
    searches : bool
        Whether parts that no sweep decided are searched. If not, the verdict on them is "unknown".
    """

    name: str
    searchers: tuple[Searcher, ...]
    monitors: bool = False
    sweeps: bool = False
    searches: bool = True


PLANS: Final[Mapping[str, Plan]] = {
    plan.name: plan
    for plan in (
        Plan("auto", (JustInTime(), DepthFirst(), KeyByKey(), ByDequeues()), monitors=True, sweeps=True),
        Plan("monitor", (JustInTime(), DepthFirst()), monitors=True, searches=False),
        Plan("frontier", (JustInTime(),), sweeps=True),
        Plan("wgl", (DepthFirst(),)),
    )
}
"""By the name of the engine."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The judgement on a history.

    Parameters
    ----------
    verdict : "ok", "violation" or "unknown"
    engine, why : str
        Who decided, and why it was its turn.
    gave_up : str
        If unknown: what ran out, or "unserved".
    part : int
        If violation: the part of the operation that fails.
    members : int64[...]
        If violation: the operations of that part (the caller's indices).
    outcome : Outcome
        If violation: where, as far as it is known.
    orders : callable
        If ok: returns, for each part, the operations (the caller's indices) in order.
    """

    verdict: Literal["ok", "violation", "unknown"]
    engine: str
    why: str
    gave_up: GaveUp | Literal["unserved"] = ""
    part: int = -1
    members: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    outcome: Outcome = field(default_factory=Outcome)
    orders: Callable[[], list[Ints]] = field(default=list)


class NoWitness(RuntimeError):
    """A monitor judged a history to be linearizable, and no order could be found within the bounds."""


def search(
    problem: Problem, searchers: Sequence[Searcher], memory: int, deadline: Deadline, turns: int | None = None
) -> tuple[str, Outcome]:
    """Search one part with all searchers that accept it in competition, for some turns or to the end.

    Several searchers get half of the memory each. Raise NotThere if none is compiled and there is no time to compile.
    """
    share = memory // 2 if len(searchers) > 1 else memory
    able = [each for each in searchers if each.accepts(problem, share)]
    ready = [each for each in able if deadline.may_call(*each.calls)]
    if able and not ready:
        raise NotThere
    runners = {each.name: each.start(problem, share, deadline) for each in ready}
    return race(runners, deadline, turns)


def decide(parts: Parts, meaning: Meaning, return_: Ints, plan: Plan, memory: int, deadline: Deadline) -> Decision:
    """Judge a history, part by part; `return_` is when the caller's operations returned."""
    return _Decider(parts, meaning, return_, plan, memory, deadline).run()


class _Decider:
    def __init__(
        self, parts: Parts, meaning: Meaning, return_: Ints, plan: Plan, memory: int, deadline: Deadline
    ) -> None:
        self._parts = parts
        self._meaning = meaning
        self._return = return_
        self._plan = plan
        self._memory = memory
        self._deadline = deadline
        self._monitor: Monitor | None = MONITORS.get(meaning.family) if plan.monitors else None
        self._known: Together = judge_together(
            parts, meaning, memory, deadline, monitor=self._monitor, sweeps=plan.sweeps, places=False
        )
        self._found: dict[int, Outcome] = {}
        self._winners: Counter[str] = Counter()
        self._gave_up: GaveUp = ""
        self._first: int | None = None  # when the first operation returned that is known to fail

    def run(self) -> Decision:
        """See `decide`."""
        monitored, swept = self._known.monitored, self._known.swept
        served, done = int((monitored != UNDECIDED).sum()), int(((swept == DONE) | (swept == BLOCKED)).sum())
        if self._monitor is not None and served:
            self._winners[self._monitor.name] = served
        if not self._plan.searches and served < len(self._parts):
            return Decision("unknown", self._plan.name, self._why_unserved(), gave_up="unserved")
        if done:
            self._winners["frontier"] += done
        bad = np.flatnonzero((monitored == VIOLATION) | (swept == BLOCKED))
        hard = np.flatnonzero((monitored == UNDECIDED) & (swept != DONE) & (swept != BLOCKED))
        for part in [*bad.tolist(), *hard.tolist()]:
            if self._gave_up:
                break
            self._search(part)
        return self._judge(bad)

    def _search(self, part: int) -> None:
        problem = Problem.of(self._parts, self._meaning, part)
        if self._first is not None:
            problem = replace(problem, until=self._events_until(part, self._first))
        turns = _TURNS if self._known.monitored[part] == VIOLATION else None
        winner, outcome = search(problem, self._plan.searchers, self._memory, self._deadline, turns)
        if outcome.gave_up:
            self._gave_up = outcome.gave_up
            return
        if outcome.ordered:
            self._found[part] = outcome
        if outcome.blocked is not None:
            returned = self._returned(outcome)
            self._first = returned if self._first is None else min(self._first, returned)
        if self._known.monitored[part] == UNDECIDED and self._known.swept[part] != BLOCKED:
            self._winners[winner] += 1

    def _events_until(self, part: int, time: int) -> int:
        """Return how many events of a part there are up to a time, to be told of an operation that failed sooner."""
        begin, end = self._parts.event_bounds[part], self._parts.event_bounds[part + 1]
        events = self._parts.events[begin:end]
        returns = np.flatnonzero(events & 1)
        times = self._return[self._parts.index[events[returns] >> 1]]
        return int(np.append(returns, len(events))[np.searchsorted(times, time, "right")])

    def _judge(self, bad: Ints) -> Decision:
        blocked = {part: outcome for part, outcome in self._found.items() if outcome.blocked is not None}
        engine = self._winners.most_common(1)[0][0] if self._winners else "frontier"
        if blocked:
            first = min(blocked, key=lambda part: self._returned(blocked[part]))
            return self._violation(engine, first, blocked[first])
        suspects = self._known.suspects[bad]
        suspects = suspects[suspects >= 0]
        if len(suspects):
            return self._violation(engine, int(bad[0]), Outcome(blocked=int(self._parts.index[suspects[0]])))
        if self._gave_up:
            return Decision("unknown", engine, self._why(), gave_up=self._gave_up)
        return Decision("ok", engine, self._why(), orders=self._orders)

    def _violation(self, engine: str, part: int, outcome: Outcome) -> Decision:
        members = self._parts.index[self._parts.bounds[part] : self._parts.bounds[part + 1]]
        return Decision("violation", engine, self._why(), part=part, members=members, outcome=outcome)

    def _returned(self, outcome: Outcome) -> int:
        return int(self._return[outcome.blocked])

    def _why(self) -> str:
        if self._monitor is not None and set(self._winners) == {self._monitor.name}:
            return self._monitor.why
        shares = [f"{name} {count:,}" for name, count in self._winners.most_common()]
        searched = f"{len(self._parts):,} part(s): {', '.join(shares)}" if shares else "no part was decided"
        if self._monitor is None or self._monitor.name in self._winners:
            return searched
        return f"{searched}; no monitor, as {self._monitor.needs}"

    def _why_unserved(self) -> str:
        if self._monitor is None:
            return f"no monitor knows the model {self._meaning.family!r}"
        return f"the monitor does not apply, as {self._monitor.needs}"

    def _orders(self) -> list[Ints]:
        """Return the order of each part, searching those that a monitor judged without one."""
        orders = []
        for part in range(len(self._parts)):
            low, high = self._parts.bounds[part], self._parts.bounds[part + 1]
            if part in self._found:
                orders.append(self._found[part].order)
            elif self._known.swept[part] == DONE:
                mine = self._known.order[low:high]
                orders.append(self._parts.index[mine[mine >= 0]])
            else:
                orders.append(self._search_order(part))
        return orders

    def _search_order(self, part: int) -> Ints:
        """Find the witness of a part that was found to be linearizable without one."""
        deadline = Deadline(self._deadline.timeout)
        problem = Problem.of(self._parts, self._meaning, part)
        searchers = [each for each in PLANS["auto"].searchers if each.tells_order]
        _, outcome = search(problem, searchers, self._memory, deadline)
        if outcome.gave_up:
            limit = str(deadline) if outcome.gave_up == "timeout" else "memory bound"
            raise NoWitness(f"the history is linearizable, but the search for an order reached its {limit}")
        return outcome.order
