"""The compiled code that puts the verdicts of parts together by history."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.frontier.kernels.configurations import BLOCKED, DONE
from latchfree_lincheck.engine.frontier.kernels.sweep import PLACE, TAKEN
from latchfree_lincheck.engine.monitors.common import OK, UNDECIDED, VIOLATION
from latchfree_lincheck.history.timeline import Ints


@kernel
def fold_parts(
    owner: Ints,
    monitored: Ints,
    swept: Ints,
    notes: Ints,
    index: Ints,
    return_: Ints,
    undecided: npt.NDArray[np.bool_],
    failing: Ints,
    steps: Ints,
    shares: Ints,
) -> None:
    """Write what is known of each history; `shares` counts the parts that the monitor and the frontier decided."""
    for part in range(len(owner)):
        history = owner[part]
        steps[history] += notes[part, TAKEN]
        shares[history, 0 if monitored[part] != UNDECIDED else 1] += 1
        if swept[part] == BLOCKED:
            row = index[notes[part, PLACE]]
            if failing[history] < 0 or return_[row] < return_[failing[history]]:
                failing[history] = row
        elif monitored[part] == VIOLATION or (monitored[part] != OK and swept[part] != DONE):
            undecided[history] = True
