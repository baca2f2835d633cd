"""A judge that is told of each event of a history, and knows after each whether the history is still linearizable.

Linearizability is local, so each object, and each key where the model's partition names one, has a frontier of its own.
Which keys there are shows as they come. An operation on the whole of an object whose keys have been judged apart comes
too late: the object is undecided from then on, by name, unless the monitor was told not to split.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from latchfree_lincheck.history import Operation
from latchfree_lincheck.watching.events import Event, InvalidEvent
from latchfree_lincheck.watching.frontier import Frontier, TooLarge
from latchfree_lincheck.watching.live import LiveCalls
from latchfree_lincheck.watching.outcomes import ChoosesByResult, Outcomes
from latchfree_model import UNKNOWN, Call, Model, get_model

MEMORY: Final = 2 << 30
"""Default bound on the memory of the configurations, in bytes."""

RECENT: Final = 5
"""How many operations of a part that returned lately are kept, to show them with a violation."""

PART: Final = 2_000
"""About how many bytes a part takes beside its configurations."""


@dataclass(slots=True)
class _Part:
    """A frontier, and what is said if it becomes empty."""

    frontier: Frontier
    running: dict[int, Operation] = field(default_factory=dict)
    recent: deque[Operation] = field(default_factory=lambda: deque(maxlen=RECENT))


@dataclass(frozen=True, slots=True)
class _Running:
    """A call in flight."""

    number: int
    operation: Operation
    place: tuple[str | None, Hashable]


class Monitor(LiveCalls):
    """Judges a history while it grows: a checker that is told of events instead of a whole history.

    Any thread may call its methods. After a violation, further events are only counted.

    Parameters
    ----------
    model : str or Model
        A built-in model's name, or any sequential model.
    memory : int
        Bytes that the configurations of all parts may take, about. A part that would take more is undecided.
    split : bool
        Whether keys are judged apart, where the model names one for each call. If False, operations on the whole
        object may come at any time, and every object is one part.

    Attributes
    ----------
    verdict : "ok", "violation" or "unknown"
        The judgement on what came so far. "ok": linearizable. "unknown": some part is undecided, and no other part
        has a violation.
    reason : str
        One line that says why.
    message : str
        If violation: what the sequential model says.
    excerpt : tuple of Operation
        If violation: the operation that no order explains, those that ran with it, and some that returned before, as
        far as they are on the same part. Their times are numbers of events.
    events, operations : int
        How many events came, and how many operations ended.

    Examples
    --------
    >>> monitor = Monitor("register")
    >>> for event in (Event("invoke", 0, "write", (1,)), Event("invoke", 1, "read"), Event("ok", 1, result=1)):
    ...     monitor.feed(event)
    >>> monitor.verdict  # the write still runs, and may have taken effect
    'ok'
    """

    def __init__(self, model: str | Model[Any] = "map", *, memory: int = MEMORY, split: bool = True) -> None:
        super().__init__()
        self._model = get_model(model) if isinstance(model, str) else model
        self._outcomes = Outcomes(self._model)
        self._memory = memory
        self._split = split
        self._parts: dict[tuple[str | None, Hashable], _Part] = {}
        self._whole: set[str | None] = set()
        self._gave_up: set[tuple[str | None, Hashable]] = set()
        self._full = False
        self._running: dict[int | str, _Running] = {}
        self._bytes = 0
        self.verdict: Literal["ok", "violation", "unknown"] = "ok"
        self.reason = "linearizable so far"
        self.message = ""
        self.excerpt: tuple[Operation, ...] = ()
        self.events = 0
        self.operations = 0

    @property
    def running(self) -> int:
        """How many operations are in flight."""
        return len(self._running)

    @property
    def configurations(self) -> int:
        """How many ways to explain what happened are kept, of all parts together."""
        return sum(len(part.frontier.configurations) for part in self._parts.values())

    def feed(self, event: Event) -> None:
        """Take the next event.

        Raises
        ------
        InvalidEvent
            A ValueError: if a process calls while it is busy, or returns while it is not, or the model does not have
            the call. Nothing is changed then.
        """
        with self._lock:
            if event.type == "invoke":
                self._invoke(event)
            else:
                self._end(event)

    def _invoke(self, event: Event) -> None:
        busy = self._running.get(event.process)
        number = self.events + 1
        operation = Operation(event.process, event.f, event.arguments, UNKNOWN, number, None, event.object)
        call = operation.call
        if busy is not None:
            raise InvalidEvent(
                f"process {event.process} calls {call} while its {busy.operation.call} of event {busy.number} runs"
            )
        try:
            hash(event.arguments)
            self._outcomes.validate(call)
        except (TypeError, ValueError) as error:
            raise InvalidEvent(str(error)) from None
        self.events = number
        place = event.object, None if event.object in self._whole else self._key(call)
        self._running[event.process] = _Running(number, operation, place)
        part = None if self.verdict == "violation" else self._part(place, call)
        if part is not None:
            part.frontier.invoke(number, call)
            part.running[number] = operation

    def _end(self, event: Event) -> None:
        running = self._running.get(event.process)
        if running is None:
            raise InvalidEvent(f"process {event.process} has no call that could end; got {event.type!r}")
        begun = running.operation
        operation = Operation(
            begun.process, begun.f, begun.arguments, event.result, begun.invoke, self.events + 1, begun.object
        )
        try:
            self._outcomes.validate(operation.call)
        except ValueError as error:
            raise InvalidEvent(str(error)) from None
        del self._running[event.process]
        self.events += 1
        self.operations += 1
        part = self._parts.get(running.place)
        if self.verdict == "violation" or part is None or running.number not in part.running:
            return
        part.running.pop(running.number)
        before = part.frontier.bytes
        try:
            self._judge(part, event, running.number, operation)
        except TooLarge:
            self._give_up(
                running.place,
                f"the configurations of {_named(running.place)} reached the memory bound of {self._memory >> 20:,} MB, "
                f"with {len(part.running) + 1} operation(s) in flight and {part.frontier.lost} lost",
            )
            return
        except ChoosesByResult:
            derived = f"derive the model {self._model.name!r} from NondeterministicModel, or use define(...)"
            self._give_up(running.place, f"the state after {operation.call} depends on its result; {derived}")
            return
        except ValueError as error:  # calls that are legal one by one, but not together
            self._give_up(running.place, str(error))
            return
        self._bytes += part.frontier.bytes - before
        if event.type == "ok":
            part.recent.append(operation)
        if part.frontier.fresh:
            self._forget(running.place)

    def _judge(self, part: _Part, event: Event, number: int, operation: Operation) -> None:
        """Have the frontier end an operation, and tell the violation if nothing is left of it."""
        frontier = part.frontier
        if event.type == "info":
            frontier.became_lost(number)
        elif event.type == "fail":
            if not frontier.dropped(number):
                failed = replace(operation, result=UNKNOWN, return_=None)
                self._violated(part, failed, f"others saw {failed.call} by process {failed.process}, which failed")
        else:
            stuck = frontier.returned(number, operation.call, self._memory - self._bytes + frontier.bytes)
            if stuck is not None:
                self._violated(part, operation, f"no order explains {operation.call} by process {operation.process}")
                self.message = self._outcomes.objection(stuck.state, operation.call)

    def _violated(self, part: _Part, operation: Operation, why: str) -> None:
        self.verdict, self.reason = "violation", why
        self.excerpt = (operation, *list(part.running.values())[:RECENT], *part.recent)

    def _key(self, call: Call) -> Hashable:
        return self._model.partition(call) if self._split else None

    def _part(self, place: tuple[str | None, Hashable], call: Call) -> _Part | None:
        """Return the part of a new call, or None if it is undecided already, or from now on."""
        if place in self._gave_up or (place[0], None) in self._gave_up:
            return None
        if place[1] is None and place[0] not in self._whole:
            mine = [each for each in self._parts if each[0] == place[0]]
            if mine:
                self._give_up(
                    (place[0], None),
                    f"{call} touches the whole of {_named((place[0], None))}, whose keys were judged apart; "
                    "judge it whole with split=False",
                )
                return None
            self._whole.add(place[0])
        part = self._parts.get(place)
        if part is None:
            if self._full or self._bytes + PART > self._memory:
                self._full = True  # for good: a key that was refused once has a past that nobody knows
                self._undecided(f"{len(self._parts):,} keys reached the memory bound of {self._memory >> 20:,} MB")
                return None
            part = self._parts[place] = _Part(Frontier(self._outcomes))
            self._bytes += PART
        return part

    def _forget(self, place: tuple[str | None, Hashable]) -> None:
        """Forget a part that is as at the beginning, or undecided."""
        part = self._parts.pop(place, None)
        if part is not None:
            self._bytes -= PART + part.frontier.bytes

    def _give_up(self, place: tuple[str | None, Hashable], why: str) -> None:
        """Judge a part no more; the whole of an object takes its keys along."""
        self._gave_up.add(place)
        for each in [each for each in self._parts if each == place or (place[1] is None and each[0] == place[0])]:
            self._forget(each)
        self._undecided(why)

    def _undecided(self, why: str) -> None:
        if self.verdict == "ok":
            self.verdict, self.reason = "unknown", why

    def explain(self) -> str:
        """Return the verdict as text for people: one line, and for a violation where and why."""
        count = f"{self.events:,} events, {self.operations:,} operations, {self.running:,} in flight"
        lines = [f"{self.verdict}: {self.reason} ({count})"]
        if self.verdict == "violation":
            failing = self.excerpt[0]
            lines += [f"  {self.message}"] if self.message else []
            lines.append(f"  no order explains: {failing}")
            for title, mine in (
                ("while these ran", [each for each in self.excerpt[1:] if each.return_ is None]),
                ("after these", [each for each in self.excerpt[1:] if each.return_ is not None]),
            ):
                lines += [f"  {title}:", *(f"    {each}" for each in mine)] if mine else []
        return "\n".join(lines)


def _named(place: tuple[str | None, Hashable]) -> str:
    name, key = place
    what = "the object" if name is None else f"the object {name!r}"
    return what if key is None else f"key {key!r} of {what}"
