"""Jepsen logs of a compare-and-set register, as the etcd test prints them.

``INFO  jepsen.util - 3<tab>:invoke<tab>:cas<tab>[1 4]``

Types are :invoke, :ok, :fail and :info; functions :read, :write and :cas. Lines of other loggers and of the nemesis
are skipped. What a return means is in `register_event`, which the EDN histories share.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from latchfree_lincheck.formats.edn import EdnError, Keyword, read_edn
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.text import EventLog, read_lines
from latchfree_lincheck.history import History

MODEL: Final = "cas-register"

_LINE: Final = re.compile(r"INFO\s+jepsen\.util\s+-\s+(?P<event>.*)")
_BEGUN: Final = re.compile(r"INFO\s+jepsen\.util")
_EVENT: Final = re.compile(r"(?P<process>[0-9]{1,18})\s+:(?P<type>\w+)\s+:(?P<f>\w+)\s+(?P<value>\S.*)")


def read(path: Path, model: str | None = None) -> list[History]:
    """Read the one history of a log."""
    log = EventLog(path)
    for line, text in read_lines(path):
        found = _LINE.search(text)
        if found is None and _BEGUN.search(text):
            raise HistoryFormatError(
                path, line, "- and an event after jepsen.util", f"{text[-60:]!r}, which is cut off"
            )
        if found is None or found["event"].startswith(":"):
            continue
        event = _EVENT.fullmatch(found["event"].rstrip())
        if event is None:
            raise HistoryFormatError(path, line, "process, :type, :function and value", repr(found["event"][:60]))
        try:
            ((_, value),) = read_edn(event["value"])
        except (EdnError, ValueError):
            raise HistoryFormatError(path, line, "one value", repr(event["value"][:60])) from None
        register_event(log, path, line, int(event["process"]), event["type"], event["f"], value)
    return [log.history(model or MODEL)]


def register_event(log: EventLog, path: Path, line: int, process: int, kind: str, f: str, value: Any) -> None:
    """Record one event of a register test.

    ``:fail`` means that nothing happened. A failed read saw nothing and is dropped, a failed write is dropped; a
    failed cas with its pair as value did compare, so it is a cas that returned false. ``:info`` means that nobody
    knows: the operation is pending for ever.
    """
    if f not in ("read", "write", "cas"):
        raise HistoryFormatError(path, line, ":read, :write or :cas", f":{f}")
    if kind == "invoke":
        log.invoke(line, process, f, _arguments(path, line, f, value))
    elif kind == "ok":
        if f == "read" and isinstance(value, Keyword | dict):
            raise HistoryFormatError(path, line, "the value read", str(value))
        log.complete(line, process, f, {"read": value, "write": None, "cas": True}[f])
    elif kind == "fail":
        if f == "cas" and isinstance(value, tuple):
            log.complete(line, process, f, False)
        else:
            log.drop(line, process, f)
    elif kind == "info":
        log.lose(line, process, f)
    else:
        raise HistoryFormatError(path, line, ":invoke, :ok, :fail or :info", f":{kind}")


def _arguments(path: Path, line: int, f: str, value: Any) -> tuple[Any, ...]:
    if f == "read":
        if value is not None:
            raise HistoryFormatError(path, line, "nil as the value of a read's invocation", str(value))
        return ()
    if f == "cas":
        if not isinstance(value, tuple) or len(value) != 2:
            raise HistoryFormatError(path, line, "[expected new] as the value of a cas", str(value))
        return value
    if isinstance(value, Keyword | dict):
        raise HistoryFormatError(path, line, "the value to write", str(value))
    return (value,)
