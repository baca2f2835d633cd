"""Locks and queues whose waiting the scheduler knows: one step takes or gives each.

In the model "gil" a lock that is free is taken in the step that goes on: the interpreter does not poll before it calls
into C. A busy lock ends the step, which has then looked at the lock.
"""

from __future__ import annotations

import _thread
import queue
import types
from collections import deque
from typing import Any, Final

from latchfree.extras import require
from latchfree_explore.python.core.places import called, caller
from latchfree_explore.python.core.run import CONTROL, Run, too_late
from latchfree_explore.python.core.steps import ACQUIRE, PROBE, READ, RELEASE, TAKE, TRY, WRITE

OUTSIDE: Final = -1
"""Holder of a lock that was taken while no run was in progress."""


def get_ident() -> int:
    """Return the running thread's number, another one than real threads have."""
    run = CONTROL.run
    return OUTSIDE if run is None or run.current is None else run.current.number + 1


def refuse_to_wait(what: object) -> None:
    """Raise the error of a wait outside a run: of the end of a thread, or of what never comes."""
    if CONTROL.ending:
        too_late()
        raise require("greenlet", "explore").GreenletExit
    raise RuntimeError(
        f"{type(what).__name__}: this would wait for ever, as no thread runs while objects are made and judged; "
        "fix: wait in one of the threads that are explored"
    )


def tell(run: Run, words: str) -> None:
    """Add the words for what the caller does, if the run is told."""
    if run.telling:
        run.tell(*caller(), words)


def check_wait(blocking: bool, timeout: float) -> None:
    """Raise the error of a wait for a lock that makes no sense, as a real lock does, which is free."""
    if timeout != -1 and (not blocking or timeout < 0 or timeout > _thread.TIMEOUT_MAX):
        _thread.allocate_lock().acquire(blocking, timeout)


class Lock:
    """A lock under control; everything that `_thread.lock` has."""

    kind = _type = "lock"

    def __init__(self) -> None:
        self._holder: int | None = None
        if CONTROL.run is not None and CONTROL.run.current is not None:
            CONTROL.run.names.born(self, CONTROL.run.current.number)

    @property
    def holder(self) -> int | None:
        """The number of the thread that has the lock, as `get_ident` tells it; None if nobody has."""
        return self._holder

    def ready(self) -> bool:
        """Return whether the lock is free."""
        return self._holder is None

    def waited_for(self) -> str:
        """Return the lock's name and its holder."""
        run = CONTROL.run
        name = called(run.roots, self) if run is not None else self.kind
        if run is None or self._holder is None or self._holder == OUTSIDE or name.startswith("a notify"):
            return name
        return f"{name}, held by {run.tasks[self._holder - 1].name}"

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock; wait for it unless told not to."""
        check_wait(blocking, timeout)
        run = CONTROL.run
        if run is None:
            if self._holder is not None and blocking:
                refuse_to_wait(self)
            taken = self._holder is None
            self._holder = OUTSIDE if taken else self._holder
            return taken
        waits = blocking and timeout != 0
        deadline = None if timeout < 0 else run.now + timeout
        if not waits:
            run.at(0)
        elif self._holder is not None or not run.undivided:
            if run.undivided and run.step.accesses:
                run.record(self, "lock", PROBE)
            run.wait(self, (run.location(self, "lock"), ACQUIRE), deadline)
        if self._holder is not None:
            run.record(self, "lock", PROBE)
            tell(run, f"{called(run.roots, self)} is busy" if run.telling else "")
            return False
        run.undo.attribute(self, "_holder")
        self._holder = get_ident()
        if run.current is not None:
            run.current.holds += 1
        looked = not waits or (run.polls and bool(run.step.accesses))  # a busy lock would have ended the step here
        if deadline is not None and (deadline <= run.now or run.timeouts):
            looked = True  # the wait could have ended without the lock
        run.record(self, "lock", TRY if looked else ACQUIRE)
        tell(run, f"acquire {called(run.roots, self)}" if run.telling else "")
        return True

    def release(self) -> None:
        """Give the lock back; any thread may."""
        run = CONTROL.run
        if run is None:
            if self._holder is None and not CONTROL.ending:
                raise RuntimeError("release unlocked lock")
            self._holder = None
            return
        run.at(0)
        if self._holder is None:
            run.record(self, "lock", PROBE)
            raise RuntimeError("release unlocked lock")
        self.free(run)
        tell(run, f"release {called(run.roots, self)}" if run.telling else "")
        run.poll()

    def free(self, run: Run) -> None:
        """Free the lock in the step that is going on."""
        if self._holder is not None and 0 < self._holder <= len(run.tasks):
            run.tasks[self._holder - 1].holds -= 1
        run.undo.attribute(self, "_holder")
        self._holder = None
        run.record(self, "lock", RELEASE)

    def locked(self) -> bool:
        """Return whether the lock is taken."""
        run = CONTROL.run
        if run is not None:
            run.at(0)
            run.record(self, "lock", PROBE)
            tell(run, f"{called(run.roots, self)}.locked()" if run.telling else "")
        return self._holder is not None

    def _is_owned(self) -> bool:
        """Return whether anybody has taken the lock: what `threading.Condition` asks, here without a step."""
        run = CONTROL.run
        if run is not None and self._holder != get_ident():
            run.record(self, "lock", PROBE)
        return self._holder is not None

    def _at_fork_reinit(self) -> None:
        self._holder = None

    def __reduce__(self) -> str:
        raise TypeError(f"cannot pickle '_thread.{self._type}' object")

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    acquire_lock, release_lock, locked_lock = acquire, release, locked


class RLock(Lock):
    """A lock that its holder may take again."""

    kind = "rlock"
    _type = "RLock"

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Take the lock, once more if this thread has it."""
        check_wait(blocking, timeout)
        if self._holder == get_ident():
            self._count += 1
            return True
        if not super().acquire(blocking, timeout):
            return False
        self._note()
        self._count = 1
        return True

    def release(self) -> None:
        """Give the lock back once."""
        if self._holder != get_ident():
            if CONTROL.ending:
                return
            raise RuntimeError("cannot release un-acquired lock")
        self._note()
        self._count -= 1
        if self._count == 0:
            super().release()

    def _note(self) -> None:
        if CONTROL.run is not None:
            CONTROL.run.undo.attribute(self, "_count")

    def _is_owned(self) -> bool:
        return self._holder == get_ident()

    def _release_save(self) -> int:
        count, self._count = self._count, 0
        Lock.release(self)
        return count

    def _acquire_restore(self, count: int) -> None:
        Lock.acquire(self)
        self._count = count

    def _recursion_count(self) -> int:
        return self._count if self._is_owned() else 0

    def __enter__(self) -> bool:
        return self.acquire()


