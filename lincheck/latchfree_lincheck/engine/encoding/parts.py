"""A history as events of independent parts: the columns every compiled engine and monitor reads.

Operations are grouped by part and ordered by invocation within it, whether they returned or not. Each part has its
own events, in order of time, invocations first where times tie, so that ties count as overlap. The *rank* of an
event is its place among the events of its part: ranks are dense and distinct.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.history.timeline import NEVER_RETURNS, Ints, Timeline


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a history.

    Parameters
    ----------
    index : int64[n]
        The caller's index of each operation.
    bounds : int64[parts + 1]
        Operations ``bounds[p]`` up to ``bounds[p + 1]`` belong to part p.
    invoke, return_ : int64[n]
        The ranks of each operation's events within its part; `NEVER_RETURNS` for a return that never came.
    events : int64[e]
        ``2 * operation`` for an invocation, one more for a return.
    event_bounds : int64[parts + 1]
        The events of each part.
    rows : int32[n, 5]
        What the operations did; see `opcodes`.
    """

    index: Ints
    bounds: Ints
    invoke: Ints
    return_: Ints
    events: Ints
    event_bounds: Ints
    rows: Rows

    @classmethod
    def of(cls, part: Ints, events: Ints, rows: Rows, count: int) -> Parts:
        """Group operations by `part`, a number below `count`; `events` is from `order_events`."""
        n = len(part)
        bounds, event_bounds = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
        index, first, last = np.empty(n, np.int64), np.empty(n, np.int64), np.full(n, NEVER_RETURNS)
        mine, grouped = np.empty(len(events), np.int64), np.empty((n, 5), np.int32)
        ENGINE.group(events, part, rows, bounds, event_bounds, index, first, last, mine, grouped)
        return cls(index, bounds, first, last, mine, event_bounds, grouped)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def timeline(self, part: int) -> Timeline:
        """Return one part as a timeline: operations that returned first, then pending ones."""
        low, high = int(self.bounds[part]), int(self.bounds[part + 1])
        invoke, return_ = self.invoke[low:high], self.return_[low:high]
        done = return_ != NEVER_RETURNS
        index = self.index[low:high]
        return Timeline(np.concatenate([index[done], index[~done]]), invoke[done], return_[done], invoke[~done])

    def positions(self, part: int) -> Ints:
        """Return, by the numbers of the part's timeline, the operations of the part."""
        low, high = int(self.bounds[part]), int(self.bounds[part + 1])
        done = self.return_[low:high] != NEVER_RETURNS
        return low + np.concatenate([np.flatnonzero(done), np.flatnonzero(~done)])
