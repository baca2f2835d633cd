"""One operation as JSON values: what the JSON Lines and Parquet formats share.

Lists become tuples and objects become sorted tuples of pairs, so that arguments are hashable. A snapshot's result
is a list of [key, value] pairs. The result UNKNOWN is an absent one.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.history import History, InvalidOperation, Operation
from latchfree_model import UNKNOWN

EXPECTED: Final = {
    "history": (str, "a string"),
    "process": (int | str, "an integer or a string"),
    "f": (str, "a string"),
    "arguments": (list, "a list"),
    "invoke": (int, "an integer"),
    "return": (int | None, "an integer or null"),
    "object": (str | None, "a string or null"),
    "model": (str | None, "a string or null"),
}
_OPTIONAL: Final = frozenset({"object", "model"})


class Collector:
    """Gathers operations, in any order, into histories, and tells the line of one that does not fit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._operations: dict[str, list[Operation]] = {}
        self._lines: dict[int, int] = {}
        self._hints: dict[str, str] = {}

    def add(self, line: int, record: Mapping[str, Any]) -> None:
        """Add the operation of one line.

        Raises
        ------
        HistoryFormatError
            If a field is missing, unknown or of the wrong type.
        """
        for field, (kind, expected) in EXPECTED.items():
            if field not in record:
                if field not in _OPTIONAL:
                    got = f"only {', '.join(record)}" if record else "no field"
                    raise HistoryFormatError(self._path, line, f'the field "{field}"', got)
            elif not isinstance(record[field], kind) or isinstance(record[field], bool):
                raise HistoryFormatError(self._path, line, f'{expected} as "{field}"', repr(record[field]))
        for field in record:
            if field not in EXPECTED and field != "result":
                known = ", ".join([*EXPECTED, "result"])
                raise HistoryFormatError(self._path, line, f"the fields {known}", f'"{field}"')
        operation = Operation(
            record["process"],
            record["f"],
            tuple(freeze(argument) for argument in record["arguments"]),
            freeze(record["result"]) if "result" in record else UNKNOWN,
            record["invoke"],
            record["return"],
            record.get("object"),
        )
        self._operations.setdefault(record["history"], []).append(operation)
        self._lines[id(operation)] = line
        if record.get("model") is not None:
            self._hints.setdefault(record["history"], record["model"])

    def histories(self) -> list[History]:
        """Return the histories, in order of their first operation.

        Raises
        ------
        HistoryFormatError
            If operations do not form a history.
        """
        return [
            finish(self._path, name, operations, self._lines, self._hints.get(name))
            for name, operations in self._operations.items()
        ]


def finish(path: Path, name: str, operations: list[Operation], lines: Mapping[int, int], hint: str | None) -> History:
    """Return the history, or raise HistoryFormatError with the line (by the operation's identity) that is wrong."""
    try:
        return History(name, operations, hint)
    except InvalidOperation as error:
        line = lines[id(error.operation)]
        raise HistoryFormatError(path, line, "operations that can be one history", str(error)) from None


def freeze(value: Any) -> Hashable:
    """Return a JSON value as a hashable one."""
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((key, freeze(item)) for key, item in value.items()))
    return value  # type: ignore[no-any-return]


def records(history: History) -> Iterable[dict[str, Any]]:
    """Yield each operation as a record of JSON values.

    Raises
    ------
    ValueError
        If an operation holds what JSON cannot say.
    """
    for operation in history.operations:
        record: dict[str, Any] = {
            "history": history.name,
            "process": operation.process,
            "f": operation.f,
            "arguments": list(operation.arguments),
        }
        if operation.result is not UNKNOWN:
            record["result"] = operation.result
        record |= {"invoke": operation.invoke, "return": operation.return_}
        if operation.object is not None:
            record["object"] = operation.object
        if history.model_hint is not None:
            record["model"] = history.model_hint
        try:
            yield {field: _thaw(value) for field, value in record.items()}
        except TypeError as error:
            raise ValueError(f"{operation}: cannot be written as JSON: {error}") from None


def _thaw(value: object) -> Any:
    if isinstance(value, Mapping):
        return [[_thaw(key), _thaw(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(map(_thaw, value), key=repr)
    if isinstance(value, tuple | list):
        return [_thaw(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{value!r} is neither text, number, truth value, list nor null")


def loads(path: Path, line: int, text: str, expected: str) -> Any:
    """Parse JSON text, or raise HistoryFormatError."""
    try:
        return json.loads(text, parse_constant=_reject)
    except ValueError as error:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r} ({error})") from None
    except RecursionError:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r}, nested too deeply") from None


def dumps(value: object) -> str:
    """Return JSON text in one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
