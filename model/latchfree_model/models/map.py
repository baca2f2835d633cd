"""A map: each key holds one value or nothing. None stands for nothing, so None is no value."""

from collections.abc import Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from latchfree_model.models.base import UNKNOWN, Call, SequentialModel

Contents = frozenset[tuple[Hashable, Hashable]]

WHOLE = frozenset({"snapshot", "size", "clear"})
"""The operations that touch every key at once."""


class MapModel(SequentialModel[Contents]):
    """The map of the Ctrie.

    ==================================  ===========================================
    ``get(key)``                        the value, or None
    ``put(key, value)``                 the old value, or None
    ``remove(key)``                     the old value, or None
    ``put_if_absent(key, value)``       the value already there, or None if it put
    ``replace(key, value)``             the old value, or None if there was none
    ``replace_if(key, expected, new)``  whether it replaced
    ``remove_if(key, expected)``        whether it removed
    ``contains(key)``                   whether the key holds a value
    ``snapshot()``                      the contents: a mapping, or (key, value) pairs
    ``size()``                          the number of keys that hold a value
    ``clear()``                         None
    ==================================  ===========================================
    """

    name = "map"
    operations = MappingProxyType({
        "get": 1, "put": 2, "remove": 1, "put_if_absent": 2, "replace": 2, "replace_if": 3, "remove_if": 2,
        "contains": 1, "snapshot": 0, "size": 0, "clear": 0,
    })  # fmt: skip
    silent = frozenset({"clear"})
    readonly = frozenset({"get", "contains", "snapshot", "size"})
    overwriting = frozenset({"put", "remove", "clear"})
    stored = MappingProxyType({"put": (1,), "put_if_absent": (1,), "replace": (1,), "replace_if": (2,)})

    def init(self) -> Contents:
        """Return the empty map."""
        return frozenset()

    def apply(self, state: Contents, call: Call) -> tuple[object, Contents]:
        """Return the result that `call` must have, and the next contents."""
        if call.f == "clear":
            return None, frozenset()
        if call.f in WHOLE:
            return (state if call.f == "snapshot" else len(state)), state
        key, *values = call.arguments
        held = dict(state).get(key)
        match call.f:
            case "get":
                return held, state
            case "contains":
                return held is not None, state
            case "put":
                return held, _with(state, key, values[0])
            case "remove":
                return held, _with(state, key, None)
            case "put_if_absent":
                return held, state if held is not None else _with(state, key, values[0])
            case "replace":
                return held, state if held is None else _with(state, key, values[0])
            case "replace_if":
                hit = held is not None and held == values[0]
                return hit, _with(state, key, values[1]) if hit else state
            case _:  # remove_if
                hit = held is not None and held == values[0]
                return hit, _with(state, key, None) if hit else state

    def matches(self, call: Call, expected: object) -> bool:
        """Return whether the result seen is the one expected; a snapshot is compared as a set of pairs."""
        return (_pairs(call) if call.f == "snapshot" else call.result) == expected

    def reason(self, state: Contents, call: Call) -> str:
        """Return what the key, or the map, held."""
        if call.f == "size":
            return f"the map held {len(state)} key(s)"
        if call.f in WHOLE:
            return f"the map held {{{', '.join(sorted(f'{key!r}: {value!r}' for key, value in state))}}}"
        held = dict(state).get(call.arguments[0])
        return f"key {call.arguments[0]!r} held {'nothing' if held is None else repr(held)}"

    def effectless(self, call: Call) -> bool:
        """Return whether the call cannot have changed anything, as its result shows."""
        return call.f in self.readonly or (
            (call.f in ("remove", "replace") and call.result is None)
            or (call.f == "put_if_absent" and call.result not in (None, UNKNOWN))
            or (call.f in ("replace_if", "remove_if") and call.result is False)
        )

    def partition(self, call: Call) -> Hashable | None:
        """Return the key, or None for an operation on the whole map."""
        return None if call.f in WHOLE else call.arguments[0]

    def validate(self, call: Call) -> None:
        """Raise ValueError for an unknown operation, wrong arguments, or a snapshot that is no mapping."""
        super().validate(call)
        if call.f == "snapshot" and call.result is not UNKNOWN:
            _pairs(call)


def _with(state: Contents, key: Hashable, value: Hashable | None) -> Contents:
    """Return the contents with `key` set to `value`, or without `key` when `value` is None."""
    rest = frozenset(pair for pair in state if pair[0] != key)
    return rest if value is None else rest | {(key, value)}


def _pairs(call: Call) -> Contents | None:
    """Return a snapshot's result as a set of pairs, or None if it lists a key twice."""
    result = cast("Mapping[Any, Any] | Iterable[Any]", call.result)
    try:
        pairs = [(key, value) for key, value in (result.items() if isinstance(result, Mapping) else result)]
        contents = dict(pairs)
        return frozenset(contents.items()) if len(contents) == len(pairs) else None
    except (TypeError, ValueError):
        raise ValueError(
            f"snapshot() returned {call.result!r}: expected a mapping or (key, value) pairs, all hashable"
        ) from None
