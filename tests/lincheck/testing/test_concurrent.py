"""Racy classes are caught and their programs made small; correct ones pass."""

import subprocess
import sys
import threading
import time
from collections import deque

import pytest
from hypothesis import strategies as st

from latchfree_lincheck.testing import NotLinearizable, linearizable
from latchfree_lincheck.testing import threads as running
from latchfree_lincheck.testing.stuck import Stuck
from latchfree_model import define

TRACED = pytest.mark.skipif(not running.CAN_TRACE, reason="threads give way at no bytecode")


class RacyCounter:
    """Another thread may add between reading and writing."""

    def __init__(self):
        self.value = 0

    def add(self, n):
        before = self.value
        time.sleep(0)
        self.value = before + n
        return before

    def read(self):
        return self.value


class LockedCounter(RacyCounter):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def add(self, n):
        with self.lock:
            return super().add(n)


class CheckThenAct:
    """A set that looks first and acts then, and gives way nowhere."""

    def __init__(self):
        self.elements = {}

    def add(self, x):
        if x in self.elements:
            return False
        self.elements[x] = True
        return True

    def remove(self, x):
        if x not in self.elements:
            return False
        self.elements.pop(x, None)
        return True

    def contains(self, x):
        return x in self.elements


class LockedSet(CheckThenAct):
    def __init__(self):
        super().__init__()
        self.lock = threading.RLock()

    def add(self, x):
        with self.lock:
            return super().add(x)

    def remove(self, x):
        with self.lock:
            return super().remove(x)


class WrongQueue:
    """A queue that is a stack: even a sequential program shows it."""

    def __init__(self):
        self.items = deque()

    def put(self, x):
        self.items.append(x)

    def get(self):
        try:
            return self.items.pop()
        except IndexError:
            return None


METHODS = {"enqueue": "put", "dequeue": "get"}


def failure(model, make, **options):
    """Run generated tests of what is wrong until one fails, mostly the first, and return how."""
    for _ in range(10):
        try:
            linearizable(model, **{"seconds": 300, "shrink_seconds": 300, **options})(make)()
        except NotLinearizable as error:
            return error
    raise AssertionError("the threads never met")


def test_a_racy_counter_is_caught():
    error = failure("counter", RacyCounter, threads=2, repeats=5)
    assert error.verdict.verdict == "violation"
    assert all(error.program), "each of the two threads is needed"
    text = str(error)
    assert "went wrong in round" in text
    assert "process 0" in text
    assert "process 1" in text
    assert " || " in text
    assert "✗" in text
    assert "but the counter held" in text


@TRACED
def test_a_set_that_checks_then_acts_is_caught_though_it_gives_way_nowhere():
    error = failure("set", CheckThenAct, threads=2, repeats=5)
    assert all(error.program), "each of the two threads is needed"


@pytest.mark.parametrize(("model", "make"), [("counter", LockedCounter), ("set", LockedSet)])
def test_locked_classes_pass(model, make):
    linearizable(model, threads=(2, 3), programs=25, repeats=10)(make)()


def test_three_threads():
    error = failure("counter", RacyCounter, threads=3, repeats=10)
    assert len(error.program) == 3


def test_a_sequential_mistake_needs_one_thread():
    error = failure("queue", WrongQueue, threads=1, methods=METHODS, repeats=1)
    ((first, second, third),) = error.program
    assert (first.f, second.f, third.f) == ("enqueue", "enqueue", "dequeue")
    assert (first.arguments, second.arguments) in (((1,), (2,)), ((2,), (1,)))
    assert error.small is None, "each of the three calls is needed"
    assert "was cut" not in str(error)


