"""Interleavings of a scenario with few preemptions, each judged; in plain Python, so that a mutant costs no compiling.

Example: in ``put(0, 1) | put(0, 2)`` thread 0 is stopped before each access that others may notice, thread 1 runs to
its end, and thread 0 goes on. With two preemptions thread 1 is stopped once, too.

A thread is stopped only before the first access of an operation, before an access of a word that two threads have
touched, one of which has changed it, or right after such a change. Other places to stop make no difference, as far as
is known by then. So this is a filter: what it does not find, the compiled explorer looks for with all its strategies.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree_evidence.systematic.interleaved.threads import SILENT, Call, Thread
from latchfree_evidence.systematic.limits import refill, taken
from latchfree_lincheck import check
from latchfree_lincheck.history import History, Operation

_MOST_STEPS: Final = 4_000


class Wrong(Exception):
    """An interleaving in which something is wrong."""


@dataclass
class Program:
    """What is interleaved.

    Attributes
    ----------
    text : str
        The scenario.
    model : str or Model
        What its operations must do.
    reset : callable
        Puts memory back to what it was before the threads.
    threads : callable
        Returns the operations of each thread, fresh.
    before : list of Call
        What has run before, with results.
    after : callable
        Runs what comes after the threads; returns the operations.
    audit : callable
        Fails if memory is not accounted for, after everything.
    judged : callable
        The part of a history that the model must explain.
    silent : frozenset of str
        Operations that the model knows nothing of.
    """

    text: str
    model: Any
    reset: Callable[[], None]
    threads: Callable[[], list[list[Call]]]
    before: list[Call]
    after: Callable[[], list[Call]]
    audit: Callable[[], None]
    judged: Callable[[History], History] = field(default=lambda history: history)
    silent: frozenset[str] = frozenset()


class Explorer:
    """Explores one program.

    Parameters
    ----------
    program : Program
    bound : int
        The most preemptions.
    schedules : int
        How many schedules at most.

    Attributes
    ----------
    schedules : int
        How many were run.
    steps : int
        The most that one of them took, see `latchfree_evidence.systematic.limits`.
    """

    def __init__(self, program: Program, *, bound: int, schedules: int) -> None:
        self._program = program
        self._bound, self._most = bound, schedules
        self._touched: dict[int, set[int]] = {}
        self._written: set[int] = set()
        self._known: set[Hashable] = set()
        self.schedules = self.steps = 0

    def run(self) -> None:
        """Run schedules; raise Wrong for the first in which something is wrong."""
        count = len(self._program.threads())
        for order in itertools.permutations(range(count)):
            self._one([], order)
        draw = random.Random(0)  # a search in depth would stop threads near their ends only
        ahead: list[list[int]] = [[]]
        while ahead and self.schedules < self._most:
            at = draw.randrange(len(ahead))
            ahead[at], ahead[-1] = ahead[-1], ahead[at]
            prefix = ahead.pop()
            ahead += self._branches(len(prefix), self._one(prefix, range(count)))

    # one schedule ---------------------------------------------------------------------------------------------------

    def _one(self, prefix: list[int], order: Any) -> list[tuple[int, list[int], bool, int]]:
        """Run along a prefix, then as long as possible each; return for each step who ran, who else could, and more.

        The third part says whether the step is worth a preemption, the fourth how many preemptions came before.
        """
        program = self._program
        refill()
        program.reset()
        calls = program.threads()
        threads = [Thread(each) for each in calls]
        trace: list[tuple[int, list[int], bool, int]] = []
        preemptions, current = 0, -1
        wrote = [False] * len(threads)
        try:
            for thread in threads:
                thread.begin(0)
            while True:
                ready = [k for k in order if threads[k].access is not None]
                if not ready:
                    break
                awake = [k for k in ready if not threads[k].asleep]
                if not awake:
                    raise Wrong("deadlock: all who have not ended wait for another to write")
                now = len(trace)
                if now > _MOST_STEPS:
                    raise Wrong("endless: an operation does not end")
                chosen = current if current in awake else awake[0]
                if now < len(prefix):
                    chosen = prefix[now]
                    if chosen not in awake:
                        return []
                    preemptions += current in awake and chosen != current
                others = [k for k in awake if k != chosen]
                wrote[chosen], matters = self._is_shared_write(threads[chosen]), wrote[chosen]
                trace.append((chosen, others, matters or self._matters(threads[chosen]), preemptions))
                self._note(threads[chosen], chosen)
                if threads[chosen].step(now):
                    for k, thread in enumerate(threads):
                        if k != chosen:
                            thread.wake()
                current = chosen
            self.schedules += 1
            self._judge([call for each in calls for call in each], len(trace))
            self.steps = max(self.steps, taken())
        except (Wrong, MemoryError):
            raise
        except Exception as error:
            raise Wrong(f"{type(error).__name__}: {error}") from error
        return trace

    def _note(self, thread: Thread, number: int) -> None:
        assert thread.access is not None
        kind, *arguments = thread.access
        if len(arguments) > 1:
            self._touched.setdefault(arguments[1], set()).add(number)
            if kind not in ("load", "load_seq", "load_unsure"):
                self._written.add(arguments[1])

    def _matters(self, thread: Thread) -> bool:
        assert thread.access is not None
        if thread.begins:
            return True
        at = thread.access[2] if len(thread.access) > 2 else -1
        return at in self._written and len(self._touched.get(at, ())) > 1

    def _is_shared_write(self, thread: Thread) -> bool:
        """Return whether a thread is about to write what others read: it may be stopped right afterwards, too."""
        assert thread.access is not None
        at = thread.access[2] if len(thread.access) > 2 else -1
        return thread.access[0] not in ("load", "load_seq", "load_unsure") and len(self._touched.get(at, ())) > 1

    def _branches(self, first: int, trace: list[tuple[int, list[int], bool, int]]) -> Iterator[list[int]]:
        chosen = [step[0] for step in trace]
        for now in range(first, len(trace)):
            who, others, matters, preemptions = trace[now]
            goes_on = now > 0 and chosen[now - 1] == who
            if matters and preemptions + goes_on <= self._bound:
                yield from ([*chosen[:now], other] for other in others)

    # judging --------------------------------------------------------------------------------------------------------

    def _judge(self, calls: list[Call], end: int) -> None:
        program = self._program
        after = program.after()
        done = [*program.before, *calls, *after]
        key = _order(calls), *(call.result for call in done)
        fresh = key not in self._known
        if fresh:
            self._known.add(key)
            spoken, init, last = (_spoken(each, program.silent) for each in (calls, program.before, after))
            history = program.judged(History(program.text, list(_operations(init, spoken, last, end)), None))
            verdict = check(history, program.model)
            if verdict.verdict != "ok":
                raise Wrong(f"not linearizable: {verdict.message or verdict.reason}")
        if fresh or self.schedules % 16 == 0:
            program.audit()


def _order(calls: list[Call]) -> Hashable:
    """Return which operations ended before which others began."""
    return frozenset(
        (a, b)
        for a, one in enumerate(calls)
        for b, other in enumerate(calls)
        if one.returned is not None and other.invoked is not None and one.returned < other.invoked
    )


def _spoken(calls: list[Call], silent: frozenset[str]) -> list[Call]:
    return [call for call in calls if call.f not in silent and call.result != SILENT]


def _operations(before: list[Call], calls: list[Call], after: list[Call], end: int) -> Iterator[Operation]:
    for k, call in enumerate(before):
        yield Operation("init", call.f, call.arguments, call.result, 2 * k, 2 * k + 1)
    base = 2 * len(before)
    for call in calls:
        assert call.invoked is not None
        assert call.returned is not None
        yield Operation(
            call.process, call.f, call.arguments, call.result, base + 2 * call.invoked, base + 2 * call.returned + 1
        )
    base += 2 * end + 4
    for k, call in enumerate(after):
        yield Operation("after", call.f, call.arguments, call.result, base + 2 * k, base + 2 * k + 1)
