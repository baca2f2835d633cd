"""Read histories of transactions: Jepsen's EDN as Elle takes it, and JSON Lines of ours.

``{:type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :y [1 2]]], :index 1, :time 0}``

EDN: maps one after the other or in a vector, in the order of time, with invocations or without any. The return of an
invocation is the next map of its process. Maps of the nemesis, whose process is a keyword, are skipped. Without
invocations nothing is known of real time.

``{"process": 0, "transaction": [["append", "x", 1], ["r", "y", [1, 2]]], "invoke": 0, "return": 1}``

JSON Lines: one transaction a line, in the order of their calls. ``"type": "fail"`` aborted, ``"info"`` is unknown, as
is ``"return": null``. All but ``"transaction"`` may be left out.

A file is read whole or not at all: what does not fit raises `HistoryFormatError` with the line.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeGuard, cast

from latchfree_lincheck.formats.edn import EdnError, Keyword, Symbol
from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.source import Source, read_source
from latchfree_lincheck.transactions.quick_edn import read_maps
from latchfree_lincheck.transactions.transaction import ENDINGS, Ending, Transaction

_FUNCTIONS: Final = ("append", "r", "w")
_FIELDS: Final = ("process", "transaction", "type", "invoke", "return")


def read_transactions(path: str | Path | Source) -> list[Transaction]:
    """Read the one history of a file.

    Parameters
    ----------
    path : str, Path or Source
        The file, plain or packed by gzip or zstd; ``-`` is standard input. A pipe will do: the file is opened once. Or
        the bytes of a file that was read before.

    Raises
    ------
    HistoryFormatError
        If the file is malformed.
    OSError
        If the file cannot be read.
    """
    source = read_source(path)
    return parse_transactions(source.path, source.text)


def parse_transactions(path: Path, text: str) -> list[Transaction]:
    """Return the history of a text; errors name `path`."""
    if text.lstrip("\ufeff \t\r\n").startswith('{"'):
        return _from_json(path, text)
    return _from_events(path, list(_events(path, text)))


# EDN -----------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Event:
    line: int
    kind: str
    process: int | None
    operations: tuple[tuple[str, Hashable, object], ...] | None


def _events(path: Path, text: str) -> Iterator[_Event]:
    """Yield the maps of a file but for those of the nemesis."""
    latest, indexed = -1, None
    try:
        for line, value in read_maps(text):
            if not isinstance(value, dict):
                raise HistoryFormatError(path, line, "a map", repr(value)[:60])
            fields = {key.name: item for key, item in value.items() if isinstance(key, Keyword)}
            process, index, kind = fields.get("process"), fields.get("index"), fields.get("type")
            if isinstance(process, Keyword):
                continue
            if process is not None and not _is_integer(process):
                raise HistoryFormatError(path, line, "an integer as :process", repr(process)[:60])
            index = None if index == -1 else index
            if index is not None and not _is_integer(index):
                raise HistoryFormatError(path, line, "an integer as :index", repr(index)[:60])
            if indexed not in (None, index is not None):
                raise HistoryFormatError(path, line, "an :index in all maps, or in none", repr(value)[:60])
            indexed = index is not None
            if index is not None:
                if index <= latest:
                    raise HistoryFormatError(path, line, f"an :index greater than {latest}", str(index))
                latest = index
            if not isinstance(kind, Keyword) or kind.name not in ("invoke", *ENDINGS):
                raise HistoryFormatError(path, line, ":invoke, :ok, :fail or :info as :type", repr(kind)[:60])
            value = fields.get("value")
            if value is None and kind.name in ("invoke", "ok"):
                raise HistoryFormatError(path, line, "a vector of micro-operations as :value", "none")
            operations = None if value is None else _operations(path, line, value)
            yield _Event(line, kind.name, process, operations)
    except EdnError as error:
        raise HistoryFormatError(path, error.line, error.expected, error.got) from None


def _from_events(path: Path, events: Sequence[_Event]) -> list[Transaction]:
    """Pair invocations with returns; the order of events is their time."""
    paired = any(event.kind == "invoke" for event in events)
    running: dict[int | None, tuple[int, _Event]] = {}
    found: list[Transaction] = []
    for time, event in enumerate(events):
        if event.kind == "invoke":
            if event.process is None:
                raise HistoryFormatError(path, event.line, "a :process of the invocation", "none")
            if event.process in running:
                before = running[event.process][1].line
                raise HistoryFormatError(
                    path, event.line, f"the return of process {event.process}'s call of line {before}", "another call"
                )
            running[event.process] = len(found), event
            found.append(_transaction(event, "info", time, None))
        elif not paired:
            found.append(_transaction(event, cast("Ending", event.kind), None, None))
        else:
            if event.process not in running:
                who = "a process" if event.process is None else f"process {event.process}"
                raise HistoryFormatError(path, event.line, f"{who} that has called", "a return without a call")
            place, call = running.pop(event.process)
            invoked = found[place]
            operations = call.operations if event.operations is None else event.operations
            _require_same(path, event.line, call, operations or ())
            found[place] = replace(
                invoked,
                operations=operations or (),
                type=cast("Ending", event.kind),
                return_=None if event.kind == "info" else time,
                line=event.line,
            )
    return found


def _transaction(event: _Event, ending: Ending, invoke: int | None, return_: int | None) -> Transaction:
    return Transaction(event.operations or (), ending, event.process, invoke, return_, event.line)


def _require_same(path: Path, line: int, call: _Event, operations: tuple[tuple[str, Hashable, object], ...]) -> None:
    """Raise HistoryFormatError unless a return has the micro-operations of its call, but for results of reads."""
    said = [(f, key, None if f == "r" else value) for f, key, value in call.operations or ()]
    done = [(f, key, None if f == "r" else value) for f, key, value in operations]
    if said != done:
        expected = f"the micro-operations of the call of line {call.line}"
        raise HistoryFormatError(path, line, expected, str(Transaction(operations))[:60])


# JSON Lines ----------------------------------------------------------------------------------------------------------


def _from_json(path: Path, text: str) -> list[Transaction]:
    found = []
    for line, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        try:
            record = json.loads(content, parse_constant=_reject, object_pairs_hook=_distinct)
        except (ValueError, RecursionError) as error:
            raise HistoryFormatError(path, line, "a JSON object", f"{content[:60]!r} ({error})") from None
        if not isinstance(record, dict):
            raise HistoryFormatError(path, line, "a JSON object", repr(record)[:60])
        for field in record:
            if field not in _FIELDS:
                raise HistoryFormatError(path, line, f"the fields {', '.join(_FIELDS)}", f'"{field}"')
        if "transaction" not in record:
            raise HistoryFormatError(path, line, 'the field "transaction"', f"only {', '.join(record)}")
        found.append(_record(path, line, record))
    return found


def _record(path: Path, line: int, record: dict[str, Any]) -> Transaction:
    """Return the transaction of one line."""
    unknown = "return" in record and record["return"] is None
    ending = record.get("type", "info" if unknown else "ok")
    if ending not in ENDINGS:
        raise HistoryFormatError(path, line, f'{", ".join(ENDINGS)} as "type"', repr(ending)[:60])
    if unknown and ending != "info":
        raise HistoryFormatError(path, line, f'an integer as "return" of a transaction of type {ending}', "null")
    process = record.get("process")
    if process is not None and not isinstance(process, str) and not _is_integer(process):
        raise HistoryFormatError(path, line, 'an integer or a string as "process"', repr(process)[:60])
    for field in ("invoke", "return"):
        if record.get(field) is not None and not _is_integer(record[field]):
            raise HistoryFormatError(path, line, f'an integer as "{field}"', repr(record[field])[:60])
    invoke, return_ = record.get("invoke"), None if ending == "info" else record.get("return")
    if invoke is not None and return_ is not None and return_ < invoke:
        raise HistoryFormatError(path, line, f'a "return" from {invoke} on', str(return_))
    operations = _operations(path, line, record["transaction"])
    return Transaction(operations, cast("Ending", ending), process, invoke, return_, line)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a field is there twice")
    return fields


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


# micro-operations ----------------------------------------------------------------------------------------------------


def _operations(path: Path, line: int, value: object) -> tuple[tuple[str, Hashable, object], ...]:
    """Return the micro-operations of a transaction."""
    if not isinstance(value, list | tuple):
        raise HistoryFormatError(path, line, "a list of micro-operations, such as [append x 1]", repr(value)[:60])
    return tuple(_operation(path, line, each) for each in value)


def _operation(path: Path, line: int, value: object) -> tuple[str, Hashable, object]:
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= 3:
        raise HistoryFormatError(path, line, "a micro-operation, such as [append x 1] or [r x nil]", repr(value)[:60])
    f = value[0].name if isinstance(value[0], Keyword | Symbol) else value[0]
    if f not in _FUNCTIONS:
        raise HistoryFormatError(path, line, f"{', '.join(_FUNCTIONS)} as a micro-operation", repr(value[0])[:60])
    key, result = _scalar(path, line, value[1]), value[2] if len(value) == 3 else None
    if f == "r" and isinstance(result, list | tuple):
        return f, key, tuple(_scalar(path, line, element) for element in result)
    if result is None:
        if f != "r":
            raise HistoryFormatError(path, line, f"a value that {f} writes", repr(value)[:60])
        return f, key, None
    return f, key, _scalar(path, line, result)


def _scalar(path: Path, line: int, value: object) -> Hashable:
    """Return a key, an element or a value: what is equal as text is equal, and nothing else is."""
    if _is_integer(value) or isinstance(value, str | Keyword | Symbol):
        return value
    raise HistoryFormatError(path, line, "an integer, a string or a keyword", repr(value)[:60])


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
