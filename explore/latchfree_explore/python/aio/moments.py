"""Readings of a loop's clock, which know where they come from.

Two deadlines are one moment if both are the same reading of the clock plus the same delay. Numbers that are equal by
chance are not: code takes time between two readings, though virtual time stands still.
"""

from __future__ import annotations

from typing import Any


class Moment(float):
    """A reading of the clock, or one with a delay added.

    Attributes
    ----------
    reading : object
        The same one for all that comes from one reading.
    """

    reading: object

    def __add__(self, other: Any) -> Any:
        return _of(self, float.__add__(self, other), other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _of(self, float.__sub__(self, other), other)


def read(now: float) -> Moment:
    """Return a new reading of the clock."""
    moment = Moment(now)
    moment.reading = object()
    return moment


def same(one: float, other: float) -> bool:
    """Return whether two deadlines are one moment."""
    if one is other:
        return True
    return isinstance(one, Moment) and isinstance(other, Moment) and one == other and one.reading is other.reading


def _of(moment: Moment, number: Any, other: Any) -> Any:
    if number is NotImplemented or isinstance(other, Moment):
        return number  # a difference of two readings is a delay
    made = Moment(number)
    made.reading = moment.reading
    return made
