"""Jepsen histories in EDN: maps, one after the other or in a vector.

``{:process 0, :type :invoke, :f :read, :value nil, :index 0, :time 0}``

The order of the maps is the time; ``:index``, where given, must grow with it. Maps of the nemesis are skipped, and so
are those of a process with a name that never calls. What functions and values mean is in `meanings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from latchfree_lincheck.formats.edn import EdnError, Keyword, read_edn
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.jepsen_events import ABSENT, Event, Failed, read_events
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.history import History

_NEMESIS = Keyword("nemesis")


def read(source: Source, model: str | None = None, *, failed: Failed = "dropped", keyed: bool = False) -> list[History]:
    """Read the one history of a file."""
    events, named = [], set()
    for line, fields in read_maps(source):
        process = process_of(source, line, fields)
        if process is None:
            continue
        kind = keyword(source, line, fields, "type")
        f = keyword(source, line, fields, "f") if fields.get("f") is not None or kind in ("invoke", "ok") else None
        events.append(Event(line, process, kind, f, fields.get("value", ABSENT)))
        if kind != "info":
            named.add(process)
    events = [event for event in events if isinstance(event.process, int) or event.process in named]
    return [read_events(source, events, model, failed=failed, keyed=keyed)]


def read_maps(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each map of a file with the line where it begins; its keys are keywords, given without the colon.

    Values are as `edn.read_edn` gives them.

    Raises
    ------
    HistoryFormatError
        If the text is not EDN, or something is no map with keywords, or indices do not grow.
    """
    path = source.path
    latest: tuple[int | None, int] | None = None
    try:
        for line, value in read_edn(source.text, inside=True):
            if not isinstance(value, dict):
                raise HistoryFormatError(path, line, "a map", repr(value)[:60])
            if not all(isinstance(key, Keyword) for key in value):
                key = next(key for key in value if not isinstance(key, Keyword))
                raise HistoryFormatError(path, line, "keywords as keys", repr(key)[:60])
            fields = {key.name: item for key, item in value.items()}
            if "history" in fields and "process" not in fields:
                raise HistoryFormatError(path, line, "a map of an event", "a map with :history; fix: give its vector")
            latest = _grown(source, line, fields, latest)
            yield line, fields
    except EdnError as error:
        raise HistoryFormatError(path, error.line, error.expected, error.got) from None


def _grown(
    source: Source, line: int, fields: dict[str, Any], latest: tuple[int | None, int] | None
) -> tuple[int | None, int]:
    """Return the index of a map, if it has one, and its line.

    The index must be greater than the `latest` one. All maps have an index, or none has; -1 is none.
    """
    index = fields.get("index")
    index = None if index == -1 else index
    if index is not None and (not isinstance(index, int) or isinstance(index, bool)):
        raise HistoryFormatError(source.path, line, "an integer as :index", repr(index))
    if latest is None:
        return index, line
    if (index is None) != (latest[0] is None):
        article, got = ("no", index) if latest[0] is None else ("an", None)
        raise HistoryFormatError(source.path, line, f"{article} :index, as in line {latest[1]}", str(got))
    if index is not None and latest[0] is not None and index <= latest[0]:
        expected = f"an :index greater than {latest[0]}, that of line {latest[1]}"
        raise HistoryFormatError(source.path, line, expected, str(index))
    return index, line


def process_of(source: Source, line: int, fields: dict[str, Any]) -> int | str | None:
    """Return the process of a map: a number, or its name with the colon; None for the nemesis."""
    process = fields.get("process")
    if process == _NEMESIS:
        return None
    if isinstance(process, Keyword):
        return repr(process)
    if not isinstance(process, int) or isinstance(process, bool):
        raise HistoryFormatError(source.path, line, "an integer as :process", repr(process))
    return process


def keyword(source: Source, line: int, fields: dict[str, Any], field: str) -> str:
    """Return the name of the keyword in a field."""
    value = fields.get(field)
    if not isinstance(value, Keyword):
        raise HistoryFormatError(source.path, line, f"a keyword as :{field}", repr(value))
    return value.name
