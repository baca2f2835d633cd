"""Time of a map's operations, seen from the threads that run them.

A **round** gives every thread its own share of the keys. All threads start together, and each runs *cycles* of
put, get, update, remove over its share, timing every step with its own clocks. Nobody waits between steps, so the
threads stay concurrent even where one step is short; one may be reading while another removes.

The figures of a round are sums over its threads and cycles, divided by the number of operations:

- `cpu`: time the processor spent on the thread (``CLOCK_THREAD_CPUTIME_ID``) per operation of its own;
- `wall`: time that passed for the thread per operation of its own, waiting for locks and preemption included.

Of several rounds of one thread the smallest figure stands, each for itself: on a shared machine disturbance only ever
adds. Of several threads the median stands, of the rounds in which they met.
With T threads, T / wall operations a nanosecond are done in all.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns, thread_time_ns

Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Time:
    """Nanoseconds per operation."""

    cpu: float
    wall: float

    def least(self, other: Time) -> Time:
        """The smaller of each figure."""
        return Time(min(self.cpu, other.cpu), min(self.wall, other.wall))


@dataclass(frozen=True, slots=True)
class Round:
    """Times by name of step, and the share of the round in which all threads were running."""

    times: dict[str, Time]
    overlap: float


def time_once(step: Step, operations: int) -> Time:
    """Time of one step in the calling thread."""
    wall, cpu = perf_counter_ns(), thread_time_ns()
    step()
    cpu, wall = thread_time_ns() - cpu, perf_counter_ns() - wall
    return Time(cpu / operations, wall / operations)


def time_round(shares: Sequence[dict[str, Step]], operations: int, cycles: int) -> Round:
    """Run one round.

    Parameters
    ----------
    shares : sequence of dict
        For each thread its steps by name, in order. A single share runs in the calling thread.
    operations : int
        How many operations one step of one share performs.
    cycles : int
        How often each thread goes through its steps.
    """
    clocks = [_Clocks(share, cycles) for share in shares]
    gc.collect()
    gc.disable()
    try:
        if len(clocks) == 1:
            clocks[0].run()
        else:
            _run_together(clocks)
    finally:
        gc.enable()
    each = len(clocks) * cycles * operations
    times = {
        name: Time(sum(c.cpu[name] for c in clocks) / each, sum(c.wall[name] for c in clocks) / each)
        for name in shares[0]
    }
    together = min(c.end for c in clocks) - max(c.start for c in clocks)
    whole = max(c.end for c in clocks) - min(c.start for c in clocks)
    return Round(times, max(0.0, together / whole))


def least(rounds: Iterable[Round]) -> dict[str, Time]:
    """The smallest figure of each step."""
    best: dict[str, Time] = {}
    for one in rounds:
        for name, time in one.times.items():
            best[name] = time.least(best.get(name, time))
    return best


#: The share of a round in which threads have met.
MET = 0.9


def usual(rounds: Sequence[Round]) -> dict[str, Time]:
    """The median of each step's figures, over the rounds in which the threads met, or over all if they never did.

    The smallest would be that of a round in which they did not meet.
    """
    met = [one.times for one in rounds if one.overlap >= MET] or [one.times for one in rounds]
    return {
        name: Time(median(times[name].cpu for times in met), median(times[name].wall for times in met))
        for name in met[0]
    }


class _Clocks:
    """One thread's steps and what they took in all."""

    def __init__(self, steps: dict[str, Step], cycles: int) -> None:
        self.steps = steps
        self.cycles = cycles
        self.cpu = dict.fromkeys(steps, 0)
        self.wall = dict.fromkeys(steps, 0)
        self.start = self.end = 0

    def run(self) -> None:
        self.start = perf_counter_ns()
        for _ in range(self.cycles):
            for name, step in self.steps.items():
                wall, cpu = perf_counter_ns(), thread_time_ns()
                step()
                self.cpu[name] += thread_time_ns() - cpu
                self.wall[name] += perf_counter_ns() - wall
        self.end = perf_counter_ns()


def _run_together(clocks: Sequence[_Clocks]) -> None:
    barrier = threading.Barrier(len(clocks))
    failures: list[BaseException] = []

    processors = sorted(os.sched_getaffinity(0))

    def body(number: int, own: _Clocks) -> None:
        try:
            # Each time a thread waits for the interpreter lock it may wake on the other processor, far from its cache.
            os.sched_setaffinity(0, {processors[number % len(processors)]})
            barrier.wait()
            own.run()
        except BaseException as failure:
            failures.append(failure)
            barrier.abort()

    threads = [threading.Thread(target=body, args=(number, own)) for number, own in enumerate(clocks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
