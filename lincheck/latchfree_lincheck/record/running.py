"""Run clients and faults side by side, record what clients saw, and judge it.

Everything that a run began is undone at its end, whatever ends it: first the fault that is on, then the clients.
Servers belong to whoever started them, by ``with``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any, Final, TypeAlias

from latchfree_lincheck.record.clients import Orders
from latchfree_lincheck.record.faults import Window
from latchfree_lincheck.record.generators import Workload
from latchfree_lincheck.record.outcome import Run
from latchfree_lincheck.record.plan import Plan
from latchfree_lincheck.record.shared import SharedRecorder
from latchfree_lincheck.record.workers import ApartWorker, Worker

GRACE: Final = 10.0
"""Seconds that clients have for their last call, after the last fault is undone."""

_LOOK: Final = 0.05

_GUARD: Final = "a script that starts clients as processes needs: if __name__ == '__main__':"

Faults: TypeAlias = Sequence[Window] | Callable[[Sequence[Worker]], Sequence[Window]]


class RunError(RuntimeError):
    """A client that ended by an error of its own: not by what the server did."""


def run(
    connect: Callable[[int], Any],
    workload: Workload,
    *,
    clients: int = 2,
    apart: bool = False,
    operations: int | None = None,
    seconds: float | None = None,
    rate: float | None = None,
    faults: Faults = (),
    definite: tuple[type[BaseException], ...] = (),
    seed: int = 0,
    name: str = "run",
) -> Run:
    """Let clients call a system while faults happen, and return what they saw.

    The run ends when all clients are through, or after `seconds`. A run with faults and neither `operations` nor
    `seconds` ends with its last fault.

    Parameters
    ----------
    connect : callable
        Of a client's number: makes an object whose methods are the operations. Methods may be coroutine functions; a
        ``close()`` is called at the end, and after an error that is not definite. OSError means: try again.
    workload : callable
        Of a client's number and its random generator: yields calls, such as ``("write", 5)``. See `Mix`.
    clients : int
        How many.
    apart : bool
        Whether clients are processes, not threads; `connect` and `workload` are pickled then.
    operations : int, optional
        Calls of each client, at most.
    seconds : float, optional
        How long, at most.
    rate : float, optional
        Calls of each client per second, at most.
    faults : sequence of Window, or callable
        See `Fault.window`. A callable is given the clients, which can be paused and killed if they are processes.
    definite : tuple of exception types
        Errors after which an operation has certainly not taken effect. After any other exception it is pending.
    seed : int
        Of the random streams of all clients.
    name : str
        Of the history.

    Raises
    ------
    RunError
        If a client cannot go on: it has no such method, its workload raises, a value cannot be recorded.
    ServerError
        If a fault cannot be begun or undone.
    ValueError
        If nothing says when the run ends.
    """
    if clients < 1:
        raise ValueError(f"{clients} clients: give at least 1")
    if operations is None and seconds is None and not faults:
        raise ValueError("nothing ends this run: give operations (of each client), seconds, or faults")
    if rate is not None and not rate > 0:
        raise ValueError(f"a rate of {rate!r} calls per second: give more than 0")
    with SharedRecorder() as recorder:
        orders = Orders(recorder, connect, workload, seed, rate, operations, definite)
        workers: list[Worker] = []
        plan = Plan(recorder, ())
        try:
            workers.extend((ApartWorker if apart else Worker)(number, orders) for number in range(clients))
            plan = Plan(recorder, tuple(faults(workers) if callable(faults) else faults))
            for worker in workers:
                try:
                    _heard(worker, worker.link.recv())
                except EOFError:
                    raise RunError(f"{worker.name} did not start; {_GUARD}") from None
            started = time.monotonic_ns()
            for worker in workers:
                worker.tell("go")
            plan.start()
            _watch(workers, plan, seconds, endless=operations is None and seconds is None)
        finally:
            plan.end()
            for worker in workers:
                worker.tell("stop")
            deadline = time.monotonic() + GRACE
            for worker in workers:
                worker.leave(max(deadline - time.monotonic(), 0.1))
        if plan.error is not None:
            raise plan.error
        for worker in workers:
            with suppress(EOFError, OSError):  # killed, or through
                while worker.link.poll():
                    _heard(worker, worker.link.recv())
        return Run(name, seed, clients, recorder.records(), started, time.monotonic_ns(), plan.missed)


def _watch(workers: Sequence[Worker], plan: Plan, seconds: float | None, *, endless: bool) -> None:
    """Wait for the end of a run."""
    until = None if seconds is None else time.monotonic() + seconds
    working = set(workers)
    while working and plan.error is None and not (endless and plan.over):
        left = _LOOK if until is None else min(_LOOK, until - time.monotonic())
        if left <= 0:
            return
        for worker in list(working):
            link = worker.link
            try:
                if wait([link], 0) and _heard(worker, link.recv()):
                    working.discard(worker)
            except (EOFError, OSError):  # ended; if a fault killed it, it is about to have another link
                if worker.expected and worker.link is link:
                    raise RunError(f"{worker.name} ended without a word") from None
        time.sleep(left if not working else min(left, 0.01))


def _heard(worker: Worker, message: str) -> bool:
    """Return whether a message says that a client is through; raise if it says that it failed."""
    if message in ("ready", "done"):
        return message == "done"
    raise RunError(f"{worker.name} cannot go on:\n{message}")
