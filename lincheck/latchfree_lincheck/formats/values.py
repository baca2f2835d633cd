"""Values of JSON and EDN as Python values that are hashable and equal if and only if the values are.

Example: ``{"a": 1}`` and ``[["a", 1]]`` are two values, so the first becomes an `Object` and the second a tuple.

=====================  =====================================================================
null                   None
true, false            True, False
numbers                int or float; 1 and 1.0 are one value. NaN and infinities are refused
text                   str
arrays, vectors        tuple
objects, maps          `Object`: the order of the fields does not matter
sets                   frozenset
=====================  =====================================================================
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any, Final

DEEPEST: Final = 400
"""How deep values may be nested."""


class Object(Mapping[Hashable, Hashable]):
    """A JSON object or an EDN map as a value: hashable, and equal to another `Object` with equal fields only."""

    __slots__ = ("_fields", "_hash")

    def __init__(self, fields: Mapping[Hashable, Hashable]) -> None:
        self._fields = dict(fields)
        self._hash = hash(("Object", frozenset(self._fields.items())))

    def __getitem__(self, key: Hashable) -> Hashable:
        return self._fields[key]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __eq__(self, other: object) -> bool:
        return self._fields == other._fields if isinstance(other, Object) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Object], tuple[dict[Hashable, Hashable]]]:
        return Object, (self._fields,)  # a hash of text differs from process to process

    def __repr__(self) -> str:
        return repr(self._fields)


def freeze(value: Any, depth: int = 0) -> Hashable:
    """Return a parsed value as a hashable one.

    Raises
    ------
    ValueError
        If it is nested too deeply, or a number is not finite.
    """
    if isinstance(value, list | tuple | dict | frozenset):
        if depth == DEEPEST:
            raise ValueError(f"at most {DEEPEST} values inside each other")
        if isinstance(value, dict):
            return Object({freeze(key, depth + 1): freeze(item, depth + 1) for key, item in value.items()})
        items = [freeze(item, depth + 1) for item in value]
        return frozenset(items) if isinstance(value, frozenset) else tuple(items)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")
    return value  # type: ignore[no-any-return]
