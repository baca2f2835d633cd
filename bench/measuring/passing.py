"""Time of values that go through a queue, and of a getter that waits for one.

`alone` puts and gets in one thread; `handed` has one thread, or one process, put and another one get. The time of a
value is the wall time of all, from the first put to the last get, divided by their number: what a stream of values
costs, while both sides work at once. `woken` measures what happens to a getter that sleeps: how long after the put its
`get` returns, and how much processor time it has used while it slept.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from statistics import median, quantiles
from typing import Any, NamedTuple

from peers.queues import CONTEXT, Kind

#: A batch is a quarter of a queue's capacity, so that both sides can work at once.
BATCH = 256
#: Wakings before those that are counted.
_FIRST = 5


class Wake(NamedTuple):
    """Of a getter that waits: microseconds from a put to its return, and the share of a processor that it uses."""

    middle: float
    late: float
    busy: float


class Lost(Exception):
    """Not what was put came out, or not in that order."""


def _batches(kind: Kind, count: int) -> list[Any]:
    return [kind.prepared(range(first, first + BATCH)) for first in range(0, count, BATCH)]


def alone(kind: Kind, count: int, *, batched: bool) -> float:
    """Return nanoseconds a value, put and got by one thread: one value in turn, or batches of `BATCH` in turn."""
    with kind.opened(False) as queue:
        if not batched:
            put, get = queue.put, queue.get
            begun = time.perf_counter_ns()
            for value in range(count):
                put(value)
                get()
            return (time.perf_counter_ns() - begun) / count
        put_many, get_many = _calls(kind)
        given = _batches(kind, count)
        begun = time.perf_counter_ns()
        for values in given:
            put_many(queue, values)
            taken = 0
            while taken < BATCH:
                taken += len(get_many(queue, BATCH - taken))
        return (time.perf_counter_ns() - begun) / (len(given) * BATCH)


def _calls(kind: Kind) -> tuple[Callable[[Any, Any], object], Callable[[Any, int], Any]]:
    if kind.put_many is None or kind.get_many is None:
        raise ValueError(f"{kind.title} has no calls for many values")
    return kind.put_many, kind.get_many


def _putting(kind: Kind, queue: Any, count: int, *, batched: bool) -> Callable[[], None]:
    if not batched:

        def one_by_one() -> None:
            put = queue.put
            for value in range(count):
                put(value)

        return one_by_one
    given, (put_many, _) = _batches(kind, count), _calls(kind)

    def by_batch() -> None:
        for values in given:
            put_many(queue, values)

    return by_batch


def _getting(kind: Kind, queue: Any, count: int, *, batched: bool) -> int:
    """Take all; return the sum of the values."""
    total = 0
    if not batched:
        get = queue.get
        for _ in range(count):
            total += get()
        return total
    _, get_many = _calls(kind)
    taken = 0
    while taken < count:
        values = get_many(queue, BATCH)
        taken += len(values)
        total += int(sum(values) if isinstance(values, Sequence) else values.sum())
    return total


def handed(kind: Kind, count: int, *, batched: bool, processes: bool) -> float:
    """Return nanoseconds a value from one thread or process to another.

    Raises
    ------
    Lost
        If the values that came out have another sum.
    """
    count -= count % BATCH
    with kind.opened(processes) as queue:
        put = _putting(kind, queue, count, batched=batched)
        if processes:
            mine, its = CONTEXT.Pipe()

            def consume() -> None:
                its.send(None)
                its.send(_getting(kind, queue, count, batched=batched))

            other: Any = CONTEXT.Process(target=consume, daemon=True)
        else:
            found: list[int] = []
            other = threading.Thread(target=lambda: found.append(_getting(kind, queue, count, batched=batched)))
        other.start()
        if processes:
            mine.recv()
        begun = time.perf_counter_ns()
        put()
        total = mine.recv() if processes else (other.join(), found[0])[1]
        spent = time.perf_counter_ns() - begun
        other.join()
    if total != count * (count - 1) // 2:
        raise Lost(f"{kind.title}: the sum of 0 to {count - 1} came out as {total}")
    return spent / count


def woken(kind: Kind, times: int, asleep: float, *, processes: bool) -> Wake:
    """Measure a getter in another thread or process that sleeps for `asleep` seconds before each of `times` puts.

    The first puts and gets are not counted: they find code that was never run, and pages that were never touched.
    """
    with kind.opened(processes) as queue:
        mine, its = CONTEXT.Pipe()

        def consume() -> None:
            clock = time.process_time_ns if processes else time.thread_time_ns
            for _ in range(_FIRST + times):
                before = clock()
                queue.get()
                its.send((time.monotonic_ns(), clock() - before))

        other: Any = (CONTEXT.Process if processes else threading.Thread)(target=consume, daemon=True)
        other.start()
        late, used = [], []
        for value in range(_FIRST + times):
            time.sleep(asleep)
            put_at = time.monotonic_ns()
            queue.put(value)
            back_at, busy = mine.recv()
            late.append((back_at - put_at) / 1_000)
            used.append(busy / (asleep * 1e9))
        other.join()
    late, used = late[_FIRST:], used[_FIRST:]
    return Wake(median(late), quantiles(late, n=100)[98], median(used))
