"""A step: one atomic access of a run, as a Python object."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Step:
    """One atomic access of a schedule.

    Attributes
    ----------
    thread : int
    kind : str
        The function of `latchfree.atomics`.
    at : int or None
        The word, None for what touches none.
    old, new : int
        What it held before and after.
    site : str
        "file:line".
    call : int
        Index of the operation in the scenario.
    succeeded : bool
        False for a compare-and-swap that failed.
    choice : int
        Under a weak memory model: 0 for the newest value, 1 for the one before, and so on; of a store, its place. Below
        0 for what an execution graph gives.
    """

    thread: int
    kind: str
    at: int | None
    old: int
    new: int
    site: str
    call: int
    succeeded: bool
    choice: int = 0
