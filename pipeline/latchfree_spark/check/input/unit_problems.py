"""What is wrong in one unit, gathered while it is read, and sent on as rows.

Two kinds. A malformed operation whose history is known is a problem of that history: the first of each history is
told, others add nothing. A line of nobody is a problem of the file: no one knows whose operation is missing, so *each*
history with a row in the file must become an error. Its rows may be in any unit and any chunk. So each chunk is sent
one row that says "file 7 is damaged", which sorts before all histories of the file's source; nobody reads the file for
names again.

Problems of the file are named up to `NAMED` in a unit, then counted. A file of nothing but malformed lines takes memory
for a hundred texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from latchfree_spark.check.input.inputs import Unit
from latchfree_spark.check.input.places import NAMED, more
from latchfree_spark.check.tables import Problem, problems

AT_ONCE: Final = 4096
"""Histories with a problem that are kept at a time."""


class UnitProblems:
    """The problems of one unit.

    Parameters
    ----------
    unit : Unit
        What is read.
    path : str
        The unit's file.
    chunks : int
        How many chunks the job has.
    """

    def __init__(self, unit: Unit, path: str, chunks: int) -> None:
        self._unit = unit
        self._path = path
        self._chunks = chunks
        self._of_file: list[tuple[int, str]] = []
        self._more = 0
        self._histories: dict[str, tuple[int, str]] = {}

    def knows(self, history: str) -> bool:
        """Return whether the history has a problem already, of those that are not sent yet."""
        return history in self._histories

    def of_history(self, history: str, place: int, text: str) -> None:
        """Note a problem of a history."""
        self._histories.setdefault(history, (place, text))

    def of_file(self, place: int, text: str, count: int = 1) -> None:
        """Note a problem of the file, of which there are `count`."""
        if len(self._of_file) < NAMED:
            self._of_file.append((place, text))
            count -= 1
        self._more += count

    def passing(self) -> Iterator[Any]:
        """Yield the problems of histories, if they have become many."""
        if len(self._histories) >= AT_ONCE:
            yield self._send(self._take())

    def rest(self) -> Iterator[Any]:
        """Yield all that was not sent yet, at the end of the unit."""
        if self._histories:
            yield self._send(self._take())
        if self._of_file:
            yield self._send(self._damage())

    def _take(self) -> list[Problem]:
        taken = [Problem(place, history, text) for history, (place, text) in self._histories.items()]
        self._histories = {}
        return taken

    def _damage(self) -> Iterator[Problem]:
        for place, text in self._of_file:
            yield Problem(place, None, text)
        place, text = self._of_file[0]
        if self._more:
            yield Problem(place, None, more(self._path, self._of_file[-1][0], self._more))
        for chunk in range(self._chunks):
            yield Problem(place, None, text, chunk)

    def _send(self, rows: Iterable[Problem]) -> Any:
        return problems(self._unit.file, self._unit.source, list(rows))
