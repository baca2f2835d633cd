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
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.history import History, Operation
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
_MOST_TIME: Final = 2**63 - 1


class Collector:
    """Gathers operations, in any order, into histories, and tells the line of one that does not fit."""

    def __init__(self, path: Path, model: str | None) -> None:
        self._path = path
        self._model = model
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
        for field in ("invoke", "return"):
            time = record[field]
            if time is not None and not -_MOST_TIME <= time <= _MOST_TIME:
                raise HistoryFormatError(self._path, line, f'a 64-bit integer as "{field}"', f"{time:.3e}"[:40])
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
            If operations do not form a history, or its model does not have one of them.
        """
        return [
            finish(self._path, name, operations, self._lines, self._model or self._hints.get(name))
            for name, operations in self._operations.items()
        ]


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
        value = json.loads(text, parse_constant=_reject)
        freeze(value)
        return value
    except ValueError as error:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r} ({error})") from None
    except RecursionError:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r}, nested too deeply") from None


def dumps(value: object) -> str:
    """Return JSON text in one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
