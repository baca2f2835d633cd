"""Jepsen histories of a register test: EDN maps, one a line or in a vector.

``{:process 0, :type :invoke, :f :read, :value nil, :index 0, :time 0}``

The order of the maps is the time; ``:index``, where given, must grow with it. Maps of the nemesis (whose process is a
keyword) are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latchfree_lincheck.formats.edn import EdnError, Keyword, read_edn
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.jepsen_log import MODEL, register_event
from latchfree_lincheck.formats.text import EventLog, read_lines
from latchfree_lincheck.history import History


def read(path: Path, model: str | None = None) -> list[History]:
    """Read the one history of a file."""
    log = EventLog(path)
    for line, event in read_events(path):
        kind, f = keyword(path, line, event, "type"), keyword(path, line, event, "f")
        register_event(log, path, line, event[Keyword("process")], kind, f, event.get(Keyword("value")))
    return [log.history(model or MODEL)]


def read_events(path: Path) -> Iterator[tuple[int, dict[Any, Any]]]:
    """Yield the maps of a file with their lines, but for those of the nemesis."""
    text = "\n".join(content for _, content in read_lines(path))
    latest: tuple[int, int] | None = None
    try:
        for line, value in read_edn(text, inside=True):
            if not isinstance(value, dict):
                raise HistoryFormatError(path, line, "a map", repr(value)[:60])
            index = value.get(Keyword("index"))
            if index is not None:
                if not isinstance(index, int) or isinstance(index, bool):
                    raise HistoryFormatError(path, line, "an integer as :index", repr(index))
                if latest is not None and index <= latest[0]:
                    expected = f"an :index greater than {latest[0]}, that of line {latest[1]}"
                    raise HistoryFormatError(path, line, expected, str(index))
                latest = index, line
            process = value.get(Keyword("process"))
            if isinstance(process, Keyword):
                continue
            if not isinstance(process, int) or isinstance(process, bool):
                raise HistoryFormatError(path, line, "an integer as :process", repr(process))
            yield line, value
    except EdnError as error:
        raise HistoryFormatError(path, error.line, error.expected, error.got) from None


def keyword(path: Path, line: int, event: dict[Any, Any], field: str) -> str:
    """Return the name of the keyword under a field."""
    value = event.get(Keyword(field))
    if not isinstance(value, Keyword):
        raise HistoryFormatError(path, line, f"a keyword as :{field}", repr(value))
    return value.name
