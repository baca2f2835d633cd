"""A schedule as an execution graph: what each access read and wrote, without the order in which the machine ran them.

Example: a load that read an older message became the event that reads from the write that made the message. Axioms say
which memory models allow the graph.

Three sorts of events: atomic accesses; pokes of words that atomic accesses may have read; and *news*. What returned
before an operation began has written a word that this operation has read, since a client may have passed the news on.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latchfree_explore.board import layout as b
from latchfree_explore.machine.watched import Watched
from latchfree_explore.views import weakening
from latchfree_explore.weak.graph import INITIAL, Graph, Order, Row

_ORDERS: Final[dict[int, Order]] = {b.LOAD: "acq", b.LOAD_UNSURE: "acq", b.STORE: "rel"}


class _Event(NamedTuple):
    """An event before events are numbered: when it comes, its row, the write that it is, and the one that it reads."""

    when: tuple[int, int]
    row: Row
    makes: Hashable = 0
    reads: Hashable = 0


def execution(watched: Watched, trace: NDArray[np.int64], calls: NDArray[np.int64], ended: int) -> Graph:
    """Return the last schedule as an execution graph.

    Parameters
    ----------
    watched : Watched
        The tables of the machine.
    trace : int64 array of shape (steps, words of a step)
        The schedule's steps.
    calls : int64 array of shape (operations, words of an operation)
        The operations.
    ended : int
        Mask of the operations of whose return there may be news.

    Returns
    -------
    Graph
    """
    steps = trace.tolist()
    place = {k: place for _, numbers in watched.orders() for place, k in enumerate(numbers)}
    events = sorted(
        [*_accesses(watched, steps), *_pokes(watched), *_news(steps, calls, ended)],
        key=lambda e: e.when,
    )
    index = {event.makes: k for k, event in enumerate(events) if event.makes}
    rows = []
    for event in events:
        row = event.row
        if row.kind in "RUC":
            row = row._replace(reads=index.get(event.reads, INITIAL))
        if row.kind in "WU":
            row = row._replace(place=place.get(event.makes, 1) if isinstance(event.makes, int) else 1)
        rows.append(row)
    return Graph.record(rows)


def _accesses(watched: Watched, steps: list[list[int]]) -> Iterator[_Event]:
    for k, step in enumerate(steps):
        kind, thread = step[b.S_KIND], step[b.S_THREAD]
        if kind == b.FENCE and watched.how(step[b.S_SITE]) == weakening.AS_CODED:
            yield _Event((k, 1), Row(thread, "F", None, "sc"))
        if kind < b.FENCE and kind not in (b.PEEK, b.POKE):
            row = Row(thread, "R", step[b.S_AT], order_of(kind, watched.how(step[b.S_SITE])), value=step[b.S_NEW])
            if kind == b.STORE or (kind == b.EXCHANGE and watched.how(step[b.S_SITE]) == weakening.AS_STORE):
                row = row._replace(kind="W")
            elif step[b.S_MADE]:
                row = row._replace(kind="U")
            elif kind == b.CAS:
                row = row._replace(kind="C")
            yield _Event((k, 1), row, step[b.S_MADE], step[b.S_FROM])


def order_of(kind: int, how: int) -> Order:
    """Return the order of an access, weakened or not."""
    if how == weakening.RELAXED:
        return "rlx"
    if how == weakening.AS_CODED or kind in _ORDERS:
        return _ORDERS.get(kind, "sc")
    if how == weakening.AS_STORE:
        return "rel"
    return "acq" if kind == b.LOAD_SEQ else "ar"


def _pokes(watched: Watched) -> Iterator[_Event]:
    for word, numbers in watched.orders():
        for k in numbers:
            poked = watched.poke(k)
            if poked is not None:
                thread, steps = poked
                yield _Event((steps - 1, 1 + k), Row(thread, "W", word, "na"), k)


def _news(steps: list[list[int]], calls: NDArray[np.int64], ended: int) -> Iterator[_Event]:
    thread_of = {step[b.S_CALL]: step[b.S_THREAD] for step in steps}
    returned = [k for k in thread_of if ended >> k & 1]
    for k in returned:
        when = int(calls[k, b.C_RETURN])
        word = f"operation {k} has returned"
        yield _Event((when, 1 << 30), Row(thread_of[k], "W", word, "rel"), word)
        for later, thread in thread_of.items():
            begun = int(calls[later, b.C_INVOKE])
            if thread != thread_of[k] and begun > when:
                yield _Event((begun, 0), Row(thread, "R", word, "acq"), 0, word)
