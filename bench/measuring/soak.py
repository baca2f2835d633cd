"""Figures that have a limit, as the long-running benchmarks print them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Figure(NamedTuple):
    """What was found, and at most how much was asked for."""

    what: str
    found: float
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.found <= self.limit


def show(figures: Iterable[Figure]) -> int:
    """Print each figure beside its limit; returns the exit code, 1 if one was missed."""
    code = 0
    for figure in figures:
        verdict = "met" if figure.met else "missed"
        found, limit = (f"{number:,.2f}".rstrip("0").rstrip(".") for number in (figure.found, figure.limit))
        print(f"{figure.what:<52}{found:>12} {figure.unit:<6} asked <= {limit:<8} {verdict}")
        code = code if figure.met else 1
    return code
