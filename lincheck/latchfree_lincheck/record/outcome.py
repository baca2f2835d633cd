"""What came of a run: its verdict, and the files to look at."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latchfree_lincheck.record.facts import Facts
from latchfree_model import Model

if TYPE_CHECKING:  # a client that is a process need not load what judges
    from latchfree_lincheck.checking.verdict import Verdict


class Run(Facts):
    """A run that has ended: its facts, which can be judged and saved."""

    __slots__ = ()

    def check(self, model: str | Model[Any], *, timeout: float | None = None) -> Verdict:
        """Judge the history; see `latchfree_lincheck.check`.

        A run in which no call returned has nothing to judge.

        Raises
        ------
        ValueError
            If no call returned, or the model does not have a call.
        """
        from latchfree_lincheck.checking.checker import check

        self._judgeable()
        return check(self.history(), model, timeout=timeout)

    def save(self, folder: str | os.PathLike[str], model: str | Model[Any], *, timeout: float | None = None) -> Verdict:
        """Judge the history and write three files; return the verdict.

        ``report.html`` has throughput and faults over time and the verdict, ``history.html`` the history as
        `latchfree show` draws it, ``history.jsonl`` the history for `latchfree check`.

        Parameters
        ----------
        folder : path-like
            Made if it is not there; files of these names are replaced.
        model : str or Model
            What to judge against.
        timeout : float, optional
            Seconds after which the verdict is "unknown".

        Raises
        ------
        ValueError
            As `check`.
        OSError
            If a file cannot be written.
        """
        from latchfree_lincheck.formats import write_history
        from latchfree_lincheck.record.report import report_page
        from latchfree_lincheck.show import judge_parts, page, save

        self._judgeable()
        folder = Path(folder)
        history = self.history(model if isinstance(model, str) else model.name)
        judged = judge_parts(history, model, timeout=timeout, source="history.jsonl")
        folder.mkdir(parents=True, exist_ok=True)
        write_history(folder / "history.jsonl", [history])
        save(folder / "history.html", page([judged]))
        save(folder / "report.html", report_page(self, judged))
        return judged.verdict

    def _judgeable(self) -> None:
        if not any(call.end == "return" for call in self.records.calls):
            errors = Counter(call.error for call in self.records.calls if call.error).most_common(1)
            why = f"; the most frequent error was {errors[0][0]}" if errors else ""
            raise ValueError(f"{self.name}: no call returned, so there is nothing to judge{why}")
