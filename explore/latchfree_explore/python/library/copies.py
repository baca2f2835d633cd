"""Private copies of the standard library's own `threading`, `queue` and `concurrent.futures`.

Their source runs over a controlled `_thread` and a virtual clock, so conditions, events, semaphores, barriers, timers,
queues and pools behave as those of this version of Python do. The modules that everybody else uses are not touched.
Exceptions stay the original ones: ``except queue.Empty`` catches either.
"""

from __future__ import annotations

import builtins
import concurrent.futures
import concurrent.futures.thread
import importlib.util
import os
import queue
import sys
import types
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, LITTLE
from latchfree_explore.python.facts.whole import REWRITTEN
from latchfree_explore.python.library import conditions, fake_thread, fields
from latchfree_explore.python.library.locks import SimpleQueue, Unlocked

COPIED: Final = ("threading", "queue", "concurrent.futures._base", "concurrent.futures.thread")


class _Quiet:
    """A logger that says nothing of threads that are ended because their schedule is."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger

    def __getattr__(self, name: str) -> Any:
        return (lambda *words, **options: None) if CONTROL.ending else getattr(self._logger, name)


class Library:
    """The private copies, made once; `reset` gives every run the same start."""

    def __init__(self) -> None:
        self.modules: dict[str, types.ModuleType] = {
            "_thread": fake_thread.thread_module(),
            "time": fake_thread.time_module(),
        }
        self._os = types.ModuleType("os")
        self._os.__dict__.update({name: value for name, value in vars(os).items() if name != "register_at_fork"})
        for name in COPIED:
            self._copied(name)
        self._adapt()
        self._kept = [
            (value, value.copy())
            for name in COPIED
            for key, value in vars(self.modules[name]).items()
            if isinstance(value, dict | set) and not key.startswith("__")
        ]

    def _copied(self, name: str) -> types.ModuleType:
        if name in self.modules:
            return self.modules[name]
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        module = types.ModuleType(name)
        module.__file__, module.__package__, module.__spec__ = spec.origin, spec.parent, spec
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": self._import}
        self.modules[name] = module
        code = compile(Path(spec.origin).read_text(encoding="utf-8"), spec.origin, "exec")
        exec(code, vars(module))
        return module

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> types.ModuleType:
        """Import as the copies do: what is copied comes from here."""
        if name == "_queue":
            raise ImportError(name)
        if name == "os":
            return self._os
        if name == "concurrent.futures" and fromlist:
            package = types.ModuleType(name)
            vars(package)["_base"] = self._copied("concurrent.futures._base")
            return package
        if name in self.modules or name in COPIED:
            return self._copied(name)
        return builtins.__import__(name, globals, locals, fromlist, level)

    def _adapt(self) -> None:
        """Make the copies fit: exceptions of the originals, no locks where nobody gives way, watched attributes."""
        threading, queues = self.modules["threading"], self.modules["queue"]
        base, pool = self.modules["concurrent.futures._base"], self.modules["concurrent.futures.thread"]
        vars(queues).update(Empty=queue.Empty, Full=queue.Full, SimpleQueue=SimpleQueue)
        if hasattr(queue, "ShutDown"):
            vars(queues)["ShutDown"] = queue.ShutDown
        for name in ("CancelledError", "InvalidStateError", "BrokenExecutor"):
            vars(base)[name] = getattr(concurrent.futures._base, name)
        vars(pool)["BrokenThreadPool"] = concurrent.futures.thread.BrokenThreadPool
        vars(threading)["BrokenBarrierError"] = sys.modules["threading"].BrokenBarrierError
        for module, name in ((threading, "_active_limbo_lock"), (threading, "_shutdown_locks_lock")):
            if name in vars(module):
                vars(module)[name] = Unlocked()
        vars(pool)["_global_shutdown_lock"] = Unlocked()
        if "_maintain_shutdown_locks" in vars(threading):  # looks at locks in the order of their addresses
            vars(threading)["_maintain_shutdown_locks"] = lambda: None
        vars(threading)["_make_invoke_excepthook"] = _keep_error(threading)
        _no_daemon(threading._DummyThread)
        threading.Event._flag = fields.Watched("_flag")
        threading.Semaphore._value, base.Future._state = fields.OF_SEMAPHORES, fields.OF_FUTURES
        for name in ("broken", "n_waiting"):
            setattr(threading.Barrier, name, fields.asked_without_the_lock(getattr(threading.Barrier, name)))
        for kind in (queues.Queue, queues.LifoQueue, queues.PriorityQueue):
            fields.tell_items(kind)
        fields.tell_threads(threading)
        conditions.hear_notifications(threading)
        vars(base)["as_completed"] = _with_time_that_passes(vars(base)["as_completed"])
        threading.Thread.__hash__ = base.Future.__hash__ = _numbered
        threading.Thread.__repr__ = _looking(threading.Thread.__repr__)
        vars(base)["id"] = hash  # futures are locked in the order of `id`: an address, which differs from run to run
        vars(base)["LOGGER"] = _Quiet(vars(base)["LOGGER"])
        self.modules["concurrent.futures"] = self._futures(base, pool)

    def _futures(self, base: types.ModuleType, pool: types.ModuleType) -> types.ModuleType:
        package = types.ModuleType("concurrent.futures")
        for name in vars(concurrent.futures):
            if name in vars(base) and not name.startswith("__"):
                vars(package)[name] = vars(base)[name]
        vars(package)["__getattr__"] = lambda name: getattr(concurrent.futures, name)  # pools of processes
        vars(package).update(ThreadPoolExecutor=vars(pool)["ThreadPoolExecutor"], thread=pool, _base=base)
        return package

    def reset(self) -> None:
        """Put back what the copies keep from run to run, if the last one has asked them who runs or for a number."""
        if not fake_thread.USE.noted:
            return
        for value, content in self._kept:
            value.clear()
            value.update(content)
        threading, pool = self.modules["threading"], self.modules["concurrent.futures.thread"]
        vars(threading)["_counter"] = fake_thread.counter()
        vars(threading)["_dangling"].clear()
        vars(pool)["_threads_queues"].clear()
        pool.ThreadPoolExecutor._counter = fake_thread.counter()
        _HASHES[:] = [fake_thread.counter()]
        fake_thread.USE.noted = False

    def in_background(self, ident: int) -> bool:
        """Return whether the end of the program waits for no end of a thread: a daemon, a worker of a pool."""
        thread = vars(self.modules["threading"])["_active"].get(ident)
        if thread is None:
            return False
        return bool(thread._daemonic) or thread in vars(self.modules["concurrent.futures.thread"])["_threads_queues"]


_HASHES: Final[list[Callable[[], int]]] = [fake_thread.counter()]


def _looking(text: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return what makes the text of a thread: told in words, a schedule does not find out that the thread has ended."""

    def looking(self: Any) -> str:
        held = dict(vars(self)) if CONTROL.run is None else {}
        try:
            return text(self)
        finally:
            vars(self).update(held)

    return looking


