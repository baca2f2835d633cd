"""Time of values that go through a queue, and of a getter that waits for one.

`alone` puts and gets in one thread; `handed` has one thread, or one process, put and another one get. The time of a
value is the wall time of all, from the first put to the last get, divided by their number: what a stream of values
costs, while both sides work at once. `woken` measures what happens to a getter that sleeps: how long after the put its
`get` returns, and how much processor time it has used while it slept.

Example: a wake took 4,217 us. The kernel says that the getter was ready after 30 us and then waited 4,187 us for a
processor, which another program used. So `woken` also tells how late a getter is without such waits: that is the
queue's own part.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

from peers.queues import CONTEXT, Kind

#: A batch is a quarter of a queue's capacity, so that both sides can work at once.
BATCH = 256
#: Wakings before those that are counted.
_FIRST = 5


class Wake(NamedTuple):
    """Of a getter that waits: microseconds from a put to its return, and the share of a processor that it uses.

    Attributes
    ----------
    middle, late : float
        The median, and what 99 of 100 do not exceed.
    own : float
        As `late`, without the time that the getter was ready and no processor was free; where the kernel does not tell
        that time, it is counted.
    busy : float
        The share.
    """

    middle: float
    late: float
    own: float
    busy: float


def _most(times: list[float]) -> float:
    """Return what 99 of 100 do not exceed; of a few, no more than the largest."""
    return quantiles(times, n=100, method="inclusive")[98]


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


def _queued() -> int:
    """Return the nanoseconds that this thread has been ready so far while no processor was free."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1])
    except OSError:  # another system, or a kernel that does not count them
        return 0


def woken(kind: Kind, times: int, asleep: float, *, processes: bool) -> Wake:
    """Measure a getter in another thread or process that sleeps for `asleep` seconds before each of `times` puts.

    The first puts and gets are not counted: they find code that was never run, and pages that were never touched.
    """
    with kind.opened(processes) as queue:
        mine, its = CONTEXT.Pipe()

        def consume() -> None:
            clock = time.process_time_ns if processes else time.thread_time_ns
            for _ in range(_FIRST + times):
                ready, before = _queued(), clock()
                queue.get()
                back_at, busy = time.monotonic_ns(), clock() - before
                its.send((back_at, busy, _queued() - ready))

        other: Any = (CONTEXT.Process if processes else threading.Thread)(target=consume, daemon=True)
        other.start()
        late, own, used = [], [], []
        for value in range(_FIRST + times):
            time.sleep(asleep)
            put_at = time.monotonic_ns()
            queue.put(value)
            back_at, busy, queued = mine.recv()
            late.append((back_at - put_at) / 1_000)
            own.append((back_at - put_at - queued) / 1_000)
            used.append(busy / (asleep * 1e9))
        other.join()
    late, own, used = late[_FIRST:], own[_FIRST:], used[_FIRST:]
    return Wake(median(late), _most(late), _most(own), median(used))
