"""One operation as JSON values: what the JSON Lines and Parquet formats share.

Values become hashable as `values` says. A snapshot's result is a list of [key, value] pairs or an object. The result
UNKNOWN is an absent one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.formats.values import Object, freeze
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN

__all__ = ["EXPECTED", "Collector", "decode", "dumps", "freeze", "loads", "records"]

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
_PLAIN: Final = frozenset({str, int, bool, type(None)})


class Collector:
    """Gathers operations, in any order, into histories, and tells the line of one that does not fit.

    Parameters
    ----------
    path : Path
        Their file.
    model : str, optional
        The model of all of them.
    default : str, optional
        The name of the history that names none; by default the name may not be left out.
    """

    def __init__(self, path: Path, model: str | None, default: str = "") -> None:
        self._path = path
        self._default = default
        self._named = not default
        self._model = model
        self._operations: dict[str, list[Operation]] = {}
        self._lines: dict[int, int] = {}
        self._hints: dict[str, str] = {}
        self._shapes: set[tuple[object, ...]] = set()

    def add(self, line: int, record: Mapping[str, Any]) -> None:
        """Add the operation of one line.

        Raises
        ------
        HistoryFormatError
            If a field is missing, unknown or of the wrong type.
        """
        shape = (self._named, *record, *map(type, record.values()))
        if shape not in self._shapes:
            self._require_fields(line, record)
            self._shapes.add(shape)
        for field in ("invoke", "return"):
            time = record[field]
            if time is not None and not -_MOST_TIME <= time <= _MOST_TIME:
                raise HistoryFormatError(self._path, line, f'a 64-bit integer as "{field}"', f"{time:.3e}"[:40])
        operation = Operation(
            record["process"],
            record["f"],
            tuple([freeze(argument) for argument in record["arguments"]]),
            freeze(record["result"]) if "result" in record else UNKNOWN,
            record["invoke"],
            record["return"],
            record.get("object"),
        )
        name = record.get("history", self._default)
        if self._operations and "history" in record and not self._named:
            raise HistoryFormatError(self._path, line, 'no "history", as in the lines before', repr(name))
        self._named = "history" in record
        self._operations.setdefault(name, []).append(operation)
        self._lines[id(operation)] = line
        if record.get("model") is not None:
            self._add_hint(line, name, record["model"])

    def _require_fields(self, line: int, record: Mapping[str, Any]) -> None:
        """Raise HistoryFormatError unless a record has the fields, of the types; one shape of records is asked once."""
        for field, (kind, expected) in EXPECTED.items():
            if field not in record:
                if field not in _OPTIONAL and (field != "history" or self._named):
                    got = f"only {', '.join(record)}" if record else "no field"
                    raise HistoryFormatError(self._path, line, f'the field "{field}"', got)
            elif not isinstance(record[field], kind) or isinstance(record[field], bool):
                raise HistoryFormatError(self._path, line, f'{expected} as "{field}"', repr(record[field]))
        for field in record:
            if field not in EXPECTED and field != "result":
                known = ", ".join([*EXPECTED, "result"])
                raise HistoryFormatError(self._path, line, f"the fields {known}", f'"{field}"')

    def _add_hint(self, line: int, name: str, model: str) -> None:
        """Note the model that a history names; it may name one."""
        if self._hints.setdefault(name, model) != model and self._model is None:
            expected = f"{self._hints[name]!r}, the model of the history {name!r}"
            raise HistoryFormatError(self._path, line, expected, repr(model))

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
    if isinstance(value, Object):
        return {_field(key): _thaw(item) for key, item in value.items()}
    if isinstance(value, Mapping):
        return [[_thaw(key), _thaw(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(map(_thaw, value), key=repr)
    if isinstance(value, tuple | list):
        return [_thaw(item) for item in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(f"{value!r} is neither text, number, truth value, list nor null")


def _field(key: object) -> str:
    if isinstance(key, str):
        return key
    raise TypeError(f"the field {key!r} is no text")


def loads(path: Path, line: int, text: str, expected: str) -> Any:
    """Parse JSON text, or raise HistoryFormatError."""
    try:
        value = decode(text)
        if not _is_plain(value):
            freeze(value)
        return value
    except ValueError as error:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r} ({error})") from None
    except RecursionError:
        raise HistoryFormatError(path, line, expected, f"{text[:60]!r}, nested too deeply") from None


def _is_plain(value: object) -> bool:
    """Return whether a value is an object of whole numbers, text and lists of them, as most records are."""
    return type(value) is dict and all(
        type(each) in _PLAIN or (type(each) is list and _PLAIN.issuperset(map(type, each))) for each in value.values()
    )


def dumps(value: object) -> str:
    """Return JSON text in one line; half of a surrogate pair, which has no bytes, is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the field {next(name for name in fields if names.count(name) > 1)!r} twice")
    return fields


_DECODER: Final = json.JSONDecoder(parse_constant=_reject, object_pairs_hook=_distinct)


def decode(text: str) -> Any:
    """Parse JSON text strictly: no NaN, no field twice. Raise ValueError if it is not JSON."""
    return _DECODER.decode(text)
