"""From calls to rows of integers, for the built-in models.

Values become small integers by equality, as a dict sees it, which is how the models compare them. What a model
would never accept as a result becomes NEVER.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import numpy as np

from latchfree_lincheck.engine import opcodes as op
from latchfree_lincheck.engine.timeline import Ints
from latchfree_model import UNKNOWN, Call

#: Opcode and how the result is read: a value, a truth value, a number, or not looked at.
_FORMS: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "register": {"read": (op.GET, "value"), "write": (op.PUT, "")},
    "cas-register": {"read": (op.GET, "value"), "write": (op.PUT, ""), "cas": (op.REPLACE_IF, "truth")},
    "append-kv": {"get": (op.GET, "value"), "put": (op.PUT, ""), "append": (op.APPEND, "")},
    "map": {
        "get": (op.GET, "value"),
        "put": (op.PUT, "value"),
        "remove": (op.REMOVE, "value"),
        "put_if_absent": (op.PUT_IF_ABSENT, "value"),
        "replace": (op.REPLACE, "value"),
        "replace_if": (op.REPLACE_IF, "truth"),
        "remove_if": (op.REMOVE_IF, "truth"),
        "contains": (op.CONTAINS, "truth"),
        "snapshot": (op.SNAPSHOT, "contents"),
        "size": (op.SIZE, "number"),
        "clear": (op.CLEAR, ""),
    },
}

_MANY: Final = 1 << 31

ENCODED: Final = frozenset(_FORMS)
"""Names of the models that the compiled search knows."""


@dataclass(slots=True)
class Encoded:
    """Rows of one part of a history, and what they refer to."""

    rows: Ints
    initial: Ints
    contents: Ints | None = None
    pieces: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    texts: list[bytes] = field(default_factory=list)


class _Numbers(dict[Hashable, int]):
    """Numbers things in order of appearance."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = number = len(self)
        return number


def encode(model: str, calls: Sequence[Call]) -> Encoded:
    """Turn the validated calls on one part of an object into rows."""
    if model == "append-kv":
        return _encode_texts(calls)
    forms = _FORMS[model]
    keyed = model == "map"
    values, keys = _Numbers(), _Numbers()
    snapshots: list[object] = []
    rows = np.zeros((len(calls), 5), np.int64)
    for row, call in zip(rows, calls, strict=True):
        code, kind = forms[call.f]
        arguments = list(call.arguments)
        if keyed and arguments:
            row[1] = keys[arguments.pop(0)]
        numbers = [op.ABSENT if value is None else values[value] for value in arguments]
        if keyed and code in (op.REPLACE_IF, op.REMOVE_IF) and numbers[0] == op.ABSENT:
            numbers[0] = op.NEVER
        row[0] = code
        row[2 : 2 + len(numbers)] = numbers
        if kind == "contents" and call.result is not UNKNOWN:
            row[4] = len(snapshots)
            snapshots.append(call.result)
        else:
            row[4] = _result(kind, call.result, values)
    contents = np.full((len(snapshots), max(len(keys), 1)), op.ABSENT, np.int64)
    for held, snapshot in zip(contents, snapshots, strict=True):
        _fill(held, snapshot, keys, values)
    return Encoded(rows, np.full(contents.shape[1], op.ABSENT, np.int64), contents)


def _result(kind: str, result: object, values: _Numbers) -> int:
    """Return the number of a result."""
    if result is UNKNOWN or not kind:
        return op.UNKNOWN_RESULT
    if kind == "value":
        try:
            return op.ABSENT if result is None else values[result]
        except TypeError:
            return op.NEVER  # not hashable, so it was never stored
    if kind == "truth":
        return int(result) if result in (True, False) else op.NEVER
    whole = isinstance(result, int) or (isinstance(result, float) and result.is_integer())
    return int(result) if whole and 0 <= result < _MANY else op.NEVER  # type: ignore[operator, call-overload]


def _fill(held: Ints, snapshot: Any, keys: _Numbers, values: _Numbers) -> None:
    """Write what a snapshot saw into a row of contents; a value that no map can hold if it is impossible."""
    pairs = [(key, value) for key, value in (snapshot.items() if isinstance(snapshot, Mapping) else snapshot)]
    contents = dict(pairs)
    possible = len(contents) == len(pairs) and all(key in keys for key in contents)
    for key, value in contents.items():
        if key in keys:
            held[keys[key]] = op.NEVER if value is None else values[value]
    if not possible:
        held[0] = op.NEVER


def _encode_texts(calls: Sequence[Call]) -> Encoded:
    """Turn calls on one key of the append store into rows; "" is ABSENT, other strings are numbered."""
    texts = _Numbers()
    pieces: list[bytes] = []
    length = 0
    rows = np.zeros((len(calls), 5), np.int64)
    for row, call in zip(rows, calls, strict=True):
        row[0] = _FORMS["append-kv"][call.f][0]
        row[4] = op.UNKNOWN_RESULT
        if call.f == "get":
            if call.result is not UNKNOWN:
                row[4] = _text(call.result, texts)
        elif call.f == "put":
            row[2] = _text(call.arguments[1], texts)
        else:
            pieces.append(_bytes(cast(str, call.arguments[1])))
            row[2], row[3] = length, len(pieces[-1])
            length += len(pieces[-1])
    flat = np.frombuffer(b"".join(pieces), np.uint8).astype(np.int64)
    return Encoded(rows, np.array([op.ABSENT]), pieces=flat, texts=[cast(bytes, text) for text in texts])


def _text(text: object, texts: _Numbers) -> int:
    if not isinstance(text, str):
        return op.NEVER
    return texts[_bytes(text)] if text else op.ABSENT


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
