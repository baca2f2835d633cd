"""Monitors: judges of one kind of object that need no search, because every value is written once.

Each has its theorem in its own file. A monitor reads all parts of a history in one sweep and leaves those it does not
serve undecided. Pending operations of unknown effect are left out unless the theorem covers them: if the rest is
linearizable so is the whole, and if it is not, a part with such operations stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.monitors import flag, map_key, priority_queue, queue, register, stack
from latchfree_lincheck.engine.monitors.common import OK, UNDECIDED, VIOLATION, count_values
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
    """

    name: str
    why: str
    needs: str
    kernel: Callable[..., Any]

    def judge(self, parts: Parts, first: Ints, verdicts: Ints, suspects: Ints) -> None:
        """Judge the parts it serves; of one with a violation, `suspects` gets an operation that is involved.

        `first` is the state each part begins in.
        """
        longest = int(np.diff(parts.event_bounds).max(initial=0))
        self.kernel(
            parts.bounds, parts.event_bounds, parts.events, parts.invoke, parts.return_, parts.rows, first,
            count_values(parts.rows), longest, verdicts, suspects,
        )  # fmt: skip


_DISTINCT: Final = "every value is written at most once"
_AMBIGUOUS: Final = "a value is written twice, or an operation has an unknown result that matters"

_VALUES: Final = {
    "register": register,
    "map": map_key,
    "queue": queue,
    "stack": stack,
    "priority-queue": priority_queue,
}

MONITORS: Final[Mapping[str, Monitor]] = {
    **{
        family: Monitor(f"monitor:{family}", _DISTINCT, _AMBIGUOUS, module.judge_parts)
        for family, module in _VALUES.items()
    },
    **{
        family: Monitor(
            f"monitor:{family}", "each element is there or not", "an operation has no known result", flag.judge_parts
        )
        for family in ("set", "mutex")
    },
}
"""By the family of the model."""
