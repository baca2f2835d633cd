"""What one run on a table of verdicts did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

LISTED: Final = 1000
"""Rows of a list in the summary, at most; the table has all."""

SLOWEST: Final = 20


@dataclass(frozen=True)
class Run:
    """What one run of a job did.

    Parameters
    ----------
    out, date : str
        Where the table of verdicts is, and the part of it that this run wrote.
    histories : int
        How many there are in the input.
    known : int
        How many of them the table had already.
    operations : int
        Of the histories that were judged.
    verdicts : dict of str to int
        Histories that were judged, by verdict.
    problems : tuple of str
        What cannot be read, at most `LISTED`.
    failing, unknown : tuple of dict
        Rows of the table, at most `LISTED`; ``replay`` in the row of a failing history is a command, if `page` has the
        history.
    slowest : tuple of dict
        Rows of the table, at most `SLOWEST`.
    page : str
        Where the page about this run is, "" if there is none.
    seconds : float
    warnings : tuple of str
        What is no problem of the histories: a page that could not be written.
    """

    out: str
    date: str
    histories: int
    known: int
    operations: int
    verdicts: dict[str, int]
    problems: tuple[str, ...]
    failing: tuple[dict[str, Any], ...]
    unknown: tuple[dict[str, Any], ...]
    slowest: tuple[dict[str, Any], ...]
    page: str
    seconds: float
    warnings: tuple[str, ...] = ()
