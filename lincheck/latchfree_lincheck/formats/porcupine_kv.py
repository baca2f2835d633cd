"""Key-value logs as in Porcupine's test suite: EDN maps with a key, functions :get, :put and :append.

``{:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}``
"""

from __future__ import annotations

from typing import Any

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.jepsen_edn import keyword, process_of, read_maps
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.formats.text import EventLog
from latchfree_lincheck.history import History


def read(source: Source, model: str | None = None) -> list[History]:
    """Read the one history of a log."""
    log = EventLog(source)
    for line, fields in read_maps(source):
        process = process_of(source, line, fields)
        if process is None:
            continue
        kind, f = keyword(source, line, fields, "type"), keyword(source, line, fields, "f")
        if f not in ("get", "put", "append"):
            raise HistoryFormatError(source.path, line, ":get, :put or :append", f":{f}")
        if kind == "invoke":
            key = _text(source, line, fields, "key")
            log.invoke(line, process, f, (key,) if f == "get" else (key, _text(source, line, fields, "value")))
        elif kind == "ok":
            _require_same(source, line, fields, log.running(line, process, f).arguments)
            log.complete(line, process, f, _text(source, line, fields, "value") if f == "get" else None)
        elif kind == "fail":
            log.drop(line, process, f)
        elif kind == "info":
            log.lose(line, process, f)
        else:
            raise HistoryFormatError(source.path, line, ":invoke, :ok, :fail or :info", f":{kind}")
    return [log.history(model or "append-kv")]


def _text(source: Source, line: int, fields: dict[str, Any], field: str) -> str:
    value = fields.get(field)
    if not isinstance(value, str):
        raise HistoryFormatError(source.path, line, f"a string as :{field}", repr(value))
    return value


def _require_same(source: Source, line: int, fields: dict[str, Any], arguments: tuple[Any, ...]) -> None:
    """Raise HistoryFormatError if a return has another key, or another value to write, than its invocation."""
    for field, begun in zip(("key", "value"), arguments, strict=False):
        if fields.get(field, begun) != begun:
            expected = f"the {field} {begun!r} of the invocation"
            raise HistoryFormatError(source.path, line, expected, repr(fields[field])[:60])
