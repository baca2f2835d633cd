"""Judge the parts of one history or of many together: one sweep of the monitor, then one of the frontier.

Both sweeps read all parts without Python between them. The monitor judges the parts that it serves. The frontier
searches the other parts that hold one value, for a bounded number of steps each. What is known of a part does not
depend on the other parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.engine.frontier.kernels.sweep import TAKEN
from latchfree_lincheck.engine.frontier.sweep import sweep
from latchfree_lincheck.engine.monitor import UNDECIDED, VIOLATION, Monitor
from latchfree_lincheck.history.timeline import Ints

UNSWEPT = -1
"""As `swept`: the frontier did not look at the part."""


@dataclass(slots=True)
class Together:
    """The results of the two sweeps, one row a part.

    Parameters
    ----------
    monitored : int64[parts]
        OK, VIOLATION or UNDECIDED.
    suspects : int64[parts]
        An operation that is involved in the violation that the monitor found, or -1.
    swept : int64[parts]
        DONE, BLOCKED, why the frontier gave the part up, or UNSWEPT.
    order : int64[n]
        The orders of the parts that are DONE, each closed by -1 where pending operations are left out.
    notes : int64[parts, 2]
        How many steps the frontier took and, of a part that is BLOCKED, the operation that no order explains.
    """

    monitored: Ints
    suspects: Ints
    swept: Ints
    order: Ints
    notes: Ints


def judge_together(
    parts: Parts,
    meaning: Meaning,
    memory: int,
    deadline: Deadline,
    *,
    monitor: Monitor | None,
    sweeps: bool,
    places: bool,
) -> Together:
    """Judge parts.

    Parameters
    ----------
    parts, meaning : Parts and Meaning
        The parts, and what their rows mean.
    memory : int
        The most bytes of tables.
    deadline : Deadline
        When the sweep of the frontier ends. Its steps are counted there.
    monitor : Monitor or None
        The monitor of the model.
    sweeps : bool
        Whether the frontier sweeps the parts that the monitor leaves undecided.
    places : bool
        Whether the frontier also sweeps the parts of which the monitor found a violation, to tell where it is.
    """
    count = len(parts)
    known = Together(
        np.full(count, UNDECIDED),
        np.full(count, -1),
        np.full(count, UNSWEPT),
        np.zeros(0, np.int64),
        np.zeros((count, 2), np.int64),
    )
    if monitor is not None:
        deadline.require(monitor.call)
        monitor.judge(parts, meaning.first, known.monitored, known.suspects)
        known.monitored[list(meaning.initial)] = UNDECIDED
    if not sweeps or meaning.kind != "value":
        return known
    wanted = known.monitored == UNDECIDED
    if places:
        wanted |= known.monitored == VIOLATION
    wanted[list(meaning.initial)] = False
    if wanted.any():
        deadline.require("advance_parts")
        known.order = np.empty(len(parts.rows), np.int64)
        verdicts = np.where(wanted, UNSWEPT, 0)
        sweep(parts, meaning, verdicts, known.order, known.notes, memory, deadline)
        known.swept[wanted] = verdicts[wanted]
        deadline.spend(int(known.notes[:, TAKEN].sum()))
    return known
