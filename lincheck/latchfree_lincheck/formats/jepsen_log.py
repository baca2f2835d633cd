"""Jepsen logs of a compare-and-set register, as the etcd test prints them.

``INFO  jepsen.util - 3<tab>:invoke<tab>:cas<tab>[1 4]``

Types are :invoke, :ok, :fail and :info; functions :read, :write and :cas. Lines of other loggers and of the nemesis
are skipped; a line with a type in it that is none of an event is malformed. The last line ends with a newline: without
one it may be cut off within a number.
"""

from __future__ import annotations

import re
from typing import Any, Final

from latchfree_lincheck.formats.edn import EdnError, read_edn
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.jepsen_events import Event, Failed, read_events
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.formats.text import numbered_lines
from latchfree_lincheck.history import History

EVENT: Final = r"INFO\s+jepsen\.util\s+-\s+"
"""How the line of an event begins."""

_LINE: Final = re.compile(EVENT + r"(?P<event>.*)")
_BEGUN: Final = re.compile(r"jepsen\.util|:(?:invoke|ok|fail|info)\b")
_EVENT: Final = re.compile(r"(?P<process>0|[1-9][0-9]{0,17})\s+:(?P<type>\w+)\s+:(?P<f>\w+)\s+(?P<value>\S.*)")
_NEMESIS: Final = re.compile(r":nemesis\s")


def read(source: Source, model: str | None = None, *, failed: Failed = "compared") -> list[History]:
    """Read the one history of a log."""
    values: dict[str, Any] = {}
    events = []
    for line, text in numbered_lines(source):
        event = _event(source, line, text, values)
        if event is not None:
            events.append(event)
    if events and not source.text.endswith("\n"):
        last = source.text.rpartition("\n")[2]
        line = 1 + source.text.count("\n")
        raise HistoryFormatError(
            source.path, line, "a newline after the last line", f"{last[-60:]!r}, which may be cut off"
        )
    return [read_events(source, events, model or "cas-register", failed=failed)]


def _event(source: Source, line: int, text: str, values: dict[str, Any]) -> Event | None:
    """Return the event of a line, or None for a line of somebody else; `values` are those met before, by their text."""
    path = source.path
    found = _LINE.search(text)
    if found is None:
        if _BEGUN.search(text):
            expected = "INFO  jepsen.util - and an event"
            raise HistoryFormatError(path, line, expected, f"{text[-60:]!r}, which is cut off or damaged")
        return None
    if _NEMESIS.match(found["event"]):
        return None
    event = _EVENT.fullmatch(found["event"].rstrip())
    if event is None:
        raise HistoryFormatError(path, line, "process, :type, :function and value", repr(found["event"][:60]))
    said = event["value"]
    if said not in values:
        try:
            ((_, values[said]),) = read_edn(said)
        except (EdnError, ValueError):
            raise HistoryFormatError(path, line, "one value", repr(said[:60])) from None
    return Event(line, int(event["process"]), event["type"], event["f"], values[said])
