"""The interface that all searches of one part share."""

from __future__ import annotations

from typing import Protocol

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.encoding.problem import Problem
from latchfree_lincheck.engine.outcome import Slices


class Searcher(Protocol):
    """A search for an order of one part.

    Attributes
    ----------
    name : str
        As verdicts name it.
    tells_order : bool
        Whether an answer "linearizable" comes with an order.
    calls : tuple of str
        What it calls, by name in the engines' border, that takes long to compile.
    """

    @property
    def name(self) -> str:
        """The name, as verdicts tell it."""
        ...

    @property
    def tells_order(self) -> bool:
        """Whether an answer "linearizable" comes with an order."""
        ...

    @property
    def calls(self) -> tuple[str, ...]:
        """What it calls that takes long to compile."""
        ...

    def accepts(self, problem: Problem, memory: int) -> bool:
        """Return whether it can search this part within so many bytes."""
        ...

    def start(self, problem: Problem, memory: int, deadline: Deadline) -> Slices:
        """Begin a search; the caller looks at the clock between two slices of it."""
        ...
