"""Just-in-time linearization of many parts that each hold one value, in one sweep without Python between them."""

from __future__ import annotations

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.bounds import Deadline
from latchfree_lincheck.engine.compiled_models.transition import PartArrays
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import NO_CONTENTS, NOTHING, Meaning
from latchfree_lincheck.engine.frontier.kernels.configurations import GROWTH
from latchfree_lincheck.engine.frontier.search import Tables
from latchfree_lincheck.history.timeline import Ints


def sweep(
    parts: Parts,
    meaning: Meaning,
    verdicts: Ints,
    order: Ints,
    notes: Ints,
    memory: int,
    deadline: Deadline,
    steps: int = 500_000,
) -> bool:
    """Judge many parts that each hold one value; return False if the deadline passed.

    Parameters
    ----------
    parts, meaning : Parts and Meaning
        The parts.
    verdicts : int64[parts]
        Negative for parts to judge. Receives DONE, BLOCKED, or why a part takes more than this.
    order : int64[n]
        Receives the orders of the parts that are DONE, each closed by -1 where pending operations are left out.
    notes : int64[parts, 2]
        Receives how many steps each part took and, if it is BLOCKED, the first operation that no order explains.
    memory : int
        The most bytes that tables may take.
    deadline : Deadline
        Looked at between slices of `steps` steps.
    steps : int
        Steps of a slice.
    """
    tables = Tables(memory, deadline)
    progress = np.zeros(2, np.int64)
    place = np.empty(len(parts.rows), np.int64)
    tables.control[GROWTH] = 0
    arrays, states = tables.arrays(), tables.states()
    mine = PartArrays(parts.events, parts.return_, parts.rows, NO_CONTENTS, NOTHING)
    while not ENGINE.advance_parts(
        progress, verdicts, parts.bounds, parts.event_bounds, meaning.first, arrays, mine, states, place, order, notes,
        steps,
    ):  # fmt: skip
        if deadline.passed():
            return False
    return True
