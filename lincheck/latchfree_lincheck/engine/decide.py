"""Choose engines for the parts of a history and put their answers together.

1. Monitors judge the parts they serve, all in one sweep.
2. Parts that hold one value are searched just in time, all in one sweep, for a bounded number of steps each.
3. What is left is searched part by part, depth first and just in time in competition; of a map with operations on the
   whole of it also key by key, which finds no order.

A violation found by a monitor is searched for some turns by the others, which can say where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning, Problem
from latchfree_lincheck.engine.frontier.kernels.configurations import BLOCKED, DONE
from latchfree_lincheck.engine.frontier.search import Frontier
from latchfree_lincheck.engine.frontier.sweep import TAKEN, sweep
from latchfree_lincheck.engine.monitors import MONITORS, UNDECIDED, VIOLATION, Monitor
from latchfree_lincheck.engine.product import search as product
from latchfree_lincheck.engine.race import race
from latchfree_lincheck.engine.search import Deadline, GaveUp, Outcome, Slices, linearize
from latchfree_lincheck.engine.wgl.compiled import CompiledEngine
from latchfree_lincheck.history.timeline import Ints

Choice = Literal["auto", "monitor", "wgl", "frontier"]
_TURNS: Final = 20
"""How long to search for the place of a violation that is certain."""

CHOICES: Final[tuple[Choice, ...]] = ("auto", "monitor", "wgl", "frontier")


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
    outcome: Outcome = field(default_factory=Outcome)
    orders: Callable[[], list[Ints]] = field(default=list)


class NoWitness(RuntimeError):
    """A monitor judged a history to be linearizable, and no order could be found within the bounds."""


def search(
    problem: Problem, choice: str, memory: int, deadline: Deadline, turns: int | None = None, *, ordered: bool = False
) -> tuple[str, Outcome]:
    """Search one part with one engine, or with all in competition, for some turns or to the end.

    If it must be `ordered`, those that tell no order do not compete.
    """
    share = memory // 2 if choice in ("auto", "monitor") else memory
    runners: dict[str, Slices] = {}
    if choice != "wgl":
        runners["frontier"] = Frontier(problem, share, deadline).run()
    if choice != "frontier":
        runners["wgl"] = linearize(CompiledEngine(problem, share, deadline))
    if choice == "auto" and not ordered and product.serves(problem, share):
        runners["product"] = product.run(problem, deadline)
    return race(runners, deadline, turns)


def decide(parts: Parts, meaning: Meaning, return_: Ints, choice: Choice, memory: int, deadline: Deadline) -> Decision:
    """Judge a history, part by part; `return_` is when the caller's operations returned."""
    return _Decider(parts, meaning, return_, choice, memory, deadline).run()


class _Decider:
    def __init__(
        self, parts: Parts, meaning: Meaning, return_: Ints, choice: Choice, memory: int, deadline: Deadline
    ) -> None:
        self._parts = parts
        self._meaning = meaning
        self._return = return_
        self._choice = choice
        self._memory = memory
        self._deadline = deadline
        self._monitor: Monitor | None = MONITORS.get(meaning.family) if choice in ("auto", "monitor") else None
        self._monitored = np.full(len(parts), UNDECIDED)
        self._suspects = np.full(len(parts), -1)
        self._swept = np.full(len(parts), -1)
        self._order: Ints = np.zeros(0, np.int64)
        self._found: dict[int, Outcome] = {}
        self._winners: Counter[str] = Counter()
        self._gave_up: GaveUp = ""

    def run(self) -> Decision:
        """See `decide`."""
        if self._monitor is not None:
            self._monitor.judge(self._parts, self._meaning.first, self._monitored, self._suspects)
            self._monitored[list(self._meaning.initial)] = UNDECIDED
            served = int((self._monitored != UNDECIDED).sum())
            if served:
                self._winners[self._monitor.name] = served
        unserved = np.flatnonzero(self._monitored == UNDECIDED)
        if self._choice == "monitor" and len(unserved):
            return Decision("unknown", "monitor", self._why_unserved(), gave_up="unserved")
        if len(unserved) and self._choice in ("auto", "frontier"):
            self._sweep()
        bad = np.flatnonzero((self._monitored == VIOLATION) | (self._swept == BLOCKED))
        hard = np.flatnonzero((self._monitored == UNDECIDED) & (self._swept != DONE) & (self._swept != BLOCKED))
        for part in [*bad.tolist(), *hard.tolist()]:
            if self._gave_up:
                break
            self._search(part)
        return self._judge(bad)

    def _sweep(self) -> None:
        """Search all parts that hold one value just in time."""
        verdicts = np.where(self._monitored == UNDECIDED, -1, DONE)
        if self._meaning.kind != "value":
            return
        verdicts[list(self._meaning.initial)] = DONE
        self._order = np.empty(len(self._parts.rows), np.int64)
        mine = verdicts < 0
        if mine.any():
            notes = np.zeros((len(self._parts), 2), np.int64)
            sweep(self._parts, self._meaning, verdicts, self._order, notes, self._memory, self._deadline)
            self._deadline.spend(int(notes[:, TAKEN].sum()))
            self._swept = np.where(mine, verdicts, -1)
            done = int(((self._swept == DONE) | (self._swept == BLOCKED)).sum())
            if done:
                self._winners["frontier"] += done

    def _search(self, part: int) -> None:
        problem = Problem.of(self._parts, self._meaning, part)
        turns = _TURNS if self._monitored[part] == VIOLATION else None
        winner, outcome = search(problem, self._choice, self._memory, self._deadline, turns)
        if outcome.gave_up:
            self._gave_up = outcome.gave_up
            return
        if outcome.ordered:
            self._found[part] = outcome
        if self._monitored[part] == UNDECIDED and self._swept[part] != BLOCKED:
            self._winners[winner] += 1

    def _judge(self, bad: Ints) -> Decision:
        blocked = {part: outcome for part, outcome in self._found.items() if outcome.blocked is not None}
        engine = self._winners.most_common(1)[0][0] if self._winners else "frontier"
        if blocked:
            first = min(blocked, key=lambda part: self._returned(blocked[part]))
            return Decision("violation", engine, self._why(), part=first, outcome=blocked[first])
        suspects = self._suspects[bad][self._suspects[bad] >= 0]
        if len(suspects):
            place = int(bad[0])
            suspect = int(self._parts.index[suspects[0]])
            return Decision("violation", engine, self._why(), part=place, outcome=Outcome(blocked=suspect))
        if self._gave_up:
            return Decision("unknown", engine, self._why(), gave_up=self._gave_up)
        return Decision("ok", engine, self._why(), orders=self._orders)

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
            elif self._swept[part] == DONE:
                mine = self._order[low:high]
                orders.append(self._parts.index[mine[mine >= 0]])
            else:
                orders.append(self._search_order(part))
        return orders

    def _search_order(self, part: int) -> Ints:
        """Find the witness of a part that was found to be linearizable without one."""
        deadline = Deadline(self._deadline.timeout)
        problem = Problem.of(self._parts, self._meaning, part)
        _, outcome = search(problem, "auto", self._memory, deadline, ordered=True)
        if outcome.gave_up:
            limit = str(deadline) if outcome.gave_up == "timeout" else "memory bound"
            raise NoWitness(f"the history is linearizable, but the search for an order reached its {limit}")
        return outcome.order
