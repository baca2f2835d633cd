"""Just-in-time linearization of many parts that each hold one value, one after the other."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.states import States
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, EMPTY, KEYS, SHAPE_FIELDS, PartArrays
from latchfree_lincheck.engine.frontier.kernels.advance import advance
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    DONE,
    EVENT,
    PATH,
    SLICE,
    STEPS,
    WRITTEN,
    FrontierArrays,
    start,
    write_path,
)
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
    arrays: FrontierArrays,
    parts: PartArrays,
    states: States,
    place: Ints,
    order: Ints,
    notes: Ints,
    steps: int,
) -> bool:
    """Judge parts that hold one value each, one after the other; return whether all are done.

    ``progress`` is (part, whether it has begun); parts with a verdict are left alone. A part gets as its verdict why
    the search of it stopped: DONE with its order in `order`, or BLOCKED, or SLICE when it was patient enough, or what
    it lacked. That, and what `notes` gets, does not depend on the other parts.
    """
    control, configurations, log = arrays.control, arrays.configurations, arrays.log
    shape, scratch, uses = np.empty(SHAPE_FIELDS, np.int64), np.empty(1, np.int64), np.zeros(0, np.int64)
    shape[DEPTH], shape[KEYS], shape[EMPTY] = 0, 1, ABSENT
    spent = 0
    while progress[0] < len(verdicts):
        part = progress[0]
        if verdicts[part] >= 0:
            progress[0] += 1
            continue
        low, high = bounds[part], bounds[part + 1]
        if progress[1] == 0:
            start(control, arrays.flight, configurations, initial[part], event_bounds[part])
            progress[1] = 1
        before = control[STEPS]
        most = PATIENCE * (high - low) + LEAST
        why = advance(
            arrays, parts, states, shape, place, order[low:high], scratch, uses, event_bounds[part + 1],
            min(steps - spent, most - before),
        )  # fmt: skip
        spent += control[STEPS] - before
        if why == SLICE and control[STEPS] < most:
            return False
        if why == DONE:
            control[WRITTEN] = write_path(log, configurations[0, PATH], order[low:high], control[WRITTEN])
            for i in range(control[WRITTEN], high - low):
                order[low + i] = -1
        if why == BLOCKED:
            notes[part, PLACE] = parts.events[control[EVENT]] >> 1
        notes[part, TAKEN] = control[STEPS]
        verdicts[part] = why
        progress[0] = part + 1
        progress[1] = 0
        if spent >= steps:
            return bool(progress[0] == len(verdicts))
    return True
