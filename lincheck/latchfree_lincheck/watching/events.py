"""Events of a history that grows: a call begins, or ends in one of three ways.

==========  =====================================================================================
``invoke``  a process calls an operation
``ok``      the operation returned; with its result, or without if nobody saw it
``fail``    the operation certainly had no effect, and saw nothing
``info``    nobody knows: the operation may have taken effect, or may later, or never
==========  =====================================================================================

Their order is the order of real time. A line for each operation would not do: it is written when the operation returns,
and an operation that still runs, of which there is no line yet, may explain the result of one that returned.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final, Literal, cast, get_args

from latchfree_model import UNKNOWN

Type = Literal["invoke", "ok", "fail", "info"]
TYPES: Final[tuple[str, ...]] = get_args(Type)


class InvalidEvent(ValueError):
    """An event that cannot come now, or that the model does not have; nothing is changed."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event.

    Parameters
    ----------
    type : "invoke", "ok", "fail" or "info"
        What happened.
    process : int or str
        Whose call begins or ends; a process runs one call at a time.
    f : str
        The operation of a call that begins.
    arguments : tuple
        Its arguments, hashable.
    result : object
        What a call that ended returned, or UNKNOWN.
    object : str, optional
        Which object was called, where there are several.
    """

    type: Type
    process: int | str
    f: str = ""
    arguments: tuple[Hashable, ...] = ()
    result: object = UNKNOWN
    object: str | None = None

    def __post_init__(self) -> None:
        if self.type not in TYPES:
            raise InvalidEvent(f"an event is one of {', '.join(TYPES)}, not {self.type!r}")
        if self.type == "invoke" and not self.f:
            raise InvalidEvent(f"the call of process {self.process!r} has no operation: give its name as f")


def parse_event(text: str) -> Event:
    """Return the event of a line of JSON.

    Raises
    ------
    ValueError
        If it is none; the text says what was expected, and what was found.
    """
    from latchfree_lincheck.formats.record import decode
    from latchfree_lincheck.formats.values import freeze

    try:
        record = decode(text)
        freeze(record)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected a JSON object, got {text[:60]!r} ({error})") from None
    if not isinstance(record, dict):
        raise ValueError(f"expected a JSON object, got {text[:60]!r}")
    if "invoke" in record and "type" not in record:
        raise ValueError(
            "expected an event, got a whole operation: it stands in the file when it has returned, so operations that "
            "still run are missing; write events, or check the file without --follow when it is complete"
        )
    kind = record.get("type")
    if kind not in TYPES:
        raise ValueError(f'expected one of {", ".join(TYPES)} as "type", got {kind!r}')
    process = record.get("process")
    if not isinstance(process, int | str) or isinstance(process, bool):
        raise ValueError(f'expected an integer or a string as "process", got {process!r}')
    known = _FIELDS["invoke" if kind == "invoke" else "ok" if kind == "ok" else "end"]
    for field in record:
        if field not in known:
            raise ValueError(f'expected the fields {", ".join(known)} of {kind}, got "{field}"')
    if kind != "invoke":
        return Event(cast("Type", kind), process, result=freeze(record["result"]) if "result" in record else UNKNOWN)
    f, arguments, name = record.get("f"), record.get("arguments", []), record.get("object")
    if not isinstance(f, str):
        raise ValueError(f'expected a string as "f", got {f!r}')
    if not isinstance(arguments, list):
        raise ValueError(f'expected a list as "arguments", got {arguments!r}')
    if not isinstance(name, str | None):
        raise ValueError(f'expected a string as "object", got {name!r}')
    return Event("invoke", process, f, tuple(freeze(argument) for argument in arguments), object=name)


_FIELDS: Final = {
    "invoke": ("type", "process", "f", "arguments", "object", "time"),
    "ok": ("type", "process", "result", "time"),
    "end": ("type", "process", "time"),
}
"""The fields of each type of event; a time is not looked at, as the order of lines is the order of time."""


def event_line(event: Event) -> str:
    """Return the line of JSON of an event.

    Raises
    ------
    ValueError
        If JSON has no text for an argument or the result.
    """
    record: dict[str, Any] = {"type": event.type, "process": event.process}
    if event.type == "invoke":
        record |= {"f": event.f, "arguments": event.arguments}
    if event.object is not None:
        record["object"] = event.object
    if event.type == "ok" and event.result is not UNKNOWN:
        record["result"] = event.result
    try:
        return json.dumps({field: _thaw(value) for field, value in record.items()}, allow_nan=False)
    except TypeError as error:
        raise ValueError(f"{event}: cannot be written as JSON: {error}") from None


def _thaw(value: object) -> object:
    if isinstance(value, dict):
        return [[_thaw(key), _thaw(item)] for key, item in value.items()]
    if isinstance(value, frozenset | set):
        return sorted(map(_thaw, value), key=repr)
    if isinstance(value, tuple | list):
        return [_thaw(item) for item in value]
    return value
