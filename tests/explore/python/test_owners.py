"""What makes an object: a class, a function, a coroutine; and calls that cannot be made on the object."""

import threading

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_async, explore_object, explore_threads
from latchfree_explore.python.given.making import CannotMake
from latchfree_explore.python.given.owners import owner_of


class Counter:
    def __init__(self, start):
        self.n = start
        self.lock = threading.Lock()

    def add(self, k):
        with self.lock:
            before = self.n
            self.n = before + k
            return before


def make() -> Counter:
    return Counter(0)


def make_without_annotation():
    return Counter(0)


class Working:
    """Starts a thread that waits for work for ever."""

    def __init__(self):
        self.n = 0
        self.work = threading.Event()
        self.thread = threading.Thread(target=self.work.wait)
        self.thread.start()

    async def add(self, k):
        before = self.n
        self.n = before + k
        self.work.set()
        return before


@pytest.mark.parametrize("function", [make, make_without_annotation])
def test_only_what_the_made_object_has_is_called(function):
    result = explore_object(function, model="counter", raises=False)
    assert (result.verdict, result.complete, result.programs) == ("ok", True, 21)
    with pytest.raises(ValueError, match=r"make.* has no method of the model 'queue'"):
        explore_object(function, model="queue")
    with pytest.raises(ValueError, match=r"make.* has no method 'read'; fix: explore_object\(..., methods=\{'read'"):
        explore_object(function, "read() | add(1)", model="counter")


def test_what_a_factory_starts_ends_with_the_schedule():
    before = {*threading.enumerate()}  # some may end meanwhile: those of other tests
    assert owner_of(lambda: Working()).is_coroutine("add", {})
    assert {*threading.enumerate()} <= before


def test_a_factory_that_raises_is_refused():
    def broken():
        return Counter()

    with pytest.raises(CannotMake, match=r"broken\(\) raised TypeError: .*fix: give a function"):
        explore_object(broken, model="counter")


class Cache:
    def __init__(self):
        self.items = {}

    def put(self, key, value, seconds):
        self.items[key] = value

    def get(self, key, default=None):
        return self.items.get(key, default)


async def with_an_argument(x):
    return x


def test_calls_that_cannot_be_made_are_refused_before_anything_is_explored():
    with pytest.raises(ValueError, match=r"Cache: the method 'put' is called with 3 argument.*missing.*'seconds'"):
        explore_object(Cache, "put(0, 1) | get(0)")
    with pytest.raises(ValueError, match="the method 'put' is called with 3"):
        explore_object(Cache)
    with pytest.raises(ValueError, match=r"the method for 'get' is called with 2 argument.*but len"):
        explore_object(Cache, "get(0)", methods={"get": len})
    assert explore_object(Cache, "get(0) | get(1)").verdict == "ok"
    with pytest.raises(ValueError, match=r"main is called with 0 argument.*with_an_argument\(x\).*missing.*'x'"):
        explore_async(with_an_argument)
    with pytest.raises(ValueError, match="check is called with 1 argument"):
        explore_async(lambda: with_an_argument(1), check=lambda: True)
    with pytest.raises(ValueError, match="thread 0 is called with 1 argument"):
        explore_threads(lambda: None, setup=Cache)
    with pytest.raises(ValueError, match="thread 1 is called with 0 argument"):
        explore_threads(lambda: None, lambda shared: None)
    with pytest.raises(ValueError, match="check is called with 0 argument"):
        explore_threads(lambda: None, check=lambda shared: True)
    with pytest.raises(ValueError, match="setup is called with 0 argument"):
        explore_threads(lambda shared: None, setup=lambda size: size)
