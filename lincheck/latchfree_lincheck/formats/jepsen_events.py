"""Events as Jepsen writes them, in logs and in EDN, become operations.

==========  ==========================================================================================
``:ok``     the call returned; what it returned is in `meanings`
``:fail``   nothing happened: the call is left out. With ``failed="compared"``, a cas that fails with its
            pair as value did compare, and returned False
``:info``   nobody knows: the call is pending for ever
==========  ==========================================================================================

The value of a return is that of its invocation, unless the call reads; other values are malformed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from latchfree_lincheck.formats.edn import KeyValue
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.meanings import MEANINGS, Function, NotThis, arguments_of, choose, result_of
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.formats.text import EventLog
from latchfree_lincheck.history import History

Failed = Literal["dropped", "compared"]

ABSENT: Final = object()
"""The value of an event that has none."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Parameters
    ----------
    line : int
        Where it begins.
    process : int or str
        Whose it is.
    kind : str
        invoke, ok, fail or info.
    f : str or None
        The function; None where an ``:info`` or ``:fail`` does not say.
    value : object
        Its value, as EDN; `ABSENT` if there is none.
    """

    line: int
    process: int | str
    kind: str
    f: str | None
    value: Any


def read_events(
    source: Source, events: list[Event], model: str | None, *, failed: Failed, keyed: bool = False
) -> History:
    """Return the history of some events.

    Parameters
    ----------
    source : Source
        Their file.
    events : list of Event
        In order of time.
    model : str, optional
        A name of `MEANINGS` with its functions; by default told from the functions. Another name takes the functions of
        a cas-register.
    failed : "dropped" or "compared"
        What a cas means that failed with its pair as value.
    keyed : bool
        Whether every value is ``[key value]``. Values that a tag calls so are, in any case.
    """
    return _Reader(source, events, model, failed, keyed).read()


class _Reader:
    def __init__(self, source: Source, events: list[Event], model: str | None, failed: Failed, keyed: bool) -> None:
        self._source = source
        self._events = events
        self._failed = failed
        self._pairs: type[tuple[Any, ...]] = tuple if keyed else KeyValue
        self._keyed = keyed or any(isinstance(event.value, KeyValue) for event in events)
        self._model = model or self._told()
        self._functions = MEANINGS.get(self._model.partition(":")[0], MEANINGS["cas-register"])
        self._log = EventLog(source)

    def read(self) -> History:
        """Return the history."""
        for event in self._events:
            self._read(event)
        return self._log.history(self._model)

    def _told(self) -> str:
        functions = dict.fromkeys(event.f for event in self._events if event.f is not None)
        read = [self._split(event)[1] for event in self._events if event.kind == "ok" and event.f == "read"]
        return choose(list(functions), read) if functions else "cas-register"

    def _wrong(self, event: Event, expected: str, got: object) -> HistoryFormatError:
        return HistoryFormatError(self._source.path, event.line, expected, str(got)[:60])

    def _read(self, event: Event) -> None:
        if event.kind not in ("invoke", "ok", "fail", "info"):
            raise self._wrong(event, ":invoke, :ok, :fail or :info", f":{event.kind}")
        function = None
        if event.f is not None:
            function = self._functions.get(event.f)
            if function is None:
                *most, last = (f":{name}" for name in self._functions)
                raise self._wrong(event, f"{', '.join(most)} or {last}", f":{event.f}")
        elif event.kind in ("invoke", "ok"):
            raise self._wrong(event, "a keyword as :f", None)
        if event.kind == "invoke":
            assert function is not None
            self._invoke(event, function)
        elif event.kind == "ok":
            assert function is not None
            self._return(event, function)
        elif (
            event.kind == "fail" and self._failed == "compared" and event.f == "cas" and isinstance(event.value, tuple)
        ):
            self._same(event, self._functions["cas"], self._log.running(event.line, event.process, "cas").said)
            self._log.complete(event.line, event.process, "cas", False)
        elif event.kind == "fail":
            self._log.drop(event.line, event.process, None if function is None else function.name)
        elif isinstance(event.process, int) or self._log.calls(event.process):
            self._log.lose(event.line, event.process, None if function is None else function.name)

    def _compared(self, event: Event) -> bool:
        """Return whether a failed call is a cas that found another value."""
        return self._failed == "compared" and event.f == "cas" and isinstance(event.value, tuple)

    def _invoke(self, event: Event, function: Function) -> None:
        key, value = self._split(event)
        if value is ABSENT:
            if function.takes != "nothing":
                raise self._wrong(event, f"the value to {function.name} as :value", "none")
            value = None
        try:
            arguments = arguments_of(function, value)
        except NotThis as expected:
            raise self._wrong(event, str(expected), value) from None
        self._log.invoke(event.line, event.process, function.name, arguments, key, value)

    def _return(self, event: Event, function: Function) -> None:
        begun = self._log.running(event.line, event.process, function.name)
        key, value = self._split(event)
        if function.reads and value is ABSENT:
            raise self._wrong(event, "the value read as :value", "none")
        if begun.object != key:
            raise self._wrong(event, f"the key {begun.object} of line {begun.line}", f"the key {key}")
        self._same(event, function, begun.said)
        try:
            result = result_of(function, value)
        except NotThis as expected:
            raise self._wrong(event, str(expected), value) from None
        self._log.complete(event.line, event.process, function.name, result)

    def _same(self, event: Event, function: Function, said: Any) -> None:
        """Raise HistoryFormatError if a return has a value that its invocation had not."""
        _, value = self._split(event)
        silent = value is ABSENT or (value is None and not function.reads)
        if said is not None and not silent and value != said:
            raise self._wrong(event, f"the value {_edn(said)} of the invocation", _edn(value))

    def _split(self, event: Event) -> tuple[str | None, Any]:
        """Return the key of an event, where there are keys, and the value."""
        value = event.value
        if not self._keyed:
            return None, value
        if not isinstance(value, self._pairs) or len(value) != 2:
            raise self._wrong(event, "[key value] as :value", "none" if value is ABSENT else _edn(value))
        return _edn(value[0]), value[1]


def _edn(value: Any) -> str:
    """Return a value as EDN, to be read by people."""
    if value is None or isinstance(value, bool):
        return {None: "nil", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"[{' '.join(map(_edn, value))}]"
    return str(value)
