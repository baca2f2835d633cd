"""Weak queues: a get may return "empty" while a put is under way, and a put may return "full" while a get is.

Example: ``enqueue(1)`` runs from 0 to 9, and ``dequeue()`` runs from 3 to 4 and returns None. A weak queue may do that
even if it holds another item: the put that is under way excuses the refusal.

A refused operation has no effect, so it may take effect at any instant between its call and its return. If an operation
of the other kind is under way at one of these instants, the refusal is *excused*. Any other refusal must be true. So a
history is one of a weak queue if and only if it is one of a strict queue without the excused refusals (module
SequentialQueue of the specification, WeakOutcomes).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Final

from latchfree_lincheck.history import History, Operation

_REFUSED: Final = {"enqueue": False, "dequeue": None}
_OTHER: Final = {"enqueue": "dequeue", "dequeue": "enqueue"}
_FOREVER: Final = 1 << 63


def without_excused(history: History) -> History:
    """Leave out the refusals that a weak queue is excused for.

    Parameters
    ----------
    history : History
        Of one queue: ``enqueue(x)`` returns whether there was room, ``dequeue()`` the oldest item, or None.

    Returns
    -------
    History
        The operations that a strict queue must explain.

    Examples
    --------
    >>> first = Operation(0, "enqueue", (1,), True, 0, 9)
    >>> other = [Operation(1, "enqueue", (2,), True, 1, 2), Operation(1, "dequeue", (), None, 3, 4)]
    >>> len(without_excused(History("h", [first, *other]))), len(without_excused(History("h", other)))
    (2, 2)
    """
    spans = {f: _Spans(each for each in history.operations if each.f == f) for f in _OTHER}

    def excused(each: Operation) -> bool:
        if each.f not in _OTHER or each.return_ is None or each.result is not _REFUSED[each.f]:
            return False
        return spans[_OTHER[each.f]].meet(each.invoke, each.return_)

    return History(history.name, [each for each in history.operations if not excused(each)], history.model_hint)


class _Spans:
    """The times at which operations were under way."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        rows = sorted((each.invoke, _FOREVER if each.return_ is None else each.return_) for each in operations)
        self._begun = [begin for begin, _ in rows]
        self._ended_last = list(accumulate((end for _, end in rows), max))

    def meet(self, begin: int, end: int) -> bool:
        """Return whether an operation was under way at some time from `begin` to `end`."""
        earlier = bisect_right(self._begun, end)
        return earlier > 0 and self._ended_last[earlier - 1] >= begin