def _numbered(self: Any) -> int:
    """Return a hash that is the same in every run: sets of threads and futures keep their order.

    It is the number of the object's lock, which says who made the object: equivalent schedules agree on it.
    """
    held = vars(self)
    number: int = held.get("_latchfree_hash", 0)
    if number == 0:
        owner = held.get("_condition") or getattr(held.get("_started"), "_cond", None)
        run = CONTROL.run
        number = (0 if run is None else run.names.numbers.get(id(getattr(owner, "_lock", None)), 0)) or _HASHES[0]()
        held["_latchfree_hash"] = number
    return number


def _keep_error(threading: Any) -> Callable[[], Callable[[Any], None]]:
    """Return what makes what `threading.Thread` does with an uncaught exception.

    The thread's task keeps it, unless the program has a hook of its own for it; SystemExit ends the thread silently.
    """

    def keep(thread: Any) -> None:
        kind, error, traceback = sys.exc_info()
        run = CONTROL.run
        if run is None or run.current is None or isinstance(error, SystemExit):
            return
        hook = _hook_of_the_program(threading)
        if hook is not None:
            try:
                CONTROL.call(0, hook, threading.ExceptHookArgs((kind, error, traceback, thread)))
            except Exception as raised:
                error = raised
            else:
                return
        run.current.error = error

    return lambda: keep


def _hook_of_the_program(threading: Any) -> Any:
    """Return the program's own ``threading.excepthook``, set in a schedule or before; None if it has none."""
    hook = threading.excepthook
    if hook is not threading.__excepthook__:
        return hook
    older = sys.modules["threading"].excepthook
    return older if id(getattr(older, "__code__", None)) in REWRITTEN else None


def _with_time_that_passes(as_completed: Any) -> Any:
    """Return `as_completed` where no time is over at once: the library waits until the clock says more than that."""

    def completed(fs: Any, timeout: float | None = None) -> Any:
        return as_completed(fs, -LITTLE if timeout == 0 else timeout)

    return completed


def _no_daemon(dummy: Any) -> None:
    """Have threads that `threading` did not start be no daemons, nor those that they start."""
    initialise = dummy.__init__

    def initialised(self: Any) -> None:
        initialise(self)
        self._daemonic = False

    dummy.__init__ = initialised


@cache
def library() -> Library:
    """Return the private copies; they are made at the first call."""
    return Library()
