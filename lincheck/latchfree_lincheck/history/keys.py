"""Keys of values: two values of one key are the same for whoever judges them.

``repr`` is no such key: a class may mask its text, and then a right result and a wrong one look alike. Values of the
plain built-in kinds have a key, of their kind and all they hold. Others have none, and what has none is not remembered.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from types import NoneType
from typing import Final

from latchfree_model import UNKNOWN

_ATOMS: Final = frozenset({int, str, NoneType, bool, bytes, type(UNKNOWN)})


def key_of(value: object) -> Hashable | None:
    """Return the key of a value, None if it has none."""
    kind = type(value)
    if kind in _ATOMS:
        return kind, value
    if kind is float or kind is complex:
        return kind, repr(value)  # 0.0 equals -0.0, and a NaN not itself
    if kind is tuple or kind is list:
        assert isinstance(value, tuple | list)
        items = key_of_all(value)
        return None if items is None else (kind, items)
    if kind is set or kind is frozenset:
        assert isinstance(value, set | frozenset)
        items = key_of_all(value)
        return None if items is None else (kind, frozenset(items))
    if kind is dict:
        assert isinstance(value, dict)
        items = key_of_all([each for pair in value.items() for each in pair])
        return None if items is None else (kind, items)
    return None


def key_of_all(values: Iterable[object]) -> tuple[Hashable, ...] | None:
    """Return the keys of some values, None if one has none."""
    found: list[Hashable] = []
    for each in values:
        key = key_of(each)
        if key is None:
            return None
        found.append(key)
    return tuple(found)
