"""Read the file of a shared recorder: calls, faults, and the history that the calls make.

A call ends in one of three ways:

=============  =====================================================================================
``"return"``   the client got an answer
``"fail"``     an error says that the operation has not taken effect and never will: left out of the history
``"lost"``     any other error, or no end at all: pending, it may take effect at any later time, or never
=============  =====================================================================================

A process whose call was lost goes on under a new name in the history, as a pending operation never ends. Two calls of
one process at the same time are refused if both came to an end: two threads or tasks share a name then.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from latchfree_lincheck.formats.values import freeze
from latchfree_lincheck.history import Operation
from latchfree_model import UNKNOWN


@dataclass(slots=True)
class RecordedCall:
    """One call of a client.

    Parameters
    ----------
    process : int or str
        Who called.
    f : str
        The operation's name.
    arguments : tuple
        Its arguments.
    object : str, optional
        Which object was called.
    invoke, begun : int
        The ticket of the call, and the time in nanoseconds of the machine's monotonic clock.
    end : "return", "fail" or "lost"
        How it ended.
    result : object
        What it returned; UNKNOWN if it did not.
    return_, ended : int, optional
        The ticket and the time of its end; None if it has none.
    error : str
        The exception that ended it, empty if none did.
    """

    process: int | str
    f: str
    arguments: tuple[Hashable, ...]
    object: str | None
    invoke: int
    begun: int
    end: Literal["return", "fail", "lost"] = "lost"
    result: Any = UNKNOWN
    return_: int | None = None
    ended: int | None = None
    error: str = ""


@dataclass(slots=True)
class RecordedFault:
    """One fault: its name, its first and last ticket, and the times of both, None where it did not end."""

    name: str
    first: int
    begun: int
    last: int | None = None
    ended: int | None = None


@dataclass(frozen=True, slots=True)
class Records:
    """All that was recorded, in order of the first tickets."""

    calls: tuple[RecordedCall, ...]
    faults: tuple[RecordedFault, ...]


@dataclass(slots=True)
class Reader:
    """Reads lines as they come: `feed` takes bytes of the file, in order, cut anywhere."""

    calls: dict[str, RecordedCall] = field(default_factory=dict)
    faults: dict[str, RecordedFault] = field(default_factory=dict)
    _rest: bytes = b""
    _ticket: int = 0

    def feed(self, content: bytes) -> list[RecordedCall]:
        """Take more of the file; return the calls that ended in it."""
        *lines, self._rest = (self._rest + content).split(b"\n")
        if _parsed(self._rest) is not None:  # whole, though no other line follows yet
            lines.append(self._rest)
            self._rest = b""
        ended = []
        for line in lines:
            record = _parsed(line)
            if record is not None:
                call = self._take(record)
                self._ticket += 1
                if call is not None:
                    ended.append(call)
        return ended

    def _take(self, record: list[Any]) -> RecordedCall | None:
        kind, number = record[:2]
        if kind == "call":
            _, _, process, f, arguments, thing, time = record
            self.calls[number] = RecordedCall(process, f, tuple(map(freeze, arguments)), thing, self._ticket, time)
        elif kind == "begin":
            self.faults[number] = RecordedFault(record[3], self._ticket, record[2])
        elif kind == "end":
            fault = self.faults[number]
            fault.last, fault.ended = self._ticket, record[2]
        elif number in self.calls:
            call = self.calls[number]
            call.end, call.return_, call.ended = kind, self._ticket, record[2]
            if kind == "return":
                call.result = freeze(record[3]) if len(record) > 3 else UNKNOWN
            else:
                call.error = record[3]
            return call
        return None


def records_of(content: bytes) -> Records:
    """Return what a recorder's file holds."""
    reader = Reader()
    reader.feed(content)
    return Records(tuple(reader.calls.values()), tuple(reader.faults.values()))


def operations_of(calls: Iterable[RecordedCall]) -> list[Operation]:
    """Return the operations of a history, in order of invocation.

    Raises
    ------
    ValueError
        If a process called while it waited for the answer to another call.
    """
    operations = []
    losses: dict[int | str, int] = {}
    before: dict[int | str, RecordedCall] = {}
    for call in calls:
        previous = before.get(call.process)
        if previous is not None and _until(previous) > call.invoke:
            if previous.return_ is not None:
                raise ValueError(
                    f"process {call.process!r} called {call.f} while its {previous.f} was under way: "
                    "give each thread, task and process of the clients a process name of its own"
                )
            losses[call.process] = losses.get(call.process, 0) + 1
        if call.end != "fail":
            name = f"{call.process}'{losses[call.process]}" if call.process in losses else call.process
            returned = call.return_ if call.end == "return" else None
            operations.append(Operation(name, call.f, call.arguments, call.result, call.invoke, returned, call.object))
            if call.end == "lost" and call.return_ is not None:
                losses[call.process] = losses.get(call.process, 0) + 1
        before[call.process] = call
    return operations


def _until(call: RecordedCall) -> float:
    return float("inf") if call.return_ is None else call.return_


def _parsed(line: bytes) -> list[Any] | None:
    """Return the record of a line, None if its write was cut short."""
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, list) else None
