"""Lines of a text file, and events (invocations and returns in order) that become operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN


def read_lines(path: Path, *, ends: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file with their numbers, with or without line ends."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise HistoryFormatError(path, number, "UTF-8 text", str(error)) from None
            yield number, text if ends else text.rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class _Open:
    line: int
    time: int
    f: str
    arguments: tuple[Hashable, ...]


class EventLog:
    """Pairs invocations with returns; the order of events is their time.

    An invocation whose return never comes, or whose outcome was lost (`lose`), is pending.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._time = 0
        self._open: dict[int | str, _Open] = {}
        self._operations: list[Operation] = []
        self._lines: dict[int, int] = {}

    def invoke(self, line: int, process: int | str, f: str, arguments: tuple[Hashable, ...]) -> None:
        """Record an invocation."""
        running = self._open.get(process)
        if running is not None:
            expected = f"the return of process {process}'s {running.f} of line {running.line}"
            raise HistoryFormatError(self._path, line, expected, f"its call of {f}")
        self._open[process] = _Open(line, self._tick(), f, arguments)

    def invoked(self, line: int, process: int | str, f: str) -> tuple[Hashable, ...]:
        """Return the arguments of the running operation, which must be an `f`."""
        running = self._open.get(process)
        if running is None or running.f != f:
            got = "no invocation of it" if running is None else f"a {running.f} of line {running.line}"
            raise HistoryFormatError(self._path, line, f"process {process} to be running a {f}", got)
        return running.arguments

    def complete(self, line: int, process: int | str, f: str, result: object) -> None:
        """Record the return of the running `f`."""
        self.invoked(line, process, f)
        self._add(process, self._open.pop(process), result, self._tick())

    def drop(self, line: int, process: int | str, f: str) -> None:
        """Forget the running `f`: it had no effect and saw nothing."""
        self.invoked(line, process, f)
        del self._open[process]

    def lose(self, line: int, process: int | str, f: str) -> None:
        """Leave the running `f` pending for ever; its process may not call again."""
        self.invoked(line, process, f)
        self._add(process, self._open.pop(process), UNKNOWN, None)

    def history(self, model: str) -> History:
        """Return the history, named after the file; operations still running are pending."""
        for process, running in self._open.items():
            self._add(process, running, UNKNOWN, None)
        self._open.clear()
        operations = sorted(self._operations, key=lambda operation: operation.invoke)
        return finish(self._path, self._path.stem, operations, self._lines, model)

    def _tick(self) -> int:
        self._time += 1
        return self._time

    def _add(self, process: int | str, running: _Open, result: object, return_: int | None) -> None:
        operation = Operation(process, running.f, running.arguments, result, running.time, return_)
        self._operations.append(operation)
        self._lines[id(operation)] = running.line
