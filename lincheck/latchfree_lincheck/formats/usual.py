"""Logs whose every line has the usual form, read by one pattern over the whole text.

Example: each line of a log of etcd is ``INFO  jepsen.util - 3<tab>:ok<tab>:read<tab>2``, up to numbers and names. Such
a log is read in a fraction of the time that the readers of single lines take.

Invariant: a log that is read here gives the operations that the reader of its format gives. Whatever is unusual, a
line of another form, a return without a call, a value that is not the value of the call, makes the answer None, and the
reader of the format says what the line means or what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, Final

from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN

_NUMBER: Final = "0|[1-9][0-9]{0,17}"
_REGISTER: Final = (
    rf"^INFO  jepsen\.util - ({_NUMBER})\t:(invoke|ok|fail|info)\t:(read|write|cas)"
    rf"\t(nil|:timed-out|{_NUMBER}|\[(?:{_NUMBER}) (?:{_NUMBER})\])\n"
)
_STORE: Final = (
    rf"^\{{:process ({_NUMBER}), :type :(invoke|ok|fail|info), :f :(get|put|append), "
    r':key "([^"\\\n]*)", :value (nil|"[^"\\\n]*")\}\n'
)

_Open = tuple[str, tuple[Hashable, ...], int, str]
"""A call that has not returned: function, arguments, time, and the text of its value."""


_MODELS: Final = {"jepsen-log": "cas-register", "porcupine-kv": "append-kv"}
"""The model of each format that has usual lines."""


def read_usual(source: Source, format: str, model: str | None, failed: str | None) -> History | None:
    """Return the history of a log of which every line is usual, or None: then the reader of the format is to be asked.

    Parameters
    ----------
    source, format, model, failed : Source, str, str or None, str or None
        See `read_history`; `failed` is "dropped", "compared" or None.
    """
    its = _MODELS.get(format)
    if its is None or model not in (None, its):
        return None
    operations = (
        read_store(source.text) if format == "porcupine-kv" else read_register(source.text, failed != "dropped")
    )
    return None if operations is None else History.of_valid(source.stem, operations, its)


def read_register(text: str, compared: bool) -> list[Operation] | None:
    """Return the operations of a log of a cas-register in order of their calls, or None if a line is unusual.

    Parameters
    ----------
    text : str
        The log.
    compared : bool
        Whether a cas that failed with its pair as value did compare; see `jepsen_events`.
    """
    lines = _lines(_REGISTER, text)
    if lines is None:
        return None
    values: dict[str, Any] = {"nil": None}
    calls = _Calls()
    for process, kind, f, said in lines:
        if said not in values and said != ":timed-out":
            values[said] = tuple(map(int, said[1:-1].split())) if said[0] == "[" else int(said)
        if kind == "invoke":
            if f == "read":
                arguments: tuple[Hashable, ...] = ()
                fine = said == "nil"
            elif f == "write":
                arguments = (values.get(said),)
                fine = type(arguments[0]) is int
            else:
                arguments = values.get(said)  # type: ignore[assignment]
                fine = type(arguments) is tuple
            if not fine or not calls.begin(process, f, arguments, said):
                return None
            continue
        call = calls.end(process, f)
        if call is None:
            return None
        if kind == "ok":
            if f == "read":
                if said[0] in "[:":
                    return None
                calls.add(process, call, values[said])
            elif said != call[3]:
                return None
            else:
                calls.add(process, call, None if f == "write" else True)
        elif kind == "info":
            calls.lose(process, call)
        elif compared and f == "cas" and said[0] == "[":
            if said != call[3]:
                return None
            calls.add(process, call, False)
    return calls.operations()


def read_store(text: str) -> list[Operation] | None:
    """Return the operations of a log of a key-value store in order of their calls, or None if a line is unusual."""
    lines = _lines(_STORE, text)
    if lines is None:
        return None
    calls = _Calls()
    for process, kind, f, key, said in lines:
        if kind == "invoke":
            if f == "get":
                begun = calls.begin(process, f, (key,), said)
            else:
                begun = said != "nil" and calls.begin(process, f, (key, said[1:-1]), said)
            if not begun:
                return None
            continue
        call = calls.end(process, f)
        if call is None:
            return None
        if kind == "ok":
            if key != call[1][0] or said == "nil" or (f != "get" and said != call[3]):
                return None
            calls.add(process, call, said[1:-1] if f == "get" else None)
        elif kind == "info":
            calls.lose(process, call)
    return calls.operations()


def _lines(pattern: str, text: str) -> list[tuple[str, ...]] | None:
    """Return what the pattern of a line finds in all lines, or None if it is not the form of each of them.

    A match begins where a line does and ends with the line's newline. So all lines match if there are as many matches
    as newlines, and the text ends with one.
    """
    if text and not text.endswith("\n"):
        return None
    found = re.findall(pattern, text, re.MULTILINE)
    return found if len(found) == text.count("\n") else None


class _Calls:
    """Pairs calls with returns as `text.EventLog` does."""

    __slots__ = ("_done", "_gone", "_open", "_time")

    def __init__(self) -> None:
        self._time = 0
        self._open: dict[str, _Open] = {}
        self._gone: set[str] = set()
        self._done: list[Operation] = []

    def begin(self, process: str, f: str, arguments: tuple[Hashable, ...], said: str) -> bool:
        """Note a call; return False if the process is in a call, maybe for ever."""
        if process in self._open or process in self._gone:
            return False
        self._time += 1
        self._open[process] = f, arguments, self._time, said
        return True

    def end(self, process: str, f: str) -> _Open | None:
        """Return the call of a process, which has ended, or None if it runs no such call."""
        call = self._open.pop(process, None)
        return call if call is not None and call[0] == f else None

    def add(self, process: str, call: _Open, result: object) -> None:
        """Add a call that has returned."""
        self._time += 1
        self._done.append(Operation(int(process), call[0], call[1], result, call[2], self._time))

    def lose(self, process: str, call: _Open) -> None:
        """Add a call that is pending for ever."""
        self._gone.add(process)
        self._done.append(Operation(int(process), call[0], call[1], UNKNOWN, call[2], None))

    def operations(self) -> list[Operation]:
        """Return all operations in order of their calls; those that have not returned are pending."""
        for process, call in self._open.items():
            self.lose(process, call)
        return sorted(self._done, key=_invoked)


def _invoked(operation: Operation) -> int:
    return operation.invoke