@TRACED
def test_a_mutex():
    class Broken:
        def __init__(self):
            self.held = False

        def acquire(self):
            while self.held:
                time.sleep(0)
            self.held = True

        def release(self):
            self.held = False

    linearizable("mutex", threads=2, programs=10, repeats=5)(threading.Lock)()
    error = failure("mutex", Broken, threads=2)
    # How small a program gets depends on how often the threads of the smaller ones met.
    assert all([step.f for step in thread] == ["acquire", "release"] * (len(thread) // 2) for thread in error.program)


def test_a_model_and_arguments_of_ones_own():
    register = define("box", None, {"set": lambda state, x: (None, x), "get": lambda state: (state, state)})

    class Box:
        """Forgets for a moment what it holds."""

        def __init__(self):
            self.x = None

        def set(self, x):
            self.x = None
            time.sleep(0)
            self.x = x

        def get(self):
            return self.x

    arguments = {"set": (st.sampled_from("ab"),)}
    error = failure(register, Box, arguments=arguments, threads=2, repeats=5)
    assert {x for thread in error.program for step in thread for x in step.arguments} <= set("ab")
    assert "get() returned None, but it may return" in str(error)
    with pytest.raises(ValueError, match=r"say what to call 'set' with: arguments="):
        linearizable(register)(Box)()


def test_a_weaker_promise_may_hold():
    class Slots:
        """One slot a thread: a sum may see a later add and miss an earlier one."""

        def __init__(self):
            self.slots = {}

        def add(self, n):
            me = threading.get_ident()
            self.slots[me] = self.slots.get(me, 0) + n

        def read(self):
            return sum(list(self.slots.values()))

    linearizable("counter", criterion="intermediate-value", programs=20, repeats=5)(Slots)()


def test_what_a_method_raises_is_a_failure():
    class Full:
        def add(self, n):
            raise OverflowError("full")

    with pytest.raises(OverflowError, match="full"):
        linearizable("counter", operations=["add"])(Full)()


def test_threads_that_wait_for_each_other_are_named(monkeypatch):
    class Waits:
        def add(self, n):
            threading.Event().wait()

    monkeypatch.setattr(running, "STUCK", 2.0)
    with pytest.raises(Stuck, match=r"the program .*add\(1\).* did not end in 2 s: .*process 0: add\(1\) pending"):
        linearizable("counter", operations=["add"], programs=1, repeats=1)(Waits)()


def test_objects_are_closed():
    closed = []

    class Closes(LockedCounter):
        def close(self):
            closed.append(self)

    linearizable("counter", programs=3, repeats=4)(Closes)()
    assert len(closed) >= 3 * 4


def test_the_test_is_named_after_what_makes_the_object():
    @linearizable("counter")
    def test_my_counter():
        """Mine."""
        return LockedCounter()

    assert (test_my_counter.__name__, test_my_counter.__doc__) == ("test_my_counter", "Mine.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"operations": ["sub"]}, "the model 'counter' has no operation 'sub'; it has add, read"),
        ({"methods": {"sub": "minus"}}, "has no operation 'sub'"),
        ({"arguments": {"add": ()}}, "'add' takes 1 argument"),
        ({"threads": 0}, "threads must be at least 1, got 0"),
        ({"threads": (3, 2)}, "threads must be at least and at most so many"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        linearizable("counter", **options)


class Methods:
    def method(self):
        raise NotImplementedError

    @staticmethod
    def static():
        raise NotImplementedError


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (Methods.method, r"Methods.method is a method; fix: a function of the module, or, in a class that"),
        (vars(Methods)["static"], r"Methods.static is a method; fix"),
        (lambda fixture: fixture, r"<lambda> takes fixture, which nobody gives; fix: .*@pytest.mark.linearizable"),
    ],
)
def test_what_takes_arguments_is_refused(make, says):
    with pytest.raises(TypeError, match=says):
        linearizable()(make)


def test_an_object_without_the_methods_is_refused():
    with pytest.raises(ValueError, match=r"object has no method for add, read; say how to call them: methods="):
        linearizable("counter")(object)()
    with pytest.raises(TypeError, match="does not list its operations"):
        linearizable(object())


def test_without_hypothesis_the_error_says_what_to_install():
    code = "import sys; sys.modules['hypothesis'] = None; import latchfree_lincheck.testing"
    path = {"PYTHONPATH": ":".join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=path, check=False)
    assert run.returncode == 1
    assert "needs hypothesis; fix: pip install 'latchfree[check]'" in run.stderr


def test_a_failure_has_a_smaller_history_that_is_wrong_by_itself():
    class Forgets(LockedCounter):
        def add(self, n):
            before = super().add(n)
            return before if before < 4 else 0

    error = failure("counter", Forgets, threads=1, repeats=1)
    assert len(error.small) < len(error.history)
    assert "so this part of it is wrong by itself" in str(error)


def test_a_cut_search_for_a_smaller_program_says_so():
    with pytest.raises(NotLinearizable) as caught:
        linearizable("queue", threads=1, methods=METHODS, repeats=1, seconds=300, shrink_seconds=0)(WrongQueue)()
    assert "the search for a smaller program was cut after 0 s; shrink_seconds= gives it more" in str(caught.value)

    class Full:
        def add(self, n):
            if n == 3:
                raise OverflowError("full")

    with pytest.raises(OverflowError, match="full") as raised:
        linearizable("counter", operations=["add"], most_calls=9, seconds=300, shrink_seconds=0)(Full)()
    assert any("was cut after 0 s" in note for note in raised.value.__notes__)
    assert raised.traceback[-1].name == "add", "the traceback leads to the user's line"


def test_seeds_choose_the_programs():
    def programs(seed):
        seen = []

        class Sees(LockedCounter):
            def add(self, n):
                seen.append(n)
                return super().add(n)

        linearizable("counter", threads=1, programs=20, repeats=1, seed=seed)(Sees)()
        return seen

    assert programs(None) == programs(None)
    assert programs(1) == programs(1)
    assert programs(1) != programs(2)


def test_every_object_that_is_made_is_closed():
    made, closed = [], []

    class Closing(LockedCounter):
        def __init__(self):
            super().__init__()
            made.append(self)

        def close(self):
            closed.append(self)

    linearizable("counter", threads=2, programs=2, repeats=2)(Closing)()
    assert made == closed
