"""Times as ranks: what a search needs to know about real time, and nothing else.

Operations that returned are numbered 0 .. n-1 by invocation, pending ones n .. n+m-1 by invocation. All their
events are ranked by time, invocations first where times tie, so ranks are distinct and ties count as overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

int64: Any = np.int64
"""A 64-bit integer for compiled code, where mypy would tell it from an int."""


NEVER_RETURNS: Final = 1 << 62
"""The rank of a return that never came: later than every event."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """The real-time order of a history, or of one part of it.

    Parameters
    ----------
    index : int64[n + m]
        The caller's index of each operation.
    invoke, return_ : int64[n]
        Ranks of the operations that returned.
    pending : int64[m]
        Ranks of the invocations that never returned.
    """

    index: Ints
    invoke: Ints
    return_: Ints
    pending: Ints

    @classmethod
    def of(cls, invoke: Ints, return_: Ints, returned: npt.NDArray[np.bool_]) -> Timeline:
        """Rank the times of operations; where `returned` is false, `return_` is not looked at."""
        done = np.flatnonzero(returned)
        lost = np.flatnonzero(~returned)
        n, m = len(done), len(lost)
        times = np.concatenate([invoke[done], return_[done], invoke[lost]])
        is_return = np.zeros(len(times), np.int8)
        is_return[n : 2 * n] = 1
        rank = np.empty(len(times), np.int64)
        rank[np.lexsort((is_return, times))] = np.arange(len(times))
        done_order = np.argsort(rank[:n])
        lost_order = np.argsort(rank[2 * n :])
        return cls(
            index=np.concatenate([done[done_order], lost[lost_order]]),
            invoke=rank[:n][done_order],
            return_=rank[n : 2 * n][done_order],
            pending=rank[2 * n : 2 * n + m][lost_order],
        )

    def split(self, part: Ints) -> list[Timeline]:
        """Return one timeline per part, for operations that `part` (by caller's index) numbers 0, 1, ..."""
        n = len(self.invoke)
        labels = part[self.index]
        parts = int(labels.max(initial=-1)) + 1
        done, lost = np.argsort(labels[:n], kind="stable"), np.argsort(labels[n:], kind="stable")
        done_at = np.searchsorted(labels[:n][done], np.arange(parts + 1))
        lost_at = np.searchsorted(labels[n:][lost], np.arange(parts + 1))
        result = []
        for number in range(parts):
            mine = done[done_at[number] : done_at[number + 1]]
            crashed = lost[lost_at[number] : lost_at[number + 1]]
            index = np.concatenate([self.index[:n][mine], self.index[n:][crashed]])
            result.append(Timeline(index, self.invoke[mine], self.return_[mine], self.pending[crashed]))
        return result

    def cuts(self, length: int, low: int = 0) -> list[int]:
        """Return quiescent points low = c0 < c1 < ... = n, at least `length` operations apart but for the last.

        At a cut c, every operation below c has returned before any from c on is invoked. Pending operations do
        not count: they are carried across cuts.
        """
        n = len(self.invoke)
        if low >= n:
            return [low]
        latest = np.maximum.accumulate(self.return_)
        quiet = np.flatnonzero(latest[:-1] < self.invoke[1:]) + 1
        chosen = [low]
        while (at := int(np.searchsorted(quiet, chosen[-1] + length))) < len(quiet):
            chosen.append(int(quiet[at]))
        return [*chosen, n]

    def overlap(self) -> int:
        """Return a bound on how many operations are in flight at once."""
        if len(self.invoke) == 0:
            return 1
        before = np.searchsorted(np.sort(self.return_), self.invoke)
        return int((np.arange(len(self.invoke)) - before).max()) + 1
