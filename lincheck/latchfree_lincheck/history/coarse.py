"""Times of a coarse clock, on which a process calls again at the tick of its return, as ranks without ties.

Example: on a clock of milliseconds process 0 writes 1 from 4 to 5 and writes 2 from 5 to 6. The writes took effect in
this order, since a process makes one call at a time. A read of process 1 that is called at 5 overlaps both writes.

Rule: operations of different processes whose times tie overlap. Of one process, the calls come one after the other: by
time, then as they are listed. If several processes call again on one tick, no order of events says both, so this holds
for the process with the most events on that tick (the first of several), and the calls of the others overlap. The rule
weakens the order of real time, so a coarse clock can hide a violation, but never invents one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.history.timeline import Ints


def ranked(
    invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_], process: Sequence[Any]
) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Return times as ranks of all events.

    Parameters
    ----------
    invoke, return_ : int64[n]
        Times; no process is in two calls at once, but for the tick at which one ends and the next begins.
    returned : bool[n]
        Which operations returned.
    process : sequence of n
        Who called.
    """
    starts, ends = invoke.tolist(), return_.tolist()
    mine: defaultdict[Any, list[int]] = defaultdict(list)
    for row, each in enumerate(process):
        mine[each].append(row)
    follows: set[int] = set()
    leads: set[int] = set()
    place: dict[int, int] = {}
    calls: Counter[tuple[int, Any]] = Counter()
    for each, rows in mine.items():
        rows.sort(key=lambda row: (starts[row], ends[row] if returned[row] else float("inf")))
        for order, row in enumerate(rows):
            place[row] = order
            before = rows[order - 1]
            if order and returned[before] and ends[before] == starts[row]:
                follows.add(row)
                leads.add(before)
                calls[starts[row], each] += 1
    kept: dict[int, Any] = {}
    for (tick, each), count in calls.items():
        if tick not in kept or count > calls[tick, kept[tick]]:
            kept[tick] = each
    keys = []
    for row, each in enumerate(process):
        keeps = row in follows and kept[starts[row]] == each
        keys.append((starts[row], 1 if keeps else 0, 2 * place[row] if keeps else 0, 2 * row))
        if returned[row]:
            keeps = row in leads and kept[ends[row]] == each
            keys.append((ends[row], 1 if keeps else 2, 2 * place[row] + 1 if keeps else 0, 2 * row + 1))
    first, last = np.zeros_like(invoke), np.zeros_like(return_)
    for rank, (*_, event) in enumerate(sorted(keys)):
        (last if event & 1 else first)[event >> 1] = rank
    return first, last, returned
