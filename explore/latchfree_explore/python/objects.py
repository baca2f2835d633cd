"""A program of calls on one shared object, judged by what the object is when one thread uses it alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.search.orders import Event, Made, begin, end, orders, schedule_of
from latchfree_explore.python.verdicts import Wrong, ended_wrong
from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.freezing import frozen
from latchfree_model import UNKNOWN, SequentialModel

Script = Sequence[Sequence[tuple[str, tuple[Any, ...]]]]


class ObjectCalls:
    """Threads that call an object; what they get must be linearizable.

    Parameters
    ----------
    make : callable
        Makes the object.
    script : sequence of sequence of (str, tuple)
        The calls of each thread: operation and arguments.
    model : SequentialModel
        What the object is.
    perform : callable, optional
        Makes a call: takes the object, the operation and the arguments. By default the method of that name.
    before, after : sequence of (str, tuple)
        Calls that are made before the threads begin and when all have ended; part of the history.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        script: Script,
        model: SequentialModel[Any],
        perform: Callable[[Any, str, tuple[Any, ...]], Any] | None = None,
        before: Sequence[tuple[str, tuple[Any, ...]]] = (),
        after: Sequence[tuple[str, tuple[Any, ...]]] = (),
    ) -> None:
        self._make = make
        self._script = script
        self._model = model
        self._perform = perform or _method
        self._before = before
        self._after = after
        self._shared: Any = None
        self._calls: list[Made] = []
        self._early: list[tuple[str, tuple[Any, ...], Any]] = []
        self._late: list[tuple[str, tuple[Any, ...], Any]] = []
        self._judged: dict[Any, str | None] = {}
        self.history: History | None = None

    @property
    def judged(self) -> int:
        """How many different histories were judged."""
        return len(self._judged)

    def roots(self) -> list[Any]:
        """Return the factory, an object, and what makes the calls."""
        return [self._make, self._make(), self._perform]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make the object."""
        shared = self._shared = self._make()
        self._early, self._late = self._alone(self._before), []
        self._calls = []

        def thread(process: int, run: Run) -> None:
            for f, arguments in self._script[process]:
                call = Made(process, f, arguments)
                self._calls.append(call)
                begin(run, call)
                end(run, call, frozen(self._perform(shared, f, arguments), f"the result of {f}"))

        def start(run: Run) -> None:
            for process in range(len(self._script)):
                run.spawn(lambda process=process: thread(process, run))  # type: ignore[misc]

        return [shared, self._make, self._perform], start

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then whether each history of the schedule is linearizable."""
        wrong = ended_wrong(run)
        self.history = None
        if wrong is not None:
            self.history = self._history([event for events in list(orders(run, self._calls))[:1] for event in events])
            return wrong
        self._late = self._alone(self._after)
        for events in orders(run, self._calls):
            message = self._message(events)
            if message is not None:
                return Wrong("not linearizable", message, schedule_of(run, self._calls, events))
        return None

    def _alone(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...], Any]]:
        """Make calls while no thread runs; return them with their results."""
        return [(f, given, frozen(self._perform(self._shared, f, given), f"the result of {f}")) for f, given in calls]

    def _message(self, events: list[Event]) -> str | None:
        """Return what is wrong with a history, None if it is linearizable."""
        numbers: dict[int, int] = {}
        key: list[Any] = [tuple(repr(result) for *_, result in (*self._early, *self._late))]
        for what, k in events:
            call = self._calls[k]
            known = k in numbers
            number = numbers.setdefault(k, len(numbers))
            key.append(
                (what, number, *(() if known else (call.process, call.f, repr(call.arguments), repr(call.result))))
            )
        fixed = tuple(key)
        if fixed not in self._judged:
            history = self._history(events)
            if _explained_by_returns(history, self._model):
                self._judged[fixed] = None
                return None
            verdict = check(history, self._model, engine="python")
            self._judged[fixed] = None if verdict.verdict == "ok" else verdict.message or verdict.reason
            if verdict.verdict != "ok":
                self.history = history
        return self._judged[fixed]

    def _history(self, events: list[Event]) -> History:
        operations: list[Operation] = []
        clock = 0
        for f, arguments, result in self._early:
            operations.append(Operation("init", f, arguments, result, clock, clock + 1))
            clock += 2
        times = {event: clock + at for at, event in enumerate(events)}
        for k, call in enumerate(self._calls):
            if ("call", k) in times:
                invoked, returned = times["call", k], times.get(("return", k))
                result = UNKNOWN if returned is None else call.result
                operations.append(Operation(call.process, call.f, call.arguments, result, invoked, returned))
        clock += len(events)
        for at, (f, arguments, result) in enumerate(self._late):
            operations.append(Operation("after", f, arguments, result, clock + 2 * at, clock + 2 * at + 1))
        return History("explored", sorted(operations, key=lambda each: each.invoke), self._model.name)


def _explained_by_returns(history: History, model: SequentialModel[Any]) -> bool:
    """Return whether the results fit the order in which the calls returned: then no other order is looked for."""
    returns = [(each.return_, at) for at, each in enumerate(history.operations) if each.return_ is not None]
    if len(returns) < len(history.operations):
        return False
    state = model.init()
    for _, at in sorted(returns):
        legal, state = model.step(state, history.operations[at].call)
        if not legal:
            return False
    return True


def _method(shared: Any, f: str, arguments: tuple[Any, ...]) -> Any:
    return getattr(shared, f)(*arguments)
