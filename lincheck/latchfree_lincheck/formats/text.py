"""Lines of a text file, and events (invocations and returns in order) that become operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN


def numbered_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text with their numbers, without line ends."""
    for number, line in enumerate(source.text.split("\n"), 1):
        yield number, line.rstrip("\r")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A call that has not returned: where and when it began; `said` is the value that stood there."""

    line: int
    time: int
    f: str
    arguments: tuple[Hashable, ...]
    said: Any
    object: str | None


class EventLog:
    """Pairs invocations with returns; the order of events is their time.

    An invocation whose return never comes, or whose outcome was lost (`lose`), is pending.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._path = source.path
        self._time = 0
        self._open: dict[int | str, Invocation] = {}
        self._callers: set[int | str] = set()
        self._operations: list[Operation] = []
        self._lines: dict[int, int] = {}

    def invoke(
        self,
        line: int,
        process: int | str,
        f: str,
        arguments: tuple[Hashable, ...],
        object: str | None = None,
        said: Any = None,
    ) -> None:
        """Record an invocation; `said` is the value that stood there."""
        running = self._open.get(process)
        if running is not None:
            expected = f"the return of process {process}'s {running.f} of line {running.line}"
            raise HistoryFormatError(self._path, line, expected, f"its call of {f}")
        self._callers.add(process)
        self._open[process] = Invocation(line, self._tick(), f, arguments, said, object)

    def running(self, line: int, process: int | str, f: str | None) -> Invocation:
        """Return the operation that a process runs, which must be an `f` unless that is None."""
        running = self._open.get(process)
        if running is None or f not in (None, running.f):
            got = "no invocation of it" if running is None else f"a {running.f} of line {running.line}"
            raise HistoryFormatError(self._path, line, f"process {process} to be running a {f or 'call'}", got)
        return running

    def complete(self, line: int, process: int | str, f: str, result: object) -> None:
        """Record the return of the running `f`."""
        self.running(line, process, f)
        self._add(process, self._open.pop(process), result, self._tick())

    def drop(self, line: int, process: int | str, f: str | None) -> None:
        """Forget the running `f`: it had no effect and saw nothing."""
        self.running(line, process, f)
        del self._open[process]

    def lose(self, line: int, process: int | str, f: str | None) -> None:
        """Leave the running `f` pending for ever; its process may not call again."""
        self.running(line, process, f)
        self._add(process, self._open.pop(process), UNKNOWN, None)

    def calls(self, process: int | str) -> bool:
        """Return whether a process has ever called."""
        return process in self._callers

    def history(self, model: str) -> History:
        """Return the history, named after the file; operations still running are pending."""
        for process, running in self._open.items():
            self._add(process, running, UNKNOWN, None)
        self._open.clear()
        operations = sorted(self._operations, key=lambda operation: operation.invoke)
        return finish(self._path, self._source.stem, operations, self._lines, model)

    def _tick(self) -> int:
        self._time += 1
        return self._time

    def _add(self, process: int | str, running: Invocation, result: object, return_: int | None) -> None:
        operation = Operation(process, running.f, running.arguments, result, running.time, return_, running.object)
        self._operations.append(operation)
        self._lines[id(operation)] = running.line
