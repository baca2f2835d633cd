"""What a condition of the library tells: who waits for a notify, and which notify nobody has heard.

A wait takes a lock of its own, which a notify gives back; with a limit of no seconds it comes back at once and has
changed nothing. So a loop that polls a condition is one that waits, until anybody notifies. If the loop holds the lock
of the condition all the time but there, it waits there.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from latchfree_explore.python.core.places import called, is_of_the_program
from latchfree_explore.python.core.run import CONTROL, LITTLE
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.library.locks import Lock


class Notice(Lock):
    """The lock of a thread that waits for a notify."""

    def waited_for(self) -> str:
        """Return whose notify is waited for: that of a condition, or of what keeps the condition."""
        run = CONTROL.run
        if run is None:
            return "a notify"
        name = called(run.roots, self)
        if name.startswith("a notify") or not self._holder or self._holder < 0:
            return name
        owner = _owner(run.tasks[self._holder - 1].greenlet.gr_frame or sys._getframe(1))
        return "a notify" if owner is None else f"a notify of {called(run.roots, owner)}"


Notice.__name__ = Lock.__name__  # as a schedule calls it


def _owner(frame: FrameType | None) -> Any:
    """Return the event, queue or future whose method waits in a frame, or the condition."""
    owner = None
    while frame is not None and not is_of_the_program(frame.f_code.co_filename):
        value = frame.f_locals.get("self")
        if type(value).__module__ in ("threading", "queue", "concurrent.futures._base"):
            owner = value
            if type(value).__name__ != "Condition":
                break
        frame = frame.f_back
    return owner


def hear_notifications(threading: Any) -> None:
    """Have a copy of `threading` remember a notify that nobody waited for: who waits for ever later has missed it."""
    threading._allocate_lock = Notice  # from now on, only for threads that wait
    condition = threading.Condition
    notify, wait = condition.notify, condition.wait

    def notified(self: Any, n: int = 1) -> None:
        run = CONTROL.run
        if run is not None and run.current is not None:
            _record(self, WRITE)
            if self._waiters:
                run.unheard.pop(id(self), None)
            else:
                run.unheard[id(self)] = run.current.number, len(run.steps)
        notify(self, n)

    def waits(self: Any, timeout: float | None = None) -> Any:
        run = CONTROL.run
        task = run.current if run is not None else None
        if task is None:
            return wait(self, timeout)
        task.condition = id(self)
        task.gives = self._lock
        if task.yields and timeout is not None and timeout <= 0:
            timeout, task.yields = LITTLE, False
        holds = task.holds
        _record(self, READ)
        heard = wait(self, timeout)
        task.condition = 0
        task.holds = holds  # but for the lock of the wait, which nobody sees again
        return heard

    condition.notify, condition.wait = notified, waits


def _record(condition: Any, kind: str) -> None:
    """Add to the step that has taken the condition's lock that it notifies, or waits for a notify."""
    lock = condition._lock
    if CONTROL.run is not None and isinstance(lock, Lock) and lock._is_owned():
        CONTROL.run.record(lock, "notify", kind)
