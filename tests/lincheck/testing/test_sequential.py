"""Sequential conformance of classes to models, by generated state machines."""

import queue
import unittest

import pytest

from latchfree import Ctrie
from latchfree_lincheck.testing import stateful


class Wrapped(dict):
    """A dict as a map."""

    def put(self, key, value):
        old = self.get(key)
        self[key] = value
        return old

    def remove(self, key):
        return self.pop(key, None)

    def contains(self, key):
        return key in self


class Forgetful(Wrapped):
    """Forgets to say what a put replaced."""

    def put(self, key, value):
        self[key] = value


MAP = {"snapshot": lambda it: dict(it), "size": len, "clear": lambda it: it.clear()}


def nothing_when_empty(it):
    try:
        return it.get_nowait()
    except queue.Empty:
        return None


def enqueue(it, x):
    try:
        it.put_nowait(x)
    except queue.Full:
        return False
    return True


TestDict = stateful("map", Wrapped, methods=MAP, programs=20)
TestTrie = stateful(
    "map",
    lambda: Ctrie(keys=int, values=int),
    methods={
        "snapshot": lambda it: dict(it.items()),
        "size": len,
        "contains": lambda it, key: key in it,
        "remove": lambda it, key: it.pop(key, None),
        "replace": lambda it, key, value: it.put_if_present(key, value),
        "replace_if": lambda it, key, old, new: it.replace(key, old, new),
        "remove_if": lambda it, key, old: it.remove(key, old),
    },
    programs=10,
)
TestTrie.pytestmark = pytest.mark.slow  # the Ctrie is compiled for it
TestQueue = stateful("queue", queue.Queue, methods={"enqueue": "put", "dequeue": nothing_when_empty}, programs=20)
TestBoundedQueue = stateful(
    "bounded-queue", lambda: queue.Queue(4), methods={"enqueue": enqueue, "dequeue": nothing_when_empty}, programs=20
)


def test_a_wrong_class_is_caught():
    case = stateful("map", Forgetful, methods=MAP)
    result = unittest.TestResult()
    case("runTest").run(result)
    ((_, text),) = result.failures
    assert "AssertionError" in text
    assert text.count("state.put") == 2
    assert "returned None, but key" in text


def test_a_call_that_would_block_is_not_made():
    class Lock:
        held = False

        def acquire(self):
            assert not self.held, "this would block for ever"
            self.held = True

        def release(self):
            self.held = False

    result = unittest.TestResult()
    stateful("mutex", Lock, programs=20)("runTest").run(result)
    assert result.wasSuccessful()


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="object has no method for get, put"):
        stateful("map", object)("runTest").debug()
    with pytest.raises(ValueError, match="Wrapped has no method for put_if_absent"):
        stateful("map", Wrapped, operations=["put_if_absent", "put"])("runTest").debug()
    with pytest.raises(ValueError, match="has no operation 'pop'"):
        stateful("map", Wrapped, operations=["pop"])
