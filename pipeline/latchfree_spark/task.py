"""What a worker knows of its task: the attempt, the host, and how to end when it hangs."""

from __future__ import annotations

import faulthandler
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def attempt() -> int:
    """Return how often the task of this worker has failed before; 0 outside a worker."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.attemptNumber())


def in_worker() -> bool:
    """Return whether Spark runs this code for a task."""
    from pyspark import TaskContext

    return TaskContext.get() is not None


def host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this worker if the block takes longer, so that Spark starts its task again; elsewhere do nothing.

    Compiled code may hold the interpreter for ever, so the clock is a thread of C. The stacks go to standard error.
    """
    if not in_worker():
        yield
        return
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or sys.stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
