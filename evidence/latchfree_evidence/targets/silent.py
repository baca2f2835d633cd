"""Targets some of whose operations their model knows nothing of, such as one that advances the epoch."""

from __future__ import annotations

from dataclasses import dataclass

from latchfree_explore.target import Target
from latchfree_lincheck.history import History


@dataclass(frozen=True)
class SilentTarget(Target):
    """A target with operations that are run, and not judged.

    Parameters
    ----------
    silent : frozenset of str
        Their names.
    """

    silent: frozenset[str] = frozenset()

    def judged(self, history: History) -> History:
        """Return the operations that the model knows."""
        return History(history.name, [each for each in history.operations if each.f not in self.silent])
