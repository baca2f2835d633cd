"""The numbers of a generated test: how much is tried. Each is refused by name if nothing would be tried with it."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, SupportsIndex


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is tried; see `latchfree_lincheck.testing.linearizable`."""

    repeats: int
    seconds: float
    shrink_seconds: float
    yielding: float
    seed: int
    explore: str | None


def whole(name: str, given: SupportsIndex, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    TypeError, ValueError
        If it is none, or less than `least`.
    """
    try:
        if isinstance(given, bool):
            raise TypeError
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {given!r}; fix: {name}={max(least, 1)} or more") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}; fix: {name}={max(least, 1)} or more")
    return number


_ALLOWED: Final[dict[str, tuple[str, Callable[[float], bool]]]] = {
    "seconds": ("above 0", lambda number: number > 0),
    "shrink_seconds": ("at least 0", lambda number: number >= 0),
    "yielding": ("from 0 to 1", lambda number: 0 <= number <= 1),
}


def real(name: str, given: float) -> float:
    """Return a number that the argument of a name may be.

    Raises
    ------
    TypeError, ValueError
        If it is none, or beyond what the argument may be.
    """
    words, allowed = _ALLOWED[name]
    if isinstance(given, str | bytes | bool) or not hasattr(given, "__float__"):
        raise TypeError(f"{name} must be a number {words}, got {given!r}; fix: {name}=1")
    number = float(given)
    if not allowed(number):
        raise ValueError(f"{name} must be {words}, got {number:g}; fix: {name}=1")
    return number


def of_threads(given: int | tuple[int, int]) -> tuple[int, int]:
    """Return how many threads a program has at least and at most.

    Raises
    ------
    TypeError, ValueError
        If it is neither a whole number nor two of them, the smaller one first.
    """
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2:
        raise TypeError(f"threads must be a whole number or two of them, got {given!r}; fix: threads=(2, 3)")
    fewest, most = (whole("threads", each, 1) for each in pair)
    if fewest > most:
        raise ValueError(f"threads must be at least and at most so many, got {given!r}; fix: threads={(most, fewest)}")
    return fewest, most
