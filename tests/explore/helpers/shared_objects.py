"""Small classes that threads share: right ones, and the shapes of published bugs."""

import queue
import threading
import time
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor


class Counter:
    def __init__(self):
        self.n = 0

    def increment(self):
        before = self.n
        self.n = before + 1
        return before


class ConvertingCounter(Counter):
    """Calls into C between the read and the write."""

    def increment(self):
        before = int(self.n)
        self.n = before + 1
        return before


class AddingCounter(Counter):
    """A counter as the model calls it."""

    def add(self, amount):
        before = self.n
        self.n = before + amount
        return before


class AddingConvertingCounter(AddingCounter):
    def add(self, amount):
        before = int(self.n)
        self.n = before + amount
        return before


class ItemCounter:
    def __init__(self):
        self.d = {"n": 0}

    def increment(self):
        self.d["n"] += 1


class LockedMap:
    def __init__(self):
        self.d = {}
        self.lock = threading.Lock()

    def put(self, key, value):
        with self.lock:
            old = self.d.get(key)
            self.d[key] = value
            return old

    def get(self, key):
        with self.lock:
            return self.d.get(key)

    def remove(self, key):
        with self.lock:
            return self.d.pop(key, None)


class StaleMap(LockedMap):
    """Reads without the lock from a copy that a put refreshes too late."""

    def __init__(self):
        super().__init__()
        self.seen = {}

    def put(self, key, value):
        with self.lock:
            old = self.d.get(key)
            self.d[key] = value
        self.seen = dict(self.d)
        return old

    def get(self, key):
        return self.seen.get(key)


class Buffer:
    def __init__(self, capacity=1):
        self.items = deque()
        self.capacity = capacity
        self.changed = threading.Condition()

    def put(self, item):
        with self.changed:
            while len(self.items) >= self.capacity:
                self.changed.wait()
            self.items.append(item)
            self.notify()

    def get(self):
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.notify()
            return item

    def notify(self):
        self.changed.notify_all()


class NotifyOneBuffer(Buffer):
    """Wakes one waiter, which may be of the wrong kind."""

    def notify(self):
        self.changed.notify()


class IfBuffer(Buffer):
    """Waits once, and does not look again."""

    def get(self):
        with self.changed:
            if not self.items:
                self.changed.wait()
            item = self.items.popleft()
            self.notify()
            return item


class Lazy:
    """Looks without the lock first, and again with it."""

    def __init__(self):
        self.value = None
        self.lock = threading.Lock()
        self.made = 0

    def get(self):
        if self.value is None:
            with self.lock:
                if self.value is None:
                    self.made += 1
                    self.value = object()
        return self.value


class FlagFirst:
    """Says that it is ready before it is."""

    def __init__(self):
        self.ready = False
        self.value = None
        self.lock = threading.Lock()

    def get(self):
        if not self.ready:
            with self.lock:
                if not self.ready:
                    self.ready = True
                    self.value = 42
        return self.value


class Lru:
    """No lock at all."""

    def __init__(self, capacity=1):
        self.capacity = capacity
        self.d = OrderedDict()

    def get(self, key):
        if key in self.d:
            self.d.move_to_end(key)
            return self.d[key]
        return None

    def put(self, key, value):
        self.d[key] = value
        self.d.move_to_end(key)
        if len(self.d) > self.capacity:
            self.d.popitem(last=False)


class Bank:
    """Takes two locks in two orders."""

    def __init__(self):
        self.first = threading.Lock()
        self.second = threading.Lock()
        self.a = self.b = 10

    def there(self):
        with self.first, self.second:
            self.a -= 1
            self.b += 1

    def back(self):
        with self.second, self.first:
            self.b -= 1
            self.a += 1


class Spin:
    """Waits in a loop for a flag."""

    def __init__(self):
        self.flag = False
        self.data = 0

    def set(self):
        self.data = 1
        self.flag = True

    def wait(self):
        while not self.flag:
            pass
        return self.data


class MissedSignal:
    """Looks whether it is ready before it takes the lock, and then waits for a signal that may have come."""

    def __init__(self):
        self.ready = False
        self.changed = threading.Condition()

    def signal(self):
        with self.changed:
            self.ready = True
            self.changed.notify()

    def wait(self):
        if not self.ready:
            with self.changed:
                self.changed.wait()


def through_a_queue():
    """Two producers, one consumer, a queue of one place."""
    places = queue.Queue(1)
    threads = [threading.Thread(target=places.put, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    got = sorted(places.get() for _ in range(2))
    for thread in threads:
        thread.join()
    assert got == [0, 1]


def in_a_pool():
    """Two tasks in a pool of two workers."""
    done = []
    with ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(done.append, k) for k in range(2)]
        for future in futures:
            future.result()
    assert sorted(done) == [0, 1]


def sleepy():
    """Time passes only where no thread can move."""
    said = []

    def late():
        time.sleep(10)
        said.append("late")

    thread = threading.Thread(target=late)
    thread.start()
    said.append("early")
    thread.join()
    assert said == ["early", "late"]
    assert time.monotonic() >= 10


TOTAL = 0
LOCK = threading.Lock()


def add_to_total():
    global TOTAL
    TOTAL += 1


def add_to_total_locked():
    global TOTAL
    with LOCK:
        TOTAL += 1
