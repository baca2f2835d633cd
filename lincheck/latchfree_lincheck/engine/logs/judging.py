"""Calls of one history judged as `latchfree_lincheck.check` judges them: by a monitor, then just in time.

Invariant: the answer, the engine, the failing call and the longest order are those of the plan "auto". What that plan
leaves to searches in competition is unusual here, but for the place of a violation, which the first turn finds.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.engine.compiled_models.states import States
from latchfree_lincheck.engine.compiled_models.transition import DEPTH, EMPTY, KEYS, PartArrays, Rows, judge
from latchfree_lincheck.engine.encoding.kernels import group
from latchfree_lincheck.engine.frontier.kernels.advance import advance
from latchfree_lincheck.engine.frontier.kernels.configurations import (
    BLOCKED,
    DONE,
    EVENT,
    FILLED,
    STEPS,
    WRITTEN,
    FrontierArrays,
    longest,
    start,
    write_path,
)
from latchfree_lincheck.engine.frontier.kernels.sweep import LEAST, PATIENCE
from latchfree_lincheck.engine.logs.frontiers import cleared
from latchfree_lincheck.engine.logs.functions import CAS_REGISTER, MAP, MUTEX, QUEUE, REGISTER, SET, STACK
from latchfree_lincheck.engine.logs.lines import OK, RETURN, UNUSUAL, VIOLATION, Bytes
from latchfree_lincheck.engine.logs.register import CONFIGURATIONS, LOG, TURN
from latchfree_lincheck.engine.logs.rows import fill_rows, find_functions, has_keys, number_parts
from latchfree_lincheck.engine.logs.times import copy, one_at_a_time, order_events
from latchfree_lincheck.engine.logs.told import HELD, LEGAL, MODEL, MONITORED, OPERATIONS, PARTIAL, tell_running
from latchfree_lincheck.engine.monitors import common as monitors
from latchfree_lincheck.engine.monitors import flag, map_key, queue, register, stack
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints

#: A model's monitor is never asked.
NO_MONITOR: Final = CAS_REGISTER

_judge_register = register.judge_parts
_judge_map = map_key.judge_parts
_judge_queue = queue.judge_parts
_judge_stack = stack.judge_parts
_judge_flag = flag.judge_parts


@kernel
def monitor(
    model: int,
    bounds: Ints,
    event_bounds: Ints,
    events: Ints,
    first: Ints,
    last: Ints,
    rows: Rows,
    values: int,
    verdicts: Ints,
) -> None:
    """Let the monitor of a model judge the parts; see `engine.monitor.Monitor.judge`."""
    count = len(verdicts)
    initial, suspects = np.full(count, ABSENT), np.full(count, -1)
    verdicts[:] = monitors.UNDECIDED
    size = 0
    for part in range(count):
        size = max(size, event_bounds[part + 1] - event_bounds[part])
    if model == REGISTER:
        _judge_register(bounds, event_bounds, events, first, last, rows, initial, values, size, verdicts, suspects)
    elif model == MAP:
        _judge_map(bounds, event_bounds, events, first, last, rows, initial, values, size, verdicts, suspects)
    elif model == QUEUE:
        _judge_queue(bounds, event_bounds, events, first, last, rows, initial, values, size, verdicts, suspects)
    elif model == STACK:
        _judge_stack(bounds, event_bounds, events, first, last, rows, initial, values, size, verdicts, suspects)
    elif model in (SET, MUTEX):
        _judge_flag(bounds, event_bounds, events, first, last, rows, initial, values, size, verdicts, suspects)


@kernel
def judge_calls(
    text: Bytes, told: Ints, given: FrontierArrays, calls: Ints, count: int, model: int, rows: Rows, work: Ints
) -> int:
    """Judge the first calls of a table; return OK, VIOLATION or UNUSUAL.

    Parameters
    ----------
    text : uint8[n]
        The bytes that the tokens of the calls are of.
    told : int64[TOLD]
        Receives what is told, see `told`. What the register or the key holds is the token of a value; where values are
        none, in sets and mutexes, 0 for present or held, and -1 for nothing.
    given, calls, count, rows, work : FrontierArrays, int64[m, COLUMNS], int, int32[2 * m, 5] and int64[5 * m + 8]
        Memory, of which the first `count` calls are filled.
    model : int
        The number of the model.
    """
    if count == 0 or 2 * count > len(rows) or 5 * count + 8 > len(work):
        return UNUSUAL
    keyed = has_keys(model)
    if not find_functions(text, calls, count, model):
        return UNUSUAL
    place, order = work[2 * count : 3 * count], work[3 * count : 4 * count]
    last, shape, size, scratch, none = work[4 * count : 5 * count], work[-3:], work[-4:-3], work[-5:-4], work[:0]
    ordered = np.empty(2 * count, np.int64)
    events = ordered[: order_events(calls, count, ordered, work[: 2 * count])]
    if not one_at_a_time(text, calls, count, events):
        return UNUSUAL
    part, values = np.empty(count, np.int64), np.empty(3 * count, np.int64)
    parts = number_parts(text, calls, count, keyed, part)
    known = fill_rows(text, calls, count, keyed, rows[count : 2 * count], values)
    if known < 0:
        return UNUSUAL
    bounds, event_bounds = np.zeros(parts + 1, np.int64), np.zeros(parts + 1, np.int64)
    index, first = np.empty(count, np.int64), np.empty(count, np.int64)
    mine, filled = work[: len(events)], rows[:count]
    last[:] = NEVER_RETURNS
    group(events, part, rows[count : 2 * count], bounds, event_bounds, index, first, last, mine, filled)
    verdicts = np.empty(parts, np.int64)
    monitor(model, bounds, event_bounds, mine, first, last, filled, known + 2, verdicts)
    shape[DEPTH], shape[KEYS], shape[EMPTY], size[0] = 0, 1, ABSENT, 0
    frontier = cleared(given, CONFIGURATIONS, LOG)
    control = frontier.control
    arrays = PartArrays(mine, last, filled, given.kept[:0], none)
    states = States(given.kept[:1], none, size)
    worst_order = np.empty(count, np.int64)
    worst, worst_part, failing, partial = -1, -1, -1, 0
    monitored = 0
    for each in range(parts):
        verdict = verdicts[each]
        monitored += verdict != monitors.UNDECIDED
        if verdict == monitors.OK:
            continue
        if model in (QUEUE, STACK):
            return UNUSUAL
        low, high = bounds[each], bounds[each + 1]
        most = PATIENCE * (high - low) + LEAST if verdict == monitors.UNDECIDED else TURN
        start(control, frontier.flight, frontier.configurations, ABSENT, event_bounds[each])
        mine_order = order[low:high]
        why = advance(
            frontier, arrays, states, shape, place, mine_order, scratch, none, event_bounds[each + 1], most
        )  # fmt: skip
        if why == DONE and verdict == monitors.UNDECIDED:
            continue
        if why != BLOCKED or control[STEPS] >= TURN:
            return UNUSUAL
        number = mine[control[EVENT]] >> 1
        if worst < 0 or calls[index[number], RETURN] < calls[worst, RETURN]:
            worst, worst_part, failing = index[number], each, number
            path = longest(frontier.configurations, control[FILLED], frontier.log)
            partial = write_path(frontier.log, path, mine_order, control[WRITTEN])
            copy(mine_order, worst_order, 0, partial)
    told[OPERATIONS], told[MODEL] = count, model
    told[MONITORED] = model != NO_MONITOR and monitored > 0 and 2 * monitored >= parts
    if worst < 0:
        return OK
    held = ABSENT
    for at in range(partial):
        legal, value = judge(states.nodes, shape, filled, worst_order[at], held)
        held = int(value) if legal else held
    allowed, _ = judge(states.nodes, shape, filled, failing, held)
    told[PARTIAL], told[LEGAL] = partial, allowed
    told[HELD] = held if held < 0 or model in (SET, MUTEX) else values[held]
    tell_running(calls, index[bounds[worst_part] : bounds[worst_part + 1]], worst, told)
    return VIOLATION
