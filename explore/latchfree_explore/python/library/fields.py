"""What threads may see of the library's own objects, though the code that reads and writes there is not rewritten.

Where a lock guards a field, its accesses belong to the step that has taken the lock: they tell a loop that polls what
it waits for, and cost no step. Anything else that threads look at is a step of its own. A property that no schedule
writes is none, as for any other attribute (`core.constants`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.steps import ALIVE, PROBE, PUT, READ, WRITE
from latchfree_explore.python.facts import effects
from latchfree_explore.python.library.locks import get_ident

_MADE_UP: Final = re.compile(r"Thread-\d|Dummy-\d|MainThread|ThreadPoolExecutor-\d")


class Watched:
    """An attribute of a library class that threads read without a lock: its accesses are steps."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        self._note(owner, READ)
        try:
            return owner.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, owner: Any, value: Any) -> None:
        if self._name in owner.__dict__:  # else it has just been made
            self._note(owner, WRITE)
        owner.__dict__[self._name] = value

    def _note(self, owner: Any, kind: str) -> None:
        run = CONTROL.run
        if run is not None:
            run.at(0)
            run.record(owner, self._name, kind)


class Guarded(Watched):
    """An attribute that the library reads and writes under a lock: only an access without that lock is a step.

    Parameters
    ----------
    name : str
    lock : callable
        Returns the lock of an owner.
    """

    def __init__(self, name: str, lock: Callable[[Any], Any]) -> None:
        super().__init__(name)
        self._lock = lock

    def _note(self, owner: Any, kind: str) -> None:
        run = CONTROL.run
        if run is None:
            return
        lock = self._lock(owner)
        if lock.holder != get_ident():
            run.at(0)
        run.record(lock, self._name, kind)


class Ended(Watched):
    """Whether a thread is known to have ended: the lock of its end says so, too: an access is no step of its own."""

    def _note(self, owner: Any, kind: str) -> None:
        run = CONTROL.run
        if run is not None:
            run.record(owner._started._cond._lock, self._name, kind)


def told(asked: property, name: str) -> property:
    """Return a property whose reading is a step if any schedule writes it, and whose writing is one."""
    assert asked.fget is not None
    read, write = asked.fget, asked.fset
    key = f"threading.Thread.{name}"

    def get(self: Any) -> Any:
        run = CONTROL.run
        if run is not None and not run.constants.constant(key):
            run.at(0)
            run.record(self, name, READ)
        return read(self)

    def put(self: Any, value: Any) -> None:
        assert write is not None
        run = CONTROL.run
        if run is not None:
            run.constants.wrote(key)
            run.at(0)
            run.record(self, name, WRITE)
        write(self, value)

    return property(get, None if write is None else put, doc=asked.__doc__)


def asked_without_the_lock(asked: property) -> property:
    """Return a property of a barrier whose reading is a step: it depends on whoever has the lock."""

    def ask(self: Any) -> Any:
        run = CONTROL.run
        if run is not None:
            run.at(0)
            run.record(self._cond._lock, "lock", PROBE)
        assert asked.fget is not None
        return asked.fget(self)

    return property(ask)


class Registry(dict[Any, Any]):
    """The threads that are alive, as `threading` keeps them: each that comes or goes changes what is counted."""

    def __setitem__(self, key: Any, value: Any) -> None:
        _comes_or_goes()
        super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        _comes_or_goes()
        super().__delitem__(key)


def _comes_or_goes() -> None:
    if CONTROL.run is not None and CONTROL.run.current is not None:
        CONTROL.run.record_at(ALIVE, PUT)


def tell_threads(threading: Any) -> None:
    """Have a copy of `threading` tell what is asked of threads and of the set of all of them."""
    thread = threading.Thread
    for name in ("name", "daemon"):
        setattr(thread, name, told(getattr(thread, name), name))
    _call_tasks(thread)
    for name in ("ident", "native_id"):
        setattr(thread, name, _known_from_the_start(getattr(thread, name)))
    if hasattr(thread, "_wait_for_tstate_lock"):  # before Python 3.13
        thread._is_stopped = Ended("_is_stopped")
    threading._active, threading._limbo = Registry(threading._active), Registry(threading._limbo)
    everyone, count, current = threading.enumerate, threading.active_count, threading.current_thread

    def looks() -> None:
        current()  # a thread that `threading` has not started is one of all as soon as it has asked
        _looks_at_all()

    def enumerate() -> list[Any]:
        """Return all threads that are alive, in the order in which they were made."""
        looks()
        alive: list[Any] = sorted(everyone(), key=hash)
        return alive

    def active_count() -> int:
        """Return how many threads are alive."""
        looks()
        number: int = count()
        return number

    threading.enumerate, threading.active_count = enumerate, active_count


def _call_tasks(thread: Any) -> None:
    """Have a thread whose name is not one that `threading` has made up called by that name in reports, too."""
    begin = thread._set_ident

    def begins(self: Any) -> None:
        run = CONTROL.run
        if run is not None and run.current is not None and not _MADE_UP.match(self._name):
            run.current.name = f"thread {run.current.number} ({self._name})"
        begin(self)

    thread._set_ident = begins


def _looks_at_all() -> None:
    run = CONTROL.run
    if run is not None:
        run.at(0)
        run.record_at(ALIVE, READ)


def _known_from_the_start(asked: property) -> property:
    """Return a property of a thread whose reading by others is a step: it says whether the thread has begun."""

    def ask(self: Any) -> Any:
        if self._ident != get_ident():
            _looks_at_all()
        assert asked.fget is not None
        return asked.fget(self)

    return property(ask, doc=asked.__doc__)


def tell_items(kind: Any) -> None:
    """Have a queue tell that it reads or changes what it keeps its items in, which the program may look at, too."""
    put, get, size = kind._put, kind._get, kind._qsize

    def puts(self: Any, item: Any) -> None:
        _changes(self.queue)
        put(self, item)

    def gets(self: Any) -> Any:
        _changes(self.queue)
        return get(self)

    def sizes(self: Any) -> Any:
        run = CONTROL.run
        if run is not None:
            run.record(self.queue, "shape", READ)
        return size(self)

    kind._put, kind._get, kind._qsize = puts, gets, sizes


def _changes(items: Any) -> None:
    run = CONTROL.run
    if run is not None:
        for part, how in effects.CHANGES:
            run.record(items, part, how)


OF_SEMAPHORES: Final = Guarded("_value", lambda semaphore: semaphore._cond._lock)
OF_FUTURES: Final = Guarded("_state", lambda future: future._condition._lock)
