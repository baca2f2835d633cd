"""Just-in-time linearization of many parts that each hold one value, in one sweep without Python between them."""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine import frontier_state as k
from latchfree_lincheck.engine.frontier import Tables
from latchfree_lincheck.engine.frontier_kernel import advance
from latchfree_lincheck.engine.frontier_state import DONE, PATH, SLICE, STEPS, WRITTEN, start, write_path
from latchfree_lincheck.engine.opcodes import ABSENT
from latchfree_lincheck.engine.parts import Parts
from latchfree_lincheck.engine.problem import NO_CONTENTS, NOTHING, Meaning
from latchfree_lincheck.engine.search import Deadline
from latchfree_lincheck.engine.timeline import Ints
from latchfree_lincheck.engine.transition import Rows

PATIENCE = 60
"""Steps an operation after which a part is not searched along with many others any more."""


@kernel
def advance_parts(
    progress: Ints,
    verdicts: Ints,
    patience: int,
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
    nodes: Ints,
    slots: Ints,
    size: Ints,
    scratch: Ints,
    steps: int,
) -> bool:
    """Judge parts that hold one value each, one after the other; return whether all are done.

    ``progress`` is (part, whether it has begun); parts with a verdict are left alone. A part gets as its verdict why
    the search of it stopped: DONE with its order in `order`, or SLICE after `patience` steps an operation, or what it
    lacked.
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
        why = advance(
            control, flight, shape, events, event_bounds[part + 1], return_, rows, contents, pieces, owner,
            lost_owner, twins, place, configurations, kept, table, log, order[low:high], nodes, slots, size,
            scratch, uses, steps - spent,
        )  # fmt: skip
        spent += control[STEPS] - before
        if why == SLICE and control[STEPS] < patience * (high - low) + 1000:
            return False
        if why == DONE:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order[low:high], control[WRITTEN])
            for i in range(control[WRITTEN], high - low):
                order[low + i] = -1
        verdicts[part] = why
        progress[0] = part + 1
        progress[1] = 0
        if spent >= steps:
            return bool(progress[0] == len(verdicts))
    return True


def sweep(
    parts: Parts, meaning: Meaning, verdicts: Ints, order: Ints, memory: int, deadline: Deadline, steps: int = 500_000
) -> bool:
    """Judge many parts that each hold one value; return False if the deadline passed.

    A part's verdict becomes DONE with its order in `order`, or BLOCKED, or why it takes more than this. `verdicts` is
    negative for parts to judge.
    """
    tables = Tables(memory, deadline)
    shape = np.array([0, 1, ABSENT])
    progress = np.zeros(2, np.int64)
    place, scratch = np.empty(len(parts.rows), np.int64), np.empty(1, np.int64)
    tables.control[k.GROWTH] = 0
    while not advance_parts(
        progress, verdicts, PATIENCE, parts.bounds, parts.event_bounds, meaning.first,
        tables.control, tables.flight, shape, parts.events, parts.return_, parts.rows, NO_CONTENTS, NOTHING,
        tables.owner, tables.lost_owner, tables.twins, place, tables.configurations, tables.kept, tables.table,
        tables.log, order, tables.nodes, tables.slots, tables.size, scratch, steps,
    ):  # fmt: skip
        if deadline.passed():
            return False
    return True
