"""Key-value logs as in Porcupine's test suite: EDN maps with a key, functions :get, :put and :append.

``{:process 9, :type :invoke, :f :append, :key "0", :value "x 9 0 y"}``
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from latchfree_lincheck.formats.edn import Keyword
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.jepsen_edn import keyword, read_events
from latchfree_lincheck.formats.text import EventLog
from latchfree_lincheck.history import History


def read(path: Path, model: str | None = None) -> list[History]:
    """Read the one history of a log."""
    log = EventLog(path)
    for line, event in read_events(path):
        process = event[Keyword("process")]
        kind, f = keyword(path, line, event, "type"), keyword(path, line, event, "f")
        if f not in ("get", "put", "append"):
            raise HistoryFormatError(path, line, ":get, :put or :append", f":{f}")
        if kind == "invoke":
            key = _text(path, line, event, "key")
            log.invoke(line, process, f, (key,) if f == "get" else (key, _text(path, line, event, "value")))
        elif kind == "ok":
            log.complete(line, process, f, _text(path, line, event, "value") if f == "get" else None)
        elif kind == "fail":
            log.drop(line, process, f)
        elif kind == "info":
            log.lose(line, process, f)
        else:
            raise HistoryFormatError(path, line, ":invoke, :ok, :fail or :info", f":{kind}")
    return [log.history(model or "append-kv")]


def _text(path: Path, line: int, event: dict[Any, Any], field: str) -> str:
    value = event.get(Keyword(field))
    if not isinstance(value, str):
        raise HistoryFormatError(path, line, f"a string as :{field}", repr(value))
    return value
