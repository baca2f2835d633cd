"""Grade many submissions, one at a time on each core, and give the grades in the order of the submissions.

Example: of three submissions on two cores the third may be done before the second. It is given after the second, so a
class has the same report on every machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Final, TypeVar

from latchfree_teach.grading.grader import Grader

T = TypeVar("T")
R = TypeVar("R")

_MOMENT: Final = 0.05
"""Seconds to wait for threads whose graders have been closed."""


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def graded(
    work: Callable[[Grader, T], R], submissions: Sequence[T], *, at_once: int, seconds: int, megabytes: int
) -> Generator[R, None, None]:
    """Yield what `work` returns for each submission.

    A caller that stops early, or is interrupted, ends the graders; nothing is left behind.

    Parameters
    ----------
    work : callable
        It is given a grader, which is its own meanwhile, and a submission.
    submissions : sequence
        The submissions, in the order of the results.
    at_once : int
        How many are graded at the same time.
    seconds, megabytes : int
        As for `Grader`.
    """
    graders = [Grader(seconds=seconds, megabytes=megabytes) for _ in range(max(1, min(at_once, len(submissions))))]
    free: SimpleQueue[Grader] = SimpleQueue()
    for each in graders:
        free.put(each)

    def one(submission: T) -> R:
        grader = free.get()
        try:
            return work(grader, submission)
        finally:
            free.put(grader)

    pool = ThreadPoolExecutor(len(graders))
    futures = [pool.submit(one, each) for each in submissions]
    try:
        for future in futures:
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        while True:  # more than once, for a thread may have been about to ask
            for each in graders:
                each.close()
            running = [each for each in futures if not each.done()]
            if not running:
                break
            wait(running, _MOMENT)
        pool.shutdown()
