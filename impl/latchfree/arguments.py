"""Arguments of public calls: what each must be, checked before anything is changed.

Example: ``RetainedTopics(most=True)`` raises "most must be an integer, 1 or more, got bool True". Whoever reads this
knows which argument it was, what it was, and what it may be.

Rule: a bool is no number. ``True`` in the place of a number is most often an argument in the wrong place.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from numbers import Real
from operator import index
from typing import Any, Final, TypeVar

import numpy as np

from latchfree.extras import is_arrow, optional

pa = optional("pyarrow", "check")

T = TypeVar("T")

#: The most of a number that has no other bound.
MANY: Final = (1 << 63) - 1


def shown(value: object, limit: int = 60) -> str:
    """Return the `repr` of a value, shortened for a message."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."


def integer(number: Any, must: str) -> int:
    """Return an argument that is an integer; raise TypeError, whose text begins with what it must be, if it is none."""
    if type(number) is int:
        return number
    try:
        if not isinstance(number, bool | np.bool_):
            return index(number)
    except TypeError:
        pass
    raise TypeError(f"{must}, got {type(number).__name__} {shown(number)}")


def whole(number: Any, what: str, least: int, most: int = MANY) -> int:
    """Return an argument that is an integer in a range.

    Raises
    ------
    TypeError, ValueError
        If it is not; the text names the argument and the range.
    """
    if type(number) is int and least <= number <= most:  # nearly all of them; the text takes a while
        return number
    wanted = f"from {least:,} to {most:,}" if most != MANY else f"{least:,} or more"
    found = integer(number, f"{what} must be an integer, {wanted}")
    if not least <= found <= most:
        raise ValueError(f"{what} must be {wanted}, got {shown(found)}")
    return found


def fraction(number: Any, what: str, least: float, most: float) -> float:
    """Return an argument that is a number in a range, NaN not being one.

    Raises
    ------
    TypeError, ValueError
        If it is not; the text names the argument and the range.
    """
    wanted = f"{what} must be a number from {least:g} to {most:g}"
    if isinstance(number, bool | np.bool_ | np.ndarray | str | bytes) or not hasattr(type(number), "__float__"):
        raise TypeError(f"{wanted}, got {type(number).__name__} {shown(number)}")
    try:
        found = float(number)
    except OverflowError:
        found = math.inf if number > 0 else -math.inf
    except TypeError:  # not all that has the method has the number
        raise TypeError(f"{wanted}, got {type(number).__name__} {shown(number)}") from None
    if not least <= found <= most:
        raise ValueError(f"{what} must be from {least:g} to {most:g}, got {found:g}")
    return found


def seconds(timeout: Any, what: str) -> float:
    """Return an argument that is a number of seconds, infinity being one.

    Raises
    ------
    TypeError
        If it is no number.
    ValueError
        If it is negative, or not a number (NaN).
    """
    if timeout.__class__ is float and timeout >= 0.0:  # nearly all of them; the look at `Real` takes a while
        return float(timeout)
    if isinstance(timeout, bool) or not isinstance(timeout, Real):
        raise TypeError(f"{what} must be a number of seconds, not {type(timeout).__name__} {shown(timeout)}")
    found: Any = timeout
    if not found >= 0:
        raise ValueError(f"{what} must be at least 0 seconds, got {shown(found)}")
    try:
        return float(found)
    except OverflowError:
        return float("inf")


def flag(value: Any, what: str) -> bool:
    """Return an argument that is True or False.

    Raises
    ------
    TypeError
        If it is anything else: ``weak="no"`` would be true.
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{what} must be True or False, got {type(value).__name__} {shown(value)}")
    return bool(value)


def choice(value: Any, what: str, choices: Sequence[str]) -> int:
    """Return the place of an argument among the strings that it may be.

    Raises
    ------
    TypeError, ValueError
        If it is none of them; the text lists them.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} must be a string, not {type(value).__name__}; use {_listed(choices)}")
    if value not in choices:
        raise ValueError(f"{what} must be one of {_listed(choices)}, got {shown(value)}")
    return choices.index(value)


def _listed(choices: Sequence[str]) -> str:
    return ", ".join(map(repr, choices))


def many(items: Any, what: str, one: str) -> Any:
    """Return an argument that holds many items and can be gone through.

    Parameters
    ----------
    items : object
        The argument.
    what : str
        What errors call it.
    one : str
        What takes a single item instead.

    Raises
    ------
    TypeError
        If it is one string or bytes, a mapping, or nothing that can be gone through.
    ValueError
        If it is a broken Arrow array.
    """
    if isinstance(items, str | bytes | bytearray | Mapping) or not _goes_through(items):
        raise TypeError(f"{what} must be a sequence or an array, not one {type(items).__name__}; for one use {one}")
    return listed(items, what) if is_arrow(items) else items


def listed(array: Any, what: str) -> list[Any]:
    """Return the elements of an Arrow array as objects of Python.

    Raises
    ------
    ValueError
        If the array is broken: made of somebody's buffers, whose bytes are no text.
    """
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{what} must be a valid Arrow array: {error}") from None
    found: list[Any] = array.to_pylist()
    return found


def _goes_through(items: Any) -> bool:
    kind = type(items)
    if isinstance(items, np.ndarray):
        return items.ndim > 0
    return getattr(kind, "__iter__", None) is not None or (hasattr(kind, "__getitem__") and hasattr(kind, "__len__"))


def hashable(value: T, what: str) -> T:
    """Return an argument that can be a key.

    Raises
    ------
    TypeError
        If it has no hash.
    """
    try:
        hash(value)
    except (TypeError, ValueError) as error:  # a view of memory that can change has a ValueError
        kind = type(value).__name__
        raise TypeError(f"{what} must be hashable, as str, int and tuples are, not {kind} {shown(value)}") from error
    return value


def path_of(path: Any, what: str = "path") -> str:
    """Return an argument that names a file, as a string.

    Raises
    ------
    TypeError, ValueError
        If it is no path, or no file can have that name.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{what} must be a str or a Path, not {type(path).__name__} {shown(path)}")
    text = os.fspath(path)
    try:
        encoded = os.fsencode(text)
    except UnicodeEncodeError:
        encoded = b"\0"
    if 0 in encoded:
        raise ValueError(f"{what} cannot be the name of a file: {shown(text)}")
    return os.fsdecode(encoded)
