"""Shapes of published concurrency bugs, each with its correction: small classes, and what is run on them.

`SHAPES` has a row for each: the wrong program and the right one differ in a line or two.
"""

import asyncio
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import shared_objects as so
import shared_tasks as st

from latchfree_explore import explore_async, explore_threads


class Lockless:
    """Stands for a lock that was forgotten."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None


class Guarded:
    def __init__(self, lock=Lockless):
        self.lock = lock()


class Hits(Guarded):
    """Lost update."""

    def __init__(self, lock=Lockless):
        super().__init__(lock)
        self.n = 0

    def hit(self):
        with self.lock:
            self.n += 1


class Registry(Guarded):
    """Check, then act: two threads make what should be made once."""

    def __init__(self, lock=Lockless):
        super().__init__(lock)
        self.made = []
        self.known = {}

    def get(self, key):
        with self.lock:
            if key not in self.known:
                self.made.append(key)
                self.known[key] = object()
            return self.known[key]


class FlagFirst(so.FlagFirst):
    """Says that it is ready before it is."""

    def use(self):
        assert self.get() == 42


class ValueFirst(FlagFirst):
    """Says that it is ready when it is."""

    def get(self):
        if not self.ready:
            with self.lock:
                if not self.ready:
                    self.value = 42
                    self.ready = True
        return self.value


class OrderedBank(so.Bank):
    """Takes two locks in one order."""

    def back(self):
        with self.first, self.second:
            self.b -= 1
            self.a += 1


class LookingInside(so.MissedSignal):
    """Looks whether it is ready with the lock held."""

    def wait(self):
        with self.changed:
            while not self.ready:
                self.changed.wait()


class LockedLru(so.Lru):
    def __init__(self, capacity=1):
        super().__init__(capacity)
        self.lock = threading.Lock()

    def get(self, key):
        with self.lock:
            return super().get(key)

    def put(self, key, value):
        with self.lock:
            super().put(key, value)


class Listeners:
    """Iterates over what another thread changes."""

    def __init__(self):
        self.callbacks = {0: None}

    def add(self):
        self.callbacks[1] = None

    def every(self):
        return self.callbacks

    def tell(self):
        return [(each, True) for each in self.every()]


class CopiedListeners(Listeners):
    """Iterates over a copy, which one call makes."""

    def every(self):
        return list(self.callbacks)


class Leaking:
    """Does not give the lock back where it raises."""

    def __init__(self):
        self.lock = threading.Lock()
        self.n = 1

    def divide(self):
        self.lock.acquire()
        try:
            self.n = 1 // self.n - 1
        except ZeroDivisionError:
            return
        self.lock.release()


class Returning(Leaking):
    def divide(self):
        with self.lock:
            try:
                self.n = 1 // self.n - 1
            except ZeroDivisionError:
                return


class FlagAsLock:
    """Takes a flag for a lock: two threads see it down."""

    def __init__(self):
        self.busy = False
        self.inside = self.most = 0

    def enter(self):
        while self.busy:
            pass
        self.busy = True

    def leave(self):
        self.busy = False

    def work(self):
        self.enter()
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.inside -= 1
        self.leave()


class LockAsLock(FlagAsLock):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def enter(self):
        self.lock.acquire()

    def leave(self):
        self.lock.release()


class Mailbox:
    """Clears the event after it has looked: a letter that comes in between is not seen."""

    def __init__(self):
        self.letters = []
        self.came = threading.Event()
        self.read = []

    def send(self, letter):
        self.letters.append(letter)
        self.came.set()

    def receive(self):
        for _ in range(2):
            if len(self.read) == 2:
                return
            self.came.wait()
            self.take()

    def take(self):
        while self.letters:
            self.read.append(self.letters.pop(0))
        self.came.clear()


class ClearingMailbox(Mailbox):
    """Clears the event, then looks."""

    def take(self):
        self.came.clear()
        while self.letters:
            self.read.append(self.letters.pop(0))


class Notifying:
    """Calls a listener with the lock held; the listener calls back."""

    def __init__(self, lock=threading.Lock):
        self.lock = lock()
        self.n = 0

    def change(self):
        with self.lock:
            self.listener()

    def listener(self):
        with self.lock:
            self.n += 1


class Asking:
    """Asks whether a queue is empty, then waits for an item that another one takes."""

    def __init__(self):
        self.items = queue.SimpleQueue()
        self.items.put(1)

    def take(self):
        if not self.items.empty():
            self.items.get()


class Trying(Asking):
    def take(self):
        try:
            self.items.get_nowait()
        except queue.Empty:
            return


def nested_tasks(workers):
    """A task of a pool waits for another task of the same pool."""
    with ThreadPoolExecutor(workers) as pool:
        return pool.submit(lambda: pool.submit(int).result()).result()


class Snapshot:
    """Two fields that belong together, written one after the other."""

    def __init__(self):
        self.low = self.high = 0
        self.torn = False

    def write(self):
        self.low = 1
        self.high = 1

    def read(self):
        self.torn = self.low != self.high


class OneField(Snapshot):
    """Both values are one object, which one write exchanges."""

    def __init__(self):
        super().__init__()
        self.both = 0, 0

    def write(self):
        self.both = 1, 1

    def read(self):
        low, high = self.both
        self.torn = low != high


class Readers:
    """A read-write lock whose writer looks and takes in two steps."""

    def __init__(self):
        self.readers = 0
        self.writing = False
        self.changed = threading.Condition()
        self.clash = False

    def read(self):
        with self.changed:
            while self.writing:
                self.changed.wait()
            self.readers += 1
        self.clash = self.clash or self.writing
        with self.changed:
            self.readers -= 1
            self.changed.notify_all()

    def take(self):
        with self.changed:
            while self.readers:
                self.changed.wait()
        self.writing = True

    def write(self):
        self.take()
        self.clash = self.clash or self.readers > 0
        with self.changed:
            self.writing = False
            self.changed.notify_all()


class AtomicReaders(Readers):
    def take(self):
        with self.changed:
            while self.readers:
                self.changed.wait()
            self.writing = True


async def cached(lock):
    """Two tasks load what should be loaded once."""
    loads = []
    known = {}

    async def get(key):
        async with lock():
            if key not in known:
                loads.append(key)
                await st.outside_event("the load")
                known[key] = True

    await asyncio.gather(get(1), get(1))
    return loads


class NoAsyncLock:
    async def __aenter__(self):
        return self

    async def __aexit__(self, *exception):
        return None


def one_lock():
    lock = asyncio.Lock()
    return lambda: lock


async def load_once(locked):
    return await cached(one_lock() if locked else NoAsyncLock)


@dataclass(frozen=True)
class Shape:
    """A bug and its correction.

    Attributes
    ----------
    kind : str
        What is wrong, as the verdict says.
    wrong, right : callable
        Explore either, given options.
    """

    kind: str
    wrong: object
    right: object


def threads(setup, *calls, check=None):
    bodies = [partial(perform, each) for each in calls]
    return partial(explore_threads, *bodies, setup=setup, check=check)


def perform(call, it):
    name, *arguments = call
    getattr(it, name)(*arguments)


def pair(kind, wrong, right, *calls, check=None):
    return Shape(kind, threads(wrong, *calls, check=check), threads(right, *calls, check=check))


def tasks(kind, wrong, right, **options):
    return Shape(kind, partial(explore_async, wrong, **options), partial(explore_async, right, **options))


LOCKED = threading.Lock
SHAPES = {
    "lost update": pair("invariant", Hits, partial(Hits, LOCKED), ("hit",), ("hit",), check=lambda it: it.n == 2),
    "check, then act": pair(
        "invariant", Registry, partial(Registry, LOCKED), ("get", 1), ("get", 1), check=lambda it: it.made == [1]
    ),
    "ready before it is": pair("exception", FlagFirst, ValueFirst, ("use",), ("use",)),
    "two locks in two orders": pair("deadlock", so.Bank, OrderedBank, ("there",), ("back",)),
    "if for while around a wait": pair("exception", so.IfBuffer, so.Buffer, ("put", 1), ("put", 2), ("get",), ("get",)),
    "one notify for waiters of two kinds": pair(
        "deadlock", so.NotifyOneBuffer, so.Buffer, ("put", 1), ("put", 2), ("get",), ("get",)
    ),
    "a signal that nobody hears": pair("lost wakeup", so.MissedSignal, LookingInside, ("wait",), ("signal",)),
    "a cache without a lock": pair("exception", so.Lru, LockedLru, ("put", 1, 1), ("put", 2, 2), ("get", 1)),
    "iteration over what changes": pair("exception", Listeners, CopiedListeners, ("tell",), ("add",)),
    "a lock kept by an error": pair("deadlock", Leaking, Returning, ("divide",), ("divide",), ("divide",)),
    "a flag for a lock": pair("invariant", FlagAsLock, LockAsLock, ("work",), ("work",), check=lambda it: it.most == 1),
    "an event cleared too late": pair(
        "lost wakeup", Mailbox, ClearingMailbox, ("send", "a"), ("send", "b"), ("receive",)
    ),
    "a callback under the lock": pair(
        "deadlock", Notifying, partial(Notifying, threading.RLock), ("change",), ("change",)
    ),
    "empty() before get()": pair("deadlock", Asking, Trying, ("take",), ("take",)),
    "a pool that waits for itself": Shape(
        "deadlock",
        partial(explore_threads, partial(nested_tasks, 1)),
        partial(explore_threads, partial(nested_tasks, 2)),
    ),
    "two fields, two writes": pair(
        "invariant", Snapshot, OneField, ("write",), ("read",), check=lambda it: not it.torn
    ),
    "a writer that looks, then takes": pair(
        "invariant", Readers, AtomicReaders, ("write",), ("read",), check=lambda it: not it.clash
    ),
    "look, await, act": tasks(
        "invariant",
        partial(st.withdraw_twice, st.Account),
        partial(st.withdraw_twice, st.LockedAccount),
        check=lambda account: account.balance >= 0,
    ),
    "two tasks load the same": tasks(
        "invariant", partial(load_once, False), partial(load_once, True), check=lambda loads: loads == [1]
    ),
    "a permit lost by a cancellation": tasks(
        "deadlock",
        partial(st.use_pool, st.Pool),
        partial(st.use_pool, st.FixedPool),
        check=lambda pool: pool.whole(),
        cancels=1,
    ),
}
