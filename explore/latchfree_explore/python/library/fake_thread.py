"""`_thread` and `time` as the private copies of the standard library see them: threads are tasks, time is virtual.

Time stands still while any thread can move. It jumps to the earliest deadline when none can.
"""

from __future__ import annotations

import _thread
import itertools
import time
import types
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import ALIVE, PUT, WRITE
from latchfree_explore.python.core.task import Task
from latchfree_explore.python.library.local import Local
from latchfree_explore.python.library.locks import OUTSIDE, Lock, RLock, get_ident, refuse_to_wait, tell

EPOCH: Final = 1_000_000_000.0
"""What `time.time` says when a run starts, in seconds."""


class Use:
    """Whether the copies of the library have been used since they were put back.

    Whatever they keep of a thread or a pool, they ask before who runs, or for the next number.
    """

    noted = True


USE: Final = Use()


def _noted_ident() -> int:
    USE.noted = True
    return get_ident()


class _Sleep:
    """What a sleeping thread waits for: only its deadline."""

    def ready(self) -> bool:
        return False

    def waited_for(self) -> str:
        return "time to pass"


def sleep(seconds: float) -> None:
    """Let all others go on as far as they can."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    run = CONTROL.run
    if run is None:
        if CONTROL.ending:
            refuse_to_wait(sleep)
        return
    run.wait(_Sleep(), (run.location(None, "sleep"), WRITE), run.now + seconds)
    tell(run, f"slept {seconds:g} s")


def now() -> float:
    """Return the virtual time in seconds since the run began, a little more than the deadlines that have passed."""
    run = CONTROL.run
    if run is None:
        return 0.0
    if run.current is not None:
        run.current.asked_time = True
        if run.loop is not None:
            run.loop.asks_time(run)
    return run.now + run.late


class StartedBefore(RuntimeError):
    """A thread was started while no run is in progress: what is shared is to be made within the run."""


def started(body: Callable[[], object]) -> int:
    """Start a task, in a step of the running one; return what identifies the thread."""
    run = CONTROL.run
    if run is None:
        raise StartedBefore(
            "a thread was started while no run is in progress; fix: start the thread in setup=, in the constructor of "
            "the object, or in one of the threads that are explored"
        )
    run.at(0)
    run.alone = False
    task = run.spawn(body)
    run.record(run, "threads", WRITE)
    run.record_at(ALIVE, PUT)
    tell(run, f"start {task.name}")
    run.poll()
    return task.number + 1


def start_new_thread(
    function: Callable[..., object], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> int:
    """Start a task."""
    return started(lambda: function(*args, **(kwargs or {})))


class End(Lock):
    """The lock that a thread frees when it ends."""

    task: Task | None = None

    def waited_for(self) -> str:
        """Return whose end is waited for."""
        return super().waited_for() if self.task is None else f"the end of {self.task.name}"


End.__name__ = Lock.__name__  # as a schedule calls it


def _release_at_end(run: Run, lock: End) -> None:
    assert run.current is not None
    lock.task = run.current
    run.current.on_end.append(lambda: lock.free(run))


def set_sentinel() -> End:
    """Return a lock that is freed when the running thread ends; Python before 3.13."""
    lock = End()
    if CONTROL.run is not None:
        _release_at_end(CONTROL.run, lock)
    return lock


class ThreadHandle:
    """What `threading.Thread` of Python 3.13 holds of a thread of the system."""

    def __init__(self) -> None:
        self.ident: int | None = None
        self._lock = End()
        self._over = False

    def is_done(self) -> bool:
        """Return whether the thread has ended."""
        return not self._lock.locked() if self.ident is not None and not self._over else self._over

    def _set_done(self) -> None:
        self._over = True

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the thread."""
        if self._lock.acquire(timeout=-1 if timeout is None else timeout):
            self._lock.release()


def start_joinable_thread(
    function: Callable[[], object], handle: ThreadHandle | None = None, daemon: bool = True
) -> ThreadHandle:
    """Start a task with a handle; Python 3.13."""
    chosen = ThreadHandle() if handle is None else handle
    chosen._lock._holder = OUTSIDE

    def body() -> object:
        assert CONTROL.run is not None
        chosen.ident = get_ident()
        _release_at_end(CONTROL.run, chosen._lock)
        return function()

    chosen.ident = started(body)
    return chosen


def _main_handle(ident: int) -> ThreadHandle:
    handle = ThreadHandle()
    handle.ident = ident
    return handle


def thread_module() -> types.ModuleType:
    """Return the controlled `_thread`."""
    module = types.ModuleType("_thread")
    module.__dict__.update(_thread.__dict__)
    module.__dict__.pop("_local", None)
    module.__dict__.pop("_excepthook", None)
    module.__dict__.update(
        allocate_lock=Lock,
        allocate=Lock,
        lock=Lock,
        LockType=Lock,
        RLock=RLock,
        _local=Local,
        start_new_thread=start_new_thread,
        start_new=start_new_thread,
        start_joinable_thread=start_joinable_thread,
        daemon_threads_allowed=lambda: True,
        get_ident=_noted_ident,
        get_native_id=_noted_ident,
        _get_main_thread_ident=lambda: OUTSIDE,
        _make_thread_handle=_main_handle,
        _ThreadHandle=ThreadHandle,
        _set_sentinel=set_sentinel,
        _shutdown=lambda: None,
    )
    return module


def time_module() -> types.ModuleType:
    """Return `time` with a virtual clock."""
    module = types.ModuleType("time")
    module.__dict__.update(time.__dict__)
    module.__dict__.update(
        sleep=sleep,
        monotonic=now,
        perf_counter=now,
        time=lambda: EPOCH + now(),
        monotonic_ns=lambda: int(now() * 1e9),
        perf_counter_ns=lambda: int(now() * 1e9),
        time_ns=lambda: int((EPOCH + now()) * 1e9),
    )
    return module


class _Counter:
    """Counts from 1; no function, which would be a method where a class holds it."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def __call__(self) -> int:
        USE.noted = True
        return next(self._numbers)


def counter() -> Callable[[], int]:
    """Return a fresh counter for the names of threads."""
    return _Counter()
