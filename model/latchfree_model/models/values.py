"""Equal values: what Python's ``==`` says, but for NaN, which is equal to NaN.

Example: 1, 1.0 and True are one value, and a NaN that was read is the NaN that was written. `canonical` replaces each
NaN by one that is equal to every NaN, also inside collections, so that all engines agree, be it by ``==`` or by hash.
"""

from __future__ import annotations

import numbers
from typing import Any, Final

PLAIN: Final = frozenset({int, str, bool, bytes, type(None)})
"""The types of most values, which are canonical."""

_TRUTHS: Final = frozenset({"bool", "bool_"})
"""NumPy's truth values, which are no numbers."""
_COLLECTIONS: Final = frozenset({tuple, list, frozenset, set})


class _NotANumber(float):
    """A NaN that is equal to every NaN."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _NotANumber) or (isinstance(other, numbers.Number) and bool(other != other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_NotANumber)


NAN: Final = _NotANumber("nan")


def canonical(value: Any) -> Any:
    """Return a value that is equal to the same values in every engine: mostly the value itself.

    A NaN becomes `NAN`, a number of NumPy's becomes Python's, a set a frozen set and a bytearray bytes.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, numbers.Number) or kind.__name__ in _TRUTHS:
        if kind.__module__ == "numpy":
            value = value.item()  # NumPy's integers cannot be compared with Decimal
        return NAN if value != value else value
    if kind is dict:
        return {canonical(key): canonical(held) for key, held in value.items()}
    if kind in _COLLECTIONS:
        parts = [canonical(part) for part in value]
        if kind is set or any(part is not other for part, other in zip(parts, value, strict=True)):
            return frozenset(parts) if kind is set else kind(parts)
        return value
    return bytes(value) if kind is bytearray else value


def whole(value: object) -> int | None:
    """Return the integer that a value is equal to, or None: 3 for 3.0, Fraction(3) and numpy.int64(3)."""
    if type(value) is int:
        return value
    if not isinstance(value, numbers.Number):
        return None
    try:
        number = int(value.real if isinstance(value, numbers.Complex) else value)  # type: ignore[call-overload]
    except (ValueError, OverflowError):  # NaN or infinite
        return None
    return number if number == value else None
