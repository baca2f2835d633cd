"""What is older than the exploration is put back after each schedule, and no code of the program runs for that."""

import contextlib
import ctypes
import decimal
import functools
import itertools
import logging
import operator
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Generic, TypeVar

import numpy as np
import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads


class Node:
    def __init__(self):
        self.value = 0


class Default:
    n = 0

    def method(self):
        return 1


class Ring(list):
    def __getitem__(self, at):
        return super().__getitem__(at % len(self))

    def __setitem__(self, at, value):
        super().__setitem__(at % len(self), value)


class Computed:
    log: ClassVar[list[str]] = []

    def __init__(self):
        self.calls = 0

    @functools.cached_property
    def value(self):
        self.calls += 1
        return self.calls

    @property
    def told(self):
        self.log.append("get")
        return 1

    @told.setter
    def told(self, value):
        self.log.append("set")

    @told.deleter
    def told(self):
        self.log.append("delete")


FOO, TOLD = ("foo", 1), ("told", 3)
NUMBERS = itertools.count(1)
LETTERS = iter(["a", "b", "c"])


@functools.lru_cache
def cached(key):
    return STATE.value


STATE = Node()


class Other(Node):
    """What a node may become."""


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_int),)


T = TypeVar("T")


class Of(Generic[T]):
    n = 0


class Named(dict):
    """A dictionary whose items are its attributes."""

    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


def answer(n=0):
    return n


def of_a_cell():
    n = 0
    return lambda: n


def other_attribute(it):
    it["value"] = 1
    it.more = 2


CELL = of_a_cell().__closure__[0]
IN_C = {
    "__class__": (Node, lambda it: setattr(it, "__class__", Other), lambda it: type(it)),
    "__dict__": (Node, lambda it: setattr(it, "__dict__", {"value": 9}), lambda it: vars(it)),
    "args": (lambda: ValueError(0), lambda it: setattr(it, "args", (1,)), lambda it: it.args),
    "a cause": (lambda: ValueError(0), lambda it: setattr(it, "__cause__", KeyError()), lambda it: it.__cause__),
    "defaults": (lambda: answer, lambda it: setattr(it, "__defaults__", (1,)), lambda it: it()),
    "the name of a function": (lambda: answer, lambda it: setattr(it, "__name__", "a"), lambda it: it.__name__),
    "the name of a class": (lambda: Other, lambda it: setattr(it, "__name__", "a"), lambda it: it.__name__),
    "a number of C": (ctypes.c_int, lambda it: setattr(it, "value", 1), lambda it: it.value),
    "a field of C": (Point, lambda it: setattr(it, "x", 1), lambda it: it.x),
    "an array of C": (lambda: (ctypes.c_int * 2)(1, 2), lambda it: it.__setitem__(0, 5), list),
    "a context": (lambda: decimal.Context(prec=1), lambda it: setattr(it, "prec", 2), lambda it: it.prec),
    "a cell": (lambda: CELL, lambda it: setattr(it, "cell_contents", 1), lambda it: it.cell_contents),
    "the setter of type": (lambda: Default, lambda it: type.__setattr__(it, "n", 1), lambda it: it.n),
    "the deleter of type": (lambda: Default, lambda it: type.__delattr__(it, "n"), lambda it: it.n),
    "a generic class": (lambda: Of[int], lambda it: setattr(it, "n", 1), lambda it: (it.n, Of.n)),
    "items that are attributes": (lambda: Named(value=0), other_attribute, lambda it: (dict(it), vars(it) is it)),
}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("name", IN_C)
def test_an_attribute_that_code_in_c_keeps(name, inside):
    make, change, state = IN_C[name]
    old = make()
    before = state(old)
    explore_threads(lambda _: inside and change(old), setup=lambda: inside or change(old))
    assert state(old) == before


@pytest.mark.parametrize("how", [operator.methodcaller("append", 1), operator.methodcaller("sort", reverse=True)])
def test_a_method_is_called_of_each_list(how):
    old = [[0, 1], [2, 3]]

    def changes():
        list(map(how, old))

    def looks():
        assert 1 not in (old[0][0], len(old[1]) - 2)

    assert explore_threads(changes, looks, strategy="dpor", raises=False).wrong is not None
    assert old == [[0, 1], [2, 3]]


