"""The answer of a search of one part, and how a search is run to its end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, GaveUp
from latchfree_lincheck.history.timeline import Ints


@dataclass(frozen=True, slots=True)
class Origin:
    """A quiescent point before a violation at which only one configuration was possible.

    Parameters
    ----------
    contents : int64[keys]
        The values then.
    later : int64[...]
        Operations (the caller's indices) that had not taken effect then.
    ordered : int
        How many operations of the outcome's order had.
    """

    contents: Any
    later: Ints
    ordered: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for a whole part: an order; or where it is blocked; or why the search gave up.

    Operations are the caller's indices. Unless `ordered`, there is an order that the search did not find.
    """

    order: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    blocked: int | None = None
    gave_up: GaveUp = ""
    origin: Origin | None = None
    ordered: bool = True


Slices = Generator[None, None, Outcome]
"""A search that can be left between two slices of its work."""


def finish(slices: Slices, deadline: Deadline) -> Outcome:
    """Run one search to its end, or to the deadline."""
    while not deadline.passed():
        try:
            next(slices)
        except StopIteration as stop:
            outcome: Outcome = stop.value
            return outcome
    return Outcome(gave_up="timeout")
