"""A program of calls on one shared object, judged by what the object is when one thread uses it alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.given.making import made
from latchfree_explore.python.program import starting
from latchfree_explore.python.search.judging import judging
from latchfree_explore.python.search.orders import Event, Made, begin, end, orders, own_order, schedule_of
from latchfree_explore.python.verdicts import Wrong, ended_wrong
from latchfree_lincheck.checking.checker import check
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.freezing import frozen
from latchfree_lincheck.history.keys import key_of_all
from latchfree_lincheck.pairs import left_out
from latchfree_model import UNKNOWN, SequentialModel

Script = Sequence[Sequence[tuple[str, tuple[Any, ...]]]]


class CallExits(RuntimeError):
    """A call raised SystemExit."""


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
    perform : callable
        Makes a call: takes the object, the operation and the arguments.
    before, after : sequence of (str, tuple)
        Calls that are made before the threads begin and when all have ended; part of the history.
    known : set, optional
        Histories that the model explains, whichever thread makes the calls. Programs of one model may share the set,
        so that each history is judged once; those that are judged are added.

    Attributes
    ----------
    script, before, after
        As given.
    calls : list of Made
        The calls of the last run, in the order in which the threads came to them.
    early, late : list of (str, tuple, object)
        The calls before and after, with their results.
    """

    def __init__(
        self,
        make: Callable[[], Any],
        script: Script,
        model: SequentialModel[Any],
        perform: Callable[[Any, str, tuple[Any, ...]], Any],
        before: Sequence[tuple[str, tuple[Any, ...]]] = (),
        after: Sequence[tuple[str, tuple[Any, ...]]] = (),
        known: set[Hashable] | None = None,
    ) -> None:
        self._make = make
        self.script = script
        self._model = model
        self._perform = perform
        self.before = before
        self.after = after
        self._known: set[Hashable] = set() if known is None else known
        self._shared: Any = None
        self.inside = False
        self.calls: list[Made] = []
        self.early: list[tuple[str, tuple[Any, ...], Any]] = []
        self.late: list[tuple[str, tuple[Any, ...], Any]] = []
        self._judged: dict[Hashable, str | None] = {}
        self._keys: dict[int, Hashable] = {}
        self._unlike = 0
        self.history: History | None = None

    @property
    def judged(self) -> int:
        """How many histories were judged: different ones, and those that cannot be told from others by their values."""
        return len(self._judged) + self._unlike

    def roots(self) -> list[Any]:
        """Return the factory, and what makes the calls."""
        return [self._make, self._perform]

    def make(self) -> tuple[list[Any], Callable[[Run], object]]:
        """Make the object."""
        self.early, self.late, self.calls = [], [], []
        self._shared = None

        def thread(process: int) -> None:
            run = CONTROL.run
            assert run is not None
            before: tuple[str, object] | None = None
            for f, arguments in self.script[process]:
                if left_out(f, before):
                    continue
                call = Made(process, f, arguments)
                self.calls.append(call)
                begin(run, call)
                end(run, call, frozen(self._made(f, arguments), f"the result of {f}"))
                before = f, call.result

        def set_up() -> None:
            self._shared = made(self._make)
            self.early = self._alone(self.before)

        bodies = [lambda process=process: thread(process) for process in range(len(self.script))]
        start = starting(set_up, bodies, self.inside)
        return [self._shared, self._make, self._perform], start

    def _made(self, f: str, arguments: tuple[Any, ...]) -> Any:
        """Make a call; a thread that a call ends has not got its result."""
        try:
            return self._perform(self._shared, f, arguments)
        except SystemExit as error:
            raise CallExits(f"{f} raised SystemExit({error.code!r})") from error

    def judge(self, run: Run) -> Wrong | None:
        """Ask how it ended, then whether each history of the schedule is linearizable."""
        wrong = ended_wrong(run)
        self.history = None
        if wrong is not None:
            self.history = self._history([event for events in list(orders(run, self.calls))[:1] for event in events])
            return wrong
        self.late = self._alone(self.after)
        self._keys.clear()
        seen = [*self.early, *((each.f, each.arguments, each.result) for each in self.calls), *self.late]
        with judging(seen):
            for events in orders(run, self.calls):
                message = self._message(events)
                if message is None:
                    continue
                own = self._message(own_order(self.calls))
                if own is not None:  # the schedule that was run is wrong as it is
                    return Wrong("not linearizable", own, run.choices)
                return Wrong("not linearizable", message, schedule_of(run, self.calls, events))
        return None

    def _alone(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[tuple[str, tuple[Any, ...], Any]]:
        """Make calls while no thread runs; return them with their results."""
        return [(f, given, frozen(self._made(f, given), f"the result of {f}")) for f, given in calls]

    def _message(self, events: list[Event]) -> str | None:
        """Return what is wrong with a history, None if it is linearizable; judge it unless an equal one was judged."""
        key = self._key(events)
        if key is None:
            self._unlike += 1
            return self._fault(events)
        if key not in self._judged:
            self._judged[key] = None if key[0] in self._known else self._fault(events)
            if self._judged[key] is None:
                self._known.add(key[0])
        return self._judged[key]

    def _key(self, events: list[Event]) -> tuple[Hashable, Hashable] | None:
        """Return the key of a history but for the threads, and the threads; None if a result has no key."""
        alone = self._key_of(-1, (self.early, self.late))
        if alone is None:
            return None
        numbers: dict[int, int] = {}
        key: list[Hashable] = [alone]
        processes: list[int] = []
        for what, k in events:
            call = self.calls[k]
            if k in numbers:
                key.append((what, numbers[k]))
                continue
            values = self._key_of(k, (call.arguments, call.result))
            if values is None:
                return None
            numbers[k] = len(numbers)
            processes.append(call.process)
            key.append((what, call.f, values))
        return tuple(key), tuple(processes)

    def _key_of(self, call: int, values: tuple[Any, ...]) -> Hashable:
        """Return the key of the values of a call, made once for all orders of a run; None if they have none."""
        if call not in self._keys:
            self._keys[call] = key_of_all(values)
        return self._keys[call]

    def _fault(self, events: list[Event]) -> str | None:
        """Judge a history; return what is wrong with it."""
        history = self._history(events)
        if _explained_by_returns(history, self._model):
            return None
        verdict = check(history, self._model, engine="python")
        if verdict.verdict == "ok":
            return None
        self.history = history
        return verdict.message or verdict.reason

    def _history(self, events: list[Event]) -> History:
        operations: list[Operation] = []
        clock = 0
        for f, arguments, result in self.early:
            operations.append(Operation("init", f, arguments, result, clock, clock + 1))
            clock += 2
        times = {event: clock + at for at, event in enumerate(events)}
        for k, call in enumerate(self.calls):
            if ("call", k) in times:
                invoked, returned = times["call", k], times.get(("return", k))
                result = UNKNOWN if returned is None else call.result
                operations.append(Operation(call.process, call.f, call.arguments, result, invoked, returned))
        clock += len(events)
        for at, (f, arguments, result) in enumerate(self.late):
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
