"""Decide many histories in the sweeps over all their parts, and fold the verdicts of the parts by history.

A history is linearizable if and only if each of its parts is (P-compositionality). A history stays undecided here if
neither sweep decided one of its parts. Of a violation the first operation to return that no order of its part explains
is told; where a monitor found the violation, the frontier says where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.engine.monitor import MONITORS
from latchfree_lincheck.engine.together import judge_together
from latchfree_lincheck.history.timeline import Ints

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class Decisions:
    """The decisions on many histories, one row a history.

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


def decide_many(parts: Parts, owner: Ints, meaning: Meaning, return_: Ints, histories: int, memory: int) -> Decisions:
    """Decide histories.

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
    monitor = MONITORS.get(meaning.family)
    known = judge_together(parts, meaning, memory, Deadline(None), monitor=monitor, sweeps=True, places=True)
    return fold(parts, owner, known.monitored, known.swept, known.notes, return_, histories)


def fold(
    parts: Parts, owner: Ints, monitored: Ints, swept: Ints, notes: Ints, return_: Ints, histories: int
) -> Decisions:
    """Put the verdicts of parts together by history."""
    undecided = np.zeros(histories, np.bool_)
    failing, steps = np.full(histories, NOWHERE), np.zeros(histories, np.int64)
    shares = np.zeros((histories, 2), np.int64)
    ENGINE.fold_parts(owner, monitored, swept, notes, parts.index, return_, undecided, failing, steps, shares)
    return Decisions(undecided, failing, (shares[:, 0] > 0) & (shares[:, 0] >= shares[:, 1]), steps)
