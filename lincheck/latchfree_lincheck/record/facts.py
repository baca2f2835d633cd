"""What is known of a run that has ended: what clients saw, which faults there were, and when."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from latchfree_lincheck.history import History
from latchfree_lincheck.record.entries import Records, operations_of


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a run.

    Parameters
    ----------
    name : str
        Of its history.
    seed : int
        Of its random streams.
    clients : int
        How many there were.
    records : Records
        Calls and faults.
    started, ended : int
        When, in nanoseconds of the machine's monotonic clock.
    missed : tuple of str
        Faults that the run was too short for.
    """

    name: str
    seed: int
    clients: int
    records: Records
    started: int
    ended: int
    missed: tuple[str, ...] = ()

    def history(self, model_hint: str | None = None) -> History:
        """Return what the clients saw; failed calls are left out, lost ones are pending."""
        return History(self.name, operations_of(self.records.calls), model_hint)

    def counts(self) -> dict[str, Counter[str]]:
        """Return, for each operation, how many calls returned, failed and were lost."""
        counts: dict[str, Counter[str]] = {}
        for call in self.records.calls:
            counts.setdefault(call.f, Counter())[call.end] += 1
        return counts
