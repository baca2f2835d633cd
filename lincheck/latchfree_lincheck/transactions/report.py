"""What was found in a history of transactions, and what it means."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from latchfree_lincheck.transactions.anomaly import CYCLES, MEANINGS, SUFFIXES, Anomaly
from latchfree_lincheck.transactions.levels import LEVELS, forbidden_by, ruled_out, strongest, weakest
from latchfree_lincheck.transactions.page import page
from latchfree_lincheck.transactions.transaction import Kind, Transaction

_SEVERITY: Final = [name for name in MEANINGS if name not in CYCLES] + [
    family + suffix for suffix in SUFFIXES for family in CYCLES
]


@dataclass(frozen=True)
class TransactionReport:
    """The judgement on a history of transactions.

    Parameters
    ----------
    transactions : tuple of Transaction
        The history.
    kind : "list-append" or "rw-register"
        What its keys hold.
    level : str
        The level of isolation that was asked for.
    anomalies : tuple of Anomaly
        All that were found. Of cycles, one of each class for each strongly connected component, unless a class that
        implies it was found there.
    """

    transactions: tuple[Transaction, ...] = field(repr=False)
    kind: Kind
    level: str
    anomalies: tuple[Anomaly, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the anomalies: first those that are no cycles, then cycles, the worst first."""
        found = {anomaly.name for anomaly in self.anomalies}
        return tuple(name for name in _SEVERITY if name in found)

    @cached_property
    def verdict(self) -> Literal["ok", "violation", "nothing"]:
        """Whether an anomaly breaks the level that was asked for; ``nothing`` if nothing committed."""
        if not forbidden_by(self.level).isdisjoint(self.names):
            return "violation"
        return "ok" if any(each.type == "ok" and each.operations for each in self.transactions) else "nothing"

    @cached_property
    def not_levels(self) -> tuple[str, ...]:
        """The weakest levels that are ruled out: all that are stronger are ruled out, too (`also_not`)."""
        return weakest(ruled_out(self.names)) if self.names else ()

    @cached_property
    def also_not(self) -> tuple[str, ...]:
        """The other levels that are ruled out."""
        out = ruled_out(self.names)
        return tuple(level for level in LEVELS if level in out and level not in self.not_levels)

    @cached_property
    def strongest(self) -> tuple[str, ...]:
        """The strongest levels that are not ruled out. Several, if none of them is stronger than another."""
        if not self.names:
            return ("strict-serializable",)
        out = ruled_out(self.names)
        return strongest(level for level in LEVELS if level not in out)

    def breaking(self) -> list[Anomaly]:
        """Return the anomalies that break the level that was asked for."""
        forbidden = forbidden_by(self.level)
        return [anomaly for anomaly in self.anomalies if anomaly.name in forbidden]

    def explain(self, each: int = 1) -> str:
        """Return the judgement as text for people.

        Parameters
        ----------
        each : int
            How many anomalies of each name to tell; how many there are is always said.
        """
        count = Counter(anomaly.name for anomaly in self.anomalies)
        size = f"{len(self.transactions):,} transactions, {self.kind}"
        if self.verdict == "nothing":
            return f"nothing was checked: no transaction committed ({size})"
        if not self.names:
            return f"ok: no anomaly; {self.level} is not ruled out ({size})"
        forbidden = forbidden_by(self.level)
        breaking = [name for name in self.names if name in forbidden]
        named = ", ".join(f"{name} ({count[name]})" if count[name] > 1 else name for name in breaking or self.names)
        head = f"violation: not {self.level}: {named}" if breaking else f"ok: {self.level} allows {named}"
        lines = [f"{head} ({size})"]
        lines.append(f"  ruled out: {', '.join(self.not_levels) or 'nothing'}, and all that is stronger")
        lines.append(f"  not ruled out: {', '.join(self.strongest) or 'nothing'}, and all that is weaker")
        for name in self.names:
            for anomaly in [one for one in self.anomalies if one.name == name][:each]:
                lines.append(anomaly.explain(self.transactions))
        return "\n".join(lines)

    def html(self, title: str = "transactions") -> str:
        """Return the judgement as one HTML page with a picture of each anomaly; the page needs no network.

        Parameters
        ----------
        title : str
            What the history is called.
        """
        ordered = sorted(self.anomalies, key=lambda anomaly: _SEVERITY.index(anomaly.name))
        head = self.explain(each=0).split("\n")[0]
        out = {*self.not_levels, *self.also_not}
        return page(title, head, self.verdict, out, ordered, self.transactions)