class Unlocked:
    """Stands for a lock inside the library whose holder never gives way: nothing to take, nothing to see."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Return True."""
        return True

    def release(self) -> None:
        """Do nothing."""

    def locked(self) -> bool:
        """Return False."""
        return False

    def _at_fork_reinit(self) -> None:
        """Do nothing."""

    def __enter__(self) -> bool:
        return True

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


class SimpleQueue:
    """`queue.SimpleQueue` under control: one step puts an item, one takes it."""

    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(self) -> None:
        self._items: deque[Any] = deque()
        if CONTROL.run is not None and CONTROL.run.current is not None:
            CONTROL.run.names.born(self, CONTROL.run.current.number)

    def __reduce__(self) -> str:
        raise TypeError("cannot pickle '_queue.SimpleQueue' object")

    def ready(self) -> bool:
        """Return whether there is an item."""
        return bool(self._items)

    def waited_for(self) -> str:
        """Return the queue's name."""
        return f"an item of {called(CONTROL.run.roots, self)}" if CONTROL.run is not None else "an item"

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Add an item; never waits."""
        run = CONTROL.run
        if run is not None:
            run.at(0)
            run.undo.container(self._items)
            run.record(self, "queue", WRITE)
            tell(run, f"put {item!r}" if run.telling else "")
        self._items.append(item)
        if run is not None:
            run.poll()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Take the first item; wait for one unless told not to."""
        if timeout is not None and timeout < 0 and block:
            raise ValueError("'timeout' must be a non-negative number")
        run = CONTROL.run
        if run is None:
            if not self._items and block:
                refuse_to_wait(self)
        elif not block:
            run.at(0)
        elif not self._items or not run.undivided:
            if run.undivided and run.step.accesses:
                run.record(self, "queue", READ)
            deadline = None if timeout is None else run.now + timeout
            run.wait(self, (run.location(self, "queue"), TAKE), deadline)
        if not self._items:
            if run is not None:
                run.record(self, "queue", READ)
                tell(run, "empty")
            raise queue.Empty
        if run is not None:
            run.undo.container(self._items)
            run.record(self, "queue", TAKE)
            tell(run, f"get {self._items[0]!r}" if run.telling else "")
        return self._items.popleft()

    def put_nowait(self, item: Any) -> None:
        """Add an item."""
        self.put(item)

    def get_nowait(self) -> Any:
        """Take the first item, if there is one."""
        return self.get(False)

    def empty(self) -> bool:
        """Return whether there is no item."""
        return self.qsize() == 0

    def qsize(self) -> int:
        """Return the number of items."""
        run = CONTROL.run
        if run is not None:
            run.at(0)
            run.record(self, "queue", READ)
        return len(self._items)
