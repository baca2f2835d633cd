"""What constructors, `setup`, `init:` and `after:` write to older state is put back; what a check writes stays."""

import heapq
from array import array
from collections import OrderedDict, deque
from typing import ClassVar

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_async, explore_object, explore_threads

CACHE = {}
LISTED = [3, 1, 2]
QUEUED = deque([1])
ORDERED = OrderedDict(a=1, b=2)
NAMES = {"first"}
BYTES = bytearray(b"ab")
NUMBERS = array("i", [1, 2])
COUNT = 0
OTHER = "other"


class Service:
    """A cache that all objects share, as real ones are."""

    def put(self, key, value):
        old = CACHE.get(key)
        CACHE[key] = value
        return old

    def get(self, key):
        return CACHE.get(key)


class Registered:
    """Counts its objects, and keeps a list of them."""

    made = 0
    known: ClassVar = []

    def __init__(self):
        global COUNT
        self.number = Registered.made
        Registered.made += 1
        self.known.append(self)
        COUNT = COUNT + 1
        self.value = 0

    def add(self, amount):
        before = self.value + self.number
        self.value += amount
        return before


class Kept:
    def __init__(self):
        self.items = [1]
        self.n = 0


KEPT = Kept()


def everything():
    return (
        dict(CACHE), list(LISTED), list(QUEUED), list(ORDERED.items()), set(NAMES), bytes(BYTES), list(NUMBERS), COUNT,
        Registered.made, list(Registered.known), list(KEPT.items), dict(vars(KEPT)),
    )  # fmt: skip


def change_all():
    """Change what is older in every way."""
    global COUNT
    CACHE["k"] = 1
    LISTED.sort()
    LISTED.append(9)
    heapq.heappush(LISTED, 0)
    LISTED[1:2] = [7, 7]
    del LISTED[0]
    LISTED.extend([5])
    QUEUED.extend([8, 8])
    QUEUED.appendleft(0)
    QUEUED.popleft()
    QUEUED.pop()
    ORDERED.update(a=5, c=6)
    ORDERED.move_to_end("a")
    ORDERED.popitem()
    NAMES.add("second")
    NAMES.discard("first")
    BYTES.extend(b"c")
    BYTES[0] = 0
    NUMBERS[0] = 5
    NUMBERS.append(3)
    COUNT += 1
    KEPT.items += [2]
    KEPT.items.append(3)
    KEPT.n = 3
    KEPT.n += 1
    KEPT.new = 1
    setattr(KEPT, OTHER, 2)
    del KEPT.other
    del KEPT.n
    Registered.made = 7
    vars(KEPT)["through"] = 1


def nothing():
    """Do nothing."""


def counter():
    n = 0

    def count():
        nonlocal n
        n += 1
        return n

    return count


COUNTS = counter()


def test_setup_leaves_nothing_behind():
    before = everything()
    assert explore_threads(lambda _: nothing(), lambda _: nothing(), setup=change_all).verdict == "ok"
    assert everything() == before


def test_a_check_may_collect_what_it_has_seen():
    seen = []
    explore_threads(*[lambda it: it.append(len(it))] * 2, setup=list, check=lambda it: seen.append(tuple(it)) or True)
    assert set(seen) == {(0, 1), (0, 0)}


def test_threads_leave_nothing_behind():
    before = everything()
    assert explore_threads(change_all, nothing).verdict == "ok"
    assert everything() == before


def test_variables_of_closures_are_put_back():
    result = explore_threads(lambda n: n, setup=lambda: COUNTS(), check=lambda n: n == 1, raises=False)
    assert result.verdict == "ok", result.explain()
    assert COUNTS() == 1


def test_a_main_of_asyncio_leaves_nothing_behind():
    async def main():
        change_all()

    before = everything()
    assert explore_async(main).verdict == "ok"
    assert everything() == before


@pytest.mark.parametrize(
    "scenario",
    ["init: put(0, 5) | put(0, 1) | get(0)", "get(0) | get(0) | after: put(0, 9)", "put(0, 1) | after: get(0)"],
)
def test_calls_before_and_after_leave_nothing_behind(scenario):
    result = explore_object(Service, scenario)
    assert (result.verdict, CACHE) == ("ok", {}), result.explain()


def test_each_object_is_made_as_the_first_one_was():
    before = everything()
    result = explore_object(Registered, "add(1) | add(1)", model="counter", raises=False)
    assert result.wrong.message == "add(1) returned 0, but the counter held 1"
    assert explore_object(Registered, "init: add(1) | add(2)", model="counter").verdict == "ok"
    assert everything() == before


class Holds:
    """Has attributes, a container and a closure of its own, all of them made by its constructor."""

    def __init__(self):
        self.n = 1
        self.items = {}
        self.items["a"] = [1]
        self.listed = [0] * 2
        self.listed[0] = 5
        self.count = counter()
        self.n += 1
        self.count()


def test_what_a_schedule_was_given_is_kept_as_it_was_given():
    seen = []

    def thread(it):
        it.n = 7
        it.items["b"] = 2
        it.listed.append(3)
        it.count()

    explore_threads(thread, thread, setup=Holds, check=lambda it: seen.append(it) or True)
    assert len(seen) > 1
    for it in seen:
        assert (it.n, it.items, it.listed[:1], it.count()) == (2, {"a": [1]}, [5], 2)
