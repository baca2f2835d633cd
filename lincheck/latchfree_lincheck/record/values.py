"""Values of a record as JSON text: what a history can hold, and a copy that nobody changes later.

`[1, (2, None)]` is recorded as ``[1, [2, null]]`` and read back as ``(1, (2, None))``. The text is made when the call
is made and when the call returns, so a client may go on to change a list that it was given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from latchfree_lincheck.formats.values import DEEPEST


class Unrecordable(TypeError):
    """An argument or a result that no history can hold."""


def encode(value: object, what: str, depth: int = 0) -> Any:
    """Return a value as JSON values.

    Parameters
    ----------
    value : object
        Text, a number, a truth value, None, or lists, tuples, sets and mappings of such.
    what : str
        What the value is, for the message.
    depth : int
        How many values it is inside of.

    Raises
    ------
    Unrecordable
        If the value is something else.
    """
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise Unrecordable(f"{what} is {value!r}, which JSON has no text for; return a text instead")
        return value
    if depth == DEEPEST and isinstance(value, Mapping | frozenset | set | tuple | list):
        raise Unrecordable(f"{what} has more than {DEEPEST} values inside each other; convert the value in the client")
    if isinstance(value, Mapping):  # a pair is one deeper than the mapping
        return [encode(pair, what, depth + 1) for pair in value.items()]
    if isinstance(value, frozenset | set):
        return sorted((encode(item, what, depth + 1) for item in value), key=repr)
    if isinstance(value, tuple | list):
        return [encode(item, what, depth + 1) for item in value]
    raise Unrecordable(
        f"{what} is {_short(value)}; a history holds text, numbers, truth values, None, and lists or mappings of them: "
        "convert the value in the client"
    )


def dumps(record: list[Any]) -> bytes:
    """Return one line of JSON, without its end; other lines cannot begin inside it."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception:
        text = "an object without a text"
    text = text if len(text) <= 60 else text[:57] + "..."
    return f"{text}, of type {type(value).__name__}"
