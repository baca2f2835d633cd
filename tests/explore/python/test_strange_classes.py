"""Classes that answer for their attributes, that start threads when they are made, or that only an object reaches."""

import sys
import threading
from contextlib import nullcontext

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_object, explore_threads


class Asked:
    """Answers for every attribute itself."""

    def __init__(self):
        self.n = 0

    def __getattribute__(self, name):
        if name == "twice":
            return 2 * self.n
        return super().__getattribute__(name)

    def add(self):
        self.n = self.n + 1

    def add_by_twice(self):
        self.n = self.twice + 1 - self.n


class Posing:
    """Says that it is of another class."""

    def __init__(self):
        self.inner = None
        self.n = 0

    @property
    def __class__(self):
        if self.inner is None:
            self.inner = 3
        return type(self.inner)

    def add(self):
        self.n += 1


class Worker:
    """Starts a thread that adds what it gets."""

    def __init__(self, locked=True):
        self.n = 0
        self.lock = threading.Lock() if locked else None
        self.thread = threading.Thread(target=self.increment)
        self.thread.start()

    def increment(self):
        if self.lock is None:
            self.n += 1
        else:
            with self.lock:
                self.n += 1

    def add(self, n):
        self.thread.join()
        before = self.n - 1
        self.n = before + n + 1
        return before

    def read(self):
        self.thread.join()
        return self.n - 1


def result_of(*threads, **options):
    return explore_threads(*threads, strategy="dpor", raises=False, **options)


@pytest.mark.parametrize("kind", [Asked, Posing])
def test_a_class_that_answers_for_its_attributes_loses_an_addition_only_where_it_can(kind):
    options = {"setup": kind, "check": lambda it: it.n == 2}
    free = result_of(kind.add, kind.add, **options)
    assert (free.wrong.kind, free.preemptions) == ("invariant", 1)
    gil = result_of(kind.add, kind.add, switches="gil", **options)
    assert (gil.verdict, gil.complete) == ("ok", True)


def test_the_interpreter_polls_where_a_class_answers():
    options = {"setup": Asked, "check": lambda it: it.n == 2}
    assert result_of(Asked.add_by_twice, Asked.add_by_twice, switches="gil", **options).wrong.kind == "invariant"


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_threads_that_a_constructor_starts_are_explored(switches):
    before = {*threading.enumerate()}  # some may end meanwhile: those of other tests

    def add(worker):
        worker.increment()
        worker.thread.join()

    def whole(worker):
        return worker.n == 2

    right = result_of(add, setup=Worker, check=whole, switches=switches)
    assert (right.verdict, right.complete) == ("ok", True)
    wrong = result_of(add, setup=lambda: Worker(locked=False), check=whole, switches=switches)
    assert (wrong.wrong is None) == (switches == "gil")
    assert {*threading.enumerate()} <= before


def test_calls_on_an_object_that_starts_a_thread_are_judged():
    right = explore_object(Worker, "add(1) | after: read()", model="counter")
    assert (right.verdict, right.complete) == ("ok", True)
    wrong = explore_object(Worker, "add(1) | add(1)", model="counter", raises=False)
    assert wrong.wrong.kind == "not linearizable"
    assert "setup" in wrong.explain()


class Registry(type):
    """Counts the classes that it makes."""

    made = 0

    def __new__(cls, name, bases, namespace):
        Registry.made = Registry.made + 1
        return super().__new__(cls, name, bases, namespace)


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_metaclass_is_explored(switches):
    def make():
        class Made(metaclass=Registry):
            pass

        assert type(Made) is Registry

    result = result_of(make, make, check=lambda: Registry.made == 2, switches=switches)
    assert (result.wrong is None) == (switches == "gil")
    assert Registry.made == 0


def numbers():
    yield 0
    yield 1


class Shared:
    def __init__(self, lock):
        self.numbers = numbers()
        self.lock = lock
        self.met = 0

    def take(self):
        with self.lock:
            next(self.numbers)

    def take_all(self):
        with self.lock:
            for _ in self.numbers:
                pass

    def meets(self, take):
        try:
            take(self)
        except ValueError:  # generator already executing
            self.met = 1


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("take", [Shared.take, Shared.take_all])
def test_a_generator_that_two_threads_resume(take, switches):
    def explored(lock):
        threads = [lambda shared: shared.meets(take)] * 2
        return result_of(*threads, setup=lambda: Shared(lock()), check=lambda shared: not shared.met, switches=switches)

    wrong = explored(nullcontext)
    assert wrong.wrong.kind == "invariant"
    assert "resume Shared.numbers" in wrong.explain()
    right = explored(threading.Lock)
    assert (right.verdict, right.complete) == ("ok", True)


def test_a_closure_that_is_kept_can_be_called_afterwards():
    kept = []

    def counter():
        n = 0

        def add():
            nonlocal n
            n += 1
            return n

        return add

    for schedules in (20, 250):  # the garbage collector has seen the closures of the second search
        result = explore_threads(
            lambda add: add(), lambda add: add(), setup=counter, check=kept.append, strategy="random",
            schedules=schedules, raises=False,
        )  # fmt: skip
        assert result.schedules == schedules
        assert [each() for each in (kept[0], kept[-1])] == [1, 1]
        assert not any(name.startswith("_lf_") for name in kept[-1].__code__.co_names)
        kept.clear()


def test_an_exception_while_the_object_is_made_and_starts_threads_is_the_first_threads():
    class Fails(Worker):
        def __init__(self):
            super().__init__()
            raise ValueError("no room")

    result = result_of(lambda it: None, setup=Fails)
    assert result.wrong.kind == "exception"
    assert "setup raised ValueError: no room" in result.wrong.message


def test_a_module_that_only_the_object_reaches_is_explored(tmp_path, monkeypatch):
    (tmp_path / "far_away.py").write_text(
        "class Counter:\n    def __init__(self):\n        self.n = 0\n    def add(self):\n        self.n += 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "far_away", raising=False)

    def make():
        return __import__("far_away").Counter()

    for _ in range(2):  # the second time it is imported already
        result = result_of(lambda it: it.add(), lambda it: it.add(), setup=make, check=lambda it: it.n == 2)
        assert result.preemptions == 1
    monkeypatch.delitem(sys.modules, "far_away")
