"""The forms that calls of the built-in models take as rows of integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import MODELS, Model

_MAP: Final = {
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
}
_READ_WRITE: Final = {"read": (op.GET, "value"), "write": (op.PUT, "")}

#: Opcode and how the result is read: a value, a truth value, a number, not looked at, or always the one given.
FORMS: Final[Mapping[str, Mapping[str, tuple[int, str]]]] = {
    "register": _READ_WRITE,
    "cas-register": {**_READ_WRITE, "cas": (op.REPLACE_IF, "truth")},
    "append-kv": {"get": (op.GET, "text"), "put": (op.PUT, ""), "append": (op.APPEND, "")},
    "map": _MAP,
    "set": {
        "add": (op.INSERT, "truth"),
        "remove": (op.DELETE, "truth"),
        "contains": (op.CONTAINS, "truth"),
        "snapshot": (op.SNAPSHOT, "contents"),
        "size": (op.SIZE, "number"),
    },
    "counter": {"add": (op.ADD, "old count"), "read": (op.GET, "count")},
    "queue": {"enqueue": (op.ENQUEUE, ""), "dequeue": (op.TAKE, "value")},
    "bounded-queue": {"enqueue": (op.ENQUEUE, "truth"), "dequeue": (op.TAKE, "value")},
    "stack": {"push": (op.PUSH, ""), "pop": (op.TAKE, "value")},
    "priority-queue": {"insert": (op.OFFER, ""), "pop_min": (op.TAKE, "value")},
    "mutex": {"acquire": (op.INSERT, "done"), "release": (op.DELETE, "done"), "try_acquire": (op.INSERT, "truth")},
}
KEYED: Final = frozenset({"map", "set"})
"""Models of values whose first argument is a key."""

LISTS: Final = frozenset({"queue", "bounded-queue", "stack", "priority-queue"})
WHOLE: Final = frozenset({op.SNAPSHOT, op.SIZE, op.CLEAR})
"""Opcodes of operations on a whole map."""

LARGEST: Final = (1 << 31) - 1
"""The largest count that a row can hold."""


class NotEncodable(ValueError):
    """The compiled engines cannot hold this history; the one in plain Python can."""


def family(model: Model[Any]) -> str:
    """Return the name of the built-in model that `model` is, without its parameters; "" if it is none."""
    name = model.name.partition(":")[0]
    return name if name in FORMS and type(MODELS.get(name)) is type(model) else ""


@dataclass(slots=True)
class Encoded:
    """A history as rows: what each operation did, and to which part."""

    rows: Rows
    part: Ints
    meaning: Meaning
