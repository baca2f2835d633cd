"""Judge the parts of many histories in one sweep of the monitor and one of the frontier, and fold them by history.

A history is linearizable if and only if each of its parts is (P-compositionality). It is undecided here if a part is
that neither sweep decided. Of a violation the first operation to return that no order of its part explains is told;
where a monitor found one, the frontier says where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.engine.frontier.kernels.configurations import BLOCKED, DONE
from latchfree_lincheck.engine.frontier.sweep import PLACE, TAKEN, sweep
from latchfree_lincheck.engine.monitors import MONITORS, OK, UNDECIDED, VIOLATION
from latchfree_lincheck.engine.search import Deadline
from latchfree_lincheck.history.timeline import Ints

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Judged:
    """What is known of each history.

    Parameters
    ----------
    undecided : bool[histories]
        Whether a part of it is undecided.
    failing : int64[histories]
        The row of the operation that fails, or `NOWHERE`.
    monitored : bool[histories]
        Whether the monitor decided most parts.
    steps : int64[histories]
        How many steps the frontier took.
    """

    undecided: npt.NDArray[np.bool_]
    failing: Ints
    monitored: npt.NDArray[np.bool_]
    steps: Ints


def decide_many(parts: Parts, owner: Ints, meaning: Meaning, return_: Ints, histories: int, memory: int) -> Judged:
    """Judge histories.

    Parameters
    ----------
    parts, owner : Parts and int64[parts]
        The parts, and the history of each.
    meaning : Meaning
        What the rows mean.
    return_ : int64[n]
        When the caller's operations returned.
    histories, memory : int
        How many there are, and the most bytes of tables.
    """
    monitored, suspects = np.full(len(parts), UNDECIDED), np.full(len(parts), NOWHERE)
    monitor = MONITORS.get(meaning.family)
    if monitor is not None:
        monitor.judge(parts, meaning.first, monitored, suspects)
    swept = np.where(monitored == OK, DONE, -1)
    notes = np.zeros((len(parts), 2), np.int64)
    if meaning.kind == "value" and (swept < 0).any():
        sweep(parts, meaning, swept, np.empty(len(parts.rows), np.int64), notes, memory, Deadline(None))
    return fold(parts, owner, monitored, swept, notes, return_, histories)


def fold(parts: Parts, owner: Ints, monitored: Ints, swept: Ints, notes: Ints, return_: Ints, histories: int) -> Judged:
    """Put the verdicts of parts together by history."""
    undecided = np.zeros(histories, np.bool_)
    failing, steps = np.full(histories, NOWHERE), np.zeros(histories, np.int64)
    shares = np.zeros((histories, 2), np.int64)
    _fold(owner, monitored, swept, notes, parts.index, return_, undecided, failing, steps, shares)
    return Judged(undecided, failing, (shares[:, 0] > 0) & (shares[:, 0] >= shares[:, 1]), steps)


@kernel
def _fold(
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
            if failing[history] == NOWHERE or return_[row] < return_[failing[history]]:
                failing[history] = row
        elif swept[part] != DONE or monitored[part] == VIOLATION:
            undecided[history] = True