SHARED = {"value": 0}


class Borg(Node):
    def __init__(self):
        self.__dict__ = SHARED


def test_objects_that_share_their_attributes():
    def adds(_):
        borg = Borg()
        borg.value = borg.value + 1

    result = explore_threads(
        adds, adds, setup=lambda: None, check=lambda _: SHARED["value"] == 2, strategy="dpor", raises=False
    )
    assert result.wrong.kind == "invariant"
    assert explore_threads(adds, adds, setup=Borg).verdict == "ok"
    assert SHARED == {"value": 0}


def test_a_default_of_the_class_leaves_no_attribute():
    old, other = Default(), Default()

    def add():
        old.n += 1
        other.method = None

    explore_threads(add, add, check=lambda: old.n in (1, 2))
    assert vars(old) == {}
    assert vars(other) == {}


def test_a_list_whose_class_has_its_own_items():
    ring = Ring([1, 2, 3])

    def add():
        ring.append(4)
        ring[5] = 7

    explore_threads(add, add)
    assert list(ring) == [1, 2, 3]


def test_a_weak_proxy_stands_for_its_object():
    node = Node()

    def writes():
        proxy = weakref.proxy(node)
        proxy.value += 1
        proxy.new = 2

    result = explore_threads(writes, writes, check=lambda: node.value == 2, strategy="dpor", raises=False)
    assert result.wrong.kind == "invariant"
    assert vars(node) == {"value": 0}


def test_attributes_that_cannot_be_written():
    def writes():
        with contextlib.suppress(TypeError):
            int.foo = 1
        with contextlib.suppress(TypeError):
            setattr(int, *FOO)

    assert explore_threads(writes).verdict == "ok"


def test_no_property_is_asked():
    old = Computed()

    def writes():
        old.told = 2
        setattr(old, *TOLD)
        del old.told
        old.value = 5

    before = list(Computed.log)
    explore_threads(writes, strategy="dpor")
    assert Computed.log == before
    assert vars(old) == {"calls": 0}


def test_a_property_that_is_computed_once_is_computed_again_in_the_next_run():
    old = Computed()

    def asks():
        old.value  # noqa: B018

    explore_threads(asks, asks, check=lambda: old.calls >= 1)
    assert vars(old) == {"calls": 0}


def test_a_property_that_is_computed_once_may_be_computed_twice(monkeypatch):
    guarded = hasattr(functools.cached_property(len), "lock")  # before Python 3.12

    def asks(it):
        it.value  # noqa: B018

    for switches in "free", "gil":
        result = explore_threads(
            asks, asks, setup=Computed, check=lambda it: it.calls == 1, switches=switches, strategy="dpor",
            raises=False,
        )  # fmt: skip
        assert (result.wrong is None) == guarded


def test_a_count_that_is_older_goes_on_from_where_it_was():
    def draws(it):
        it[next(NUMBERS)] = 1

    result = explore_threads(draws, draws, setup=dict, check=lambda it: sorted(it) == [1, 2])
    assert result.complete
    assert next(NUMBERS) == 1


def test_an_iterator_that_is_older_goes_on_from_where_it_was():
    def draws(it):
        for letter in LETTERS:
            it.append(letter)
            break

    result = explore_threads(draws, draws, setup=list, check=lambda it: sorted(it) == ["a", "b"])
    assert result.complete
    assert next(LETTERS) == "a"


def test_an_iterator_of_the_setup_is_that_of_the_threads():
    def made():
        numbers = iter([1, 2, 3])
        return [numbers, zip(numbers, numbers, strict=False)]

    def draws(it):
        it.append((next(it[0]), next(it[1])))

    assert explore_threads(draws, setup=made, check=lambda it: it[2] == (1, (2, 3))).complete


@pytest.mark.parametrize("wrong", [0, 1])
def test_a_cache_of_calls_is_empty_again(wrong):
    cached(1)

    def reads(it):
        it.value = cached(1)

    def writes(it):
        STATE.value = 1

    result = explore_threads(
        reads, writes, setup=Node, check=lambda it: it.value != wrong, strategy="dpor", raises=False
    )
    assert result.wrong is not None
    assert cached.cache_info().currsize == 0


@functools.cache
def registry():
    return []


