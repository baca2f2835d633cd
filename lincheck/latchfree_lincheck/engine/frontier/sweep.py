"""Just-in-time linearization of many parts that each hold one value, in one sweep without Python between them."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.encoding.parts import Parts
from latchfree_lincheck.engine.encoding.problem import NO_CONTENTS, NOTHING, Meaning
from latchfree_lincheck.engine.frontier.kernels import configurations as k
from latchfree_lincheck.engine.frontier.kernels.advance import advance
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    DONE,
    EVENT,
    PATH,
    SLICE,
    STEPS,
    WRITTEN,
    start,
    write_path,
)
from latchfree_lincheck.engine.frontier.search import Tables
from latchfree_lincheck.engine.search import Deadline
from latchfree_lincheck.history.timeline import Ints

PATIENCE: Final = 60
LEAST: Final = 20_000
"""Steps an operation, and steps on top, after which a part is not searched along with many others any more."""

# The columns of `notes`.
TAKEN: Final = 0
PLACE: Final = 1


@kernel
def advance_parts(
    progress: Ints,
    verdicts: Ints,
    bounds: Ints,
    event_bounds: Ints,
    initial: Ints,
    control: Ints,
    flight: Ints,
    shape: Ints,
    events: Ints,
    return_: Ints,
    rows: Rows,
    contents: Ints,
    pieces: Ints,
    owner: Ints,
    lost_owner: Ints,
    twins: Ints,
    place: Ints,
    configurations: Ints,
    kept: Ints,
    table: Ints,
    log: Ints,
    order: Ints,
    notes: Ints,
    nodes: Ints,
    slots: Ints,
    size: Ints,
    scratch: Ints,
    steps: int,
) -> bool:
    """Judge parts that hold one value each, one after the other; return whether all are done.

    ``progress`` is (part, whether it has begun); parts with a verdict are left alone. A part gets as its verdict why
    the search of it stopped: DONE with its order in `order`, or BLOCKED, or SLICE when it was patient enough, or what
    it lacked. That, and what `notes` gets, does not depend on the other parts.
    """
    spent = 0
    uses = np.zeros(0, np.int64)
    while progress[0] < len(verdicts):
        part = progress[0]
        if verdicts[part] >= 0:
            progress[0] += 1
            continue
        low, high = bounds[part], bounds[part + 1]
        if progress[1] == 0:
            start(control, flight, configurations, initial[part], event_bounds[part])
            progress[1] = 1
        before = control[STEPS]
        most = PATIENCE * (high - low) + LEAST
        why = advance(
            control, flight, shape, events, event_bounds[part + 1], return_, rows, contents, pieces, owner,
            lost_owner, twins, place, configurations, kept, table, log, order[low:high], nodes, slots, size,
            scratch, uses, min(steps - spent, most - before),
        )  # fmt: skip
        spent += control[STEPS] - before
        if why == SLICE and control[STEPS] < most:
            return False
        if why == DONE:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order[low:high], control[WRITTEN])
            for i in range(control[WRITTEN], high - low):
                order[low + i] = -1
        if why == BLOCKED:
            notes[part, PLACE] = events[control[EVENT]] >> 1
        notes[part, TAKEN] = control[STEPS]
        verdicts[part] = why
        progress[0] = part + 1
        progress[1] = 0
        if spent >= steps:
            return bool(progress[0] == len(verdicts))
    return True


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
    """
    tables = Tables(memory, deadline)
    shape = np.array([0, 1, ABSENT])
    progress = np.zeros(2, np.int64)
    place, scratch = np.empty(len(parts.rows), np.int64), np.empty(1, np.int64)
    tables.control[k.GROWTH] = 0
    while not advance_parts(
        progress, verdicts, parts.bounds, parts.event_bounds, meaning.first,
        tables.control, tables.flight, shape, parts.events, parts.return_, parts.rows, NO_CONTENTS, NOTHING,
        tables.owner, tables.lost_owner, tables.twins, place, tables.configurations, tables.kept, tables.table,
        tables.log, order, notes, tables.nodes, tables.slots, tables.size, scratch, steps,
    ):  # fmt: skip
        if deadline.passed():
            return False
    return True
