"""Monitors: judges of one kind of object that need no search, because every value is written once.

Each has its theorem in its own file. A monitor reads all parts of a history in one sweep and leaves those it does not
serve undecided. Pending operations of unknown effect are left out unless the theorem covers them: if the rest is
linearizable so is the whole, and if it is not, a part with such operations stays undecided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.monitors.common import OK, UNDECIDED, VIOLATION
from latchfree_lincheck.history.timeline import Ints

__all__ = ["MONITORS", "OK", "UNDECIDED", "VIOLATION", "Monitor"]


@dataclass(frozen=True, slots=True)
class Monitor:
    """A monitor.

    Parameters
    ----------
    name : str
        As verdicts name it.
    why : str
        Why it could judge, when it did.
    needs : str
        Why it could not, when it did not.
    call : str
        Its name in the engines' border.
    """

    name: str
    why: str
    needs: str
    call: str

    def judge(self, parts: Parts, first: Ints, verdicts: Ints, suspects: Ints) -> None:
        """Judge the parts it serves; of one with a violation, `suspects` gets an operation that is involved.

        `first` is the state each part begins in.
        """
        longest = int(np.diff(parts.event_bounds).max(initial=0))
        getattr(ENGINE, self.call)(
            parts.bounds, parts.event_bounds, parts.events, parts.invoke, parts.return_, parts.rows, first,
            ENGINE.count_values(parts.rows), longest, verdicts, suspects,
        )  # fmt: skip


_DISTINCT: Final = "every value is written at most once"
_AMBIGUOUS: Final = "a value is written twice, or an operation has an unknown result that matters"

MONITORS: Final[Mapping[str, Monitor]] = {
    **{
        family: Monitor(f"monitor:{family}", _DISTINCT, _AMBIGUOUS, f"judge_{family.replace('-', '_')}")
        for family in ("register", "map", "queue", "stack", "priority-queue")
    },
    **{
        family: Monitor(
            f"monitor:{family}", "each element is there or not", "an operation has no known result", "judge_flag"
        )
        for family in ("set", "mutex")
    },
}
"""By the family of the model."""
