"""Objects whose methods are functions in C: each call is a step as it is in rewritten code."""

import queue
from collections import deque

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_object, explore_threads
from latchfree_lincheck.testing import linearizable


class Trie(dict):
    def put(self, key, value):
        old = self.get(key)
        self[key] = value
        return old


class LockedTrie(Trie):
    def put(self, key, value):
        return self.setdefault(key, value) if key in self else self._first(key, value)

    def _first(self, key, value):
        self[key] = value


class Fifo(deque):
    enqueue = deque.append

    def dequeue(self):
        return self.popleft() if self else None


def test_a_read_in_c_is_a_step():
    result = explore_object(Trie, "put(0, 1) | get(0)")
    assert (result.verdict, result.complete) == ("ok", True), result.explain()
    assert result.schedules > 1
    result = explore_object(Trie, "put(0, 1) | put(0, 2)", raises=False)
    assert result.wrong.kind == "not linearizable"


@pytest.mark.parametrize(
    ("make", "methods"),
    [
        (deque, {"enqueue": "append", "dequeue": lambda it: it.popleft() if it else None}),
        (queue.SimpleQueue, {"enqueue": "put", "dequeue": "get"}),
        (queue.Queue, {"enqueue": "put", "dequeue": "get"}),
    ],
)
def test_a_queue_in_c_is_explored(make, methods):
    result = explore_object(make, "enqueue(1); dequeue() | enqueue(2)", model="queue", methods=methods)
    assert (result.verdict, result.complete) == ("ok", True), result.explain()


def test_generated_programs_call_functions_in_c():
    methods = {"enqueue": "append", "dequeue": lambda it: it.popleft() if len(it) > 0 else None}
    linearizable("queue", operations=["enqueue"], methods=methods, explore="free", threads=2, programs=5)(deque)()
    result = explore_object(Fifo, "init: enqueue(1) | dequeue() | dequeue()", model="queue", raises=False)
    assert result.wrong.kind == "exception"
    assert "IndexError" in result.wrong.message


def test_a_thread_may_be_a_function_in_c():
    shared = []
    result = explore_threads(
        lambda: shared.append(len(shared)), shared.clear, check=lambda: shared != [0], strategy="dpor", raises=False
    )
    assert result.verdict == "violation"


def test_a_class_may_answer_for_its_methods():
    class Passes:
        def __init__(self):
            self._held = Trie()

        def __getattr__(self, name):
            return getattr(self._held, name)

    assert explore_object(Passes, "put(0, 1) | get(0)").verdict == "ok"
    assert explore_object(Passes, "put(0, 1) | put(0, 2)", raises=False).wrong.kind == "not linearizable"