def test_a_cache_of_calls_may_make_two_results():
    class Seen:
        first = second = None

    def one(it):
        it.first = registry()

    def two(it):
        it.second = registry()

    def differ(it):
        return it.first is it.second

    for switches in "free", "gil":
        found = explore_threads(one, two, setup=Seen, check=differ, strategy="dpor", switches=switches, raises=False)
        assert found.wrong is not None

    assert explore_threads(one, two, setup=lambda: (registry(), Seen())[1], check=differ, strategy="dpor").complete


def test_a_cache_that_the_setup_fills_is_full_in_each_run():
    calls = Node()

    def compute(key):
        calls.value += 1
        return key

    remembered = functools.lru_cache(compute)

    def setup():
        calls.value = 0
        return remembered(1)

    def asks(it):
        remembered(1)

    assert explore_threads(asks, asks, setup=setup, check=lambda it: calls.value == 1, strategy="dpor").complete


def test_a_cache_that_the_thread_makes_is_nothing_older():
    def makes(it):
        remembered = functools.lru_cache(lambda key: key)
        it.value = remembered(1), remembered(1), remembered.cache_info().hits

    assert explore_threads(makes, setup=Node, check=lambda it: it.value == (1, 1, 1), strategy="dpor").complete


def by_threads(function):
    threads = [threading.Thread(target=function, args=(1,)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def by_a_pool(function):
    with ThreadPoolExecutor(1) as pool:
        pool.submit(function, 1)
        function(1)


def by_partial_functions(function):
    threads = [threading.Thread(target=functools.partial(function, 1)) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


CALLS = []


@functools.lru_cache
def counted(key):
    CALLS.append(key)
    return key


def of_a_module(call):
    call(counted)
    return len(CALLS)


def of_a_function(call):
    made = []

    @functools.lru_cache
    def local(key):
        made.append(key)
        return key

    call(local)
    return len(made)


@pytest.mark.parametrize("call", [by_threads, by_a_pool, by_partial_functions])
@pytest.mark.parametrize("count", [of_a_module, of_a_function])
def test_a_cache_that_is_given_away(call, count):
    seen = []

    def body(it):
        it.value = count(call)

    assert explore_threads(body, setup=Node, check=lambda it: seen.append(it.value), strategy="dpor").complete
    assert set(seen) == {1, 2}


def test_a_cache_that_is_called_by_map_is_empty_again():
    def maps(it):
        it.value = list(map(counted, [1, 2, 1])), len(CALLS)

    explored = explore_threads(maps, maps, setup=Node, check=lambda it: it.value[0] == [1, 2, 1], strategy="dpor")
    assert explored.complete
    assert counted.cache_info().currsize == 0


class Counting(logging.Handler):
    def __init__(self):
        super().__init__()
        self.n = 0

    def emit(self, record):
        before = self.n
        self.n = before + 1


def logger_that_counts():
    logger, handler = logging.Logger("counting"), Counting()
    logger.addHandler(handler)
    return logger, handler


def test_the_lock_of_a_handler_excludes_others():
    def logs(both):
        both[0].warning("a")

    result = explore_threads(logs, logs, setup=logger_that_counts, check=lambda both: both[1].n == 2)
    assert result.complete


def lock_in_a_stack(lock, numbers):
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock)
        before = numbers[0]
        numbers[0] = before + 1


def lock_in_a_condition(lock, numbers):
    with threading.Condition(lock):
        before = numbers[0]
        numbers[0] = before + 1


@pytest.mark.parametrize("adds", [lock_in_a_stack, lock_in_a_condition])
def test_a_lock_of_a_closure_that_the_library_takes(adds):
    lock, numbers = threading.Lock(), [0]

    def add():
        adds(lock, numbers)

    assert explore_threads(add, add, check=lambda: numbers == [2], timeout=60).complete
    assert numbers == [0]


ARRAY = np.zeros(2)


def test_functions_of_numpy_are_no_arrays():
    def adds():
        np.add(ARRAY, 1, out=ARRAY)
        ARRAY[0] = np.float64(3) + ARRAY[1]
        np.multiply.reduce(ARRAY)

    assert explore_threads(adds, strategy="dpor").verdict == "ok"
    assert list(ARRAY) == [0, 0]
