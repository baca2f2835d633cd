"""Objects whose code is not rewritten, and ways round the usual accesses: what threads do there makes a difference."""

import array
import collections
import contextlib
import copy
import ctypes
import dataclasses
import decimal
import functools
import itertools
import operator
import queue
import threading
from types import SimpleNamespace
from typing import Generic, TypeVar

import numpy as np
import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads


class Named(SimpleNamespace):
    """Has attributes, and text that nobody's code makes."""


@dataclasses.dataclass
class Point:
    x: int = 0
    y: int = 0


class Bag:
    def __init__(self):
        self.items = [0]

    def __iter__(self):
        return iter(self.items)


class Mapping(collections.abc.MutableMapping):
    def __init__(self):
        self.items_by_key = {}

    def __getitem__(self, key):
        return self.items_by_key[key]

    def __setitem__(self, key, value):
        self.items_by_key[key] = value

    def __delitem__(self, key):
        del self.items_by_key[key]

    def __iter__(self):
        return iter(self.items_by_key)

    def __len__(self):
        return len(self.items_by_key)


class Dictionary(collections.UserDict):
    """Has no method of its own."""


class Odd:
    """Raises another error than AttributeError where there is no attribute, and has text that takes steps."""

    def __init__(self):
        self.n = 0

    def __getattr__(self, name):
        return {"m": 0}[name]

    def __repr__(self):
        return f"{self.n}"


def first_item(it):
    it[0] += 1


def item_of_key(it):
    it[0] = it.get(0, 0) + 1


UPDATES = {
    "UserDict": (lambda: collections.UserDict({0: 0}), first_item),
    "UserList": (lambda: collections.UserList([0]), first_item),
    "ChainMap": (lambda: collections.ChainMap({0: 0}), first_item),
    "array": (lambda: array.array("i", [0]), first_item),
    "numpy": (lambda: np.zeros(1, int), first_item),
    "memoryview": (lambda: memoryview(bytearray(1)), first_item),
    "a mapping with inherited methods": (Mapping, item_of_key),
    "a subclass of UserDict": (Dictionary, item_of_key),
}


@pytest.mark.parametrize("name", UPDATES)
def test_an_addition_to_an_item_is_lost(name):
    make, add = UPDATES[name]
    found = explore_threads(add, add, setup=make, check=lambda it: it[0] == 2, strategy="dpor", raises=False)
    assert found.wrong is not None


class Attributes(dict):
    """A dictionary whose items are its attributes."""

    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Held(ctypes.Structure):
    _fields_ = (("n", ctypes.c_int),)


class Open:
    def __init__(self):
        self.closed = 0

    def close(self):
        if type(self) is Open:
            self.__class__ = Closed
            self.closed = self.closed + 1

    def is_closed(self):
        return False


class Closed(Open):
    """What a file becomes."""

    def is_closed(self):
        return True


class Getter:
    x = property(operator.attrgetter("_x"))

    def __init__(self):
        self._x = 0


class Meta(type):
    n = 0

    def __setattr__(cls, name, value):
        super().__setattr__(name, value)


class ObjectProxy:
    """What `wrapt` has in C."""

    __slots__ = ("__wrapped__",)
    __module__ = "wrapt"


class Wrapped:
    def __init__(self):
        self.n = 0


def wrapper():
    made = ObjectProxy()
    made.__wrapped__ = Wrapped()
    return made


T = TypeVar("T")


class Of(Generic[T]):
    n = 0


def of_a_class():
    return Meta("Of", (), {"n": 0})


def add(name, put=setattr):
    return lambda it: put(it, name, getattr(it, name) + 1)


def other_item(it):
    it["n"] = it.n + 1


ATTRIBUTES = {
    "an item": (lambda: Attributes(n=0), other_item, lambda it: it.n == 2),
    "a number of C": (ctypes.c_int, add("value"), lambda it: it.value == 2),
    "a field of C": (Held, add("n"), lambda it: it.n == 2),
    "a context": (lambda: decimal.Context(prec=1), add("prec"), lambda it: it.prec == 3),
    "a property in C": (Getter, lambda it: setattr(it, "_x", it.x + 1), lambda it: it._x == 2),
    "an object in a wrapper": (wrapper, add("n"), lambda it: it.__wrapped__.n == 2),
    "a generic class": (lambda: Of[int], add("n"), lambda it: Of.n == 2),
    "the setter of type": (of_a_class, add("n", type.__setattr__), lambda it: it.n == 2),
    "the setter of a metaclass": (of_a_class, add("n"), lambda it: it.n == 2),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_addition_to_an_attribute_is_lost(name):
    make, add, right = ATTRIBUTES[name]
    found = explore_threads(add, add, setup=make, check=right, strategy="dpor", raises=False)
    assert found.wrong is not None


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_an_object_changes_its_class(switches):
    def closes_twice(it):
        return it.closed == 1

    def asks(it):
        assert not it.is_closed(), "closed"

    found = explore_threads(
        Open.close, Open.close, setup=Open, check=closes_twice, strategy="dpor", switches=switches, raises=False
    )
    assert found.wrong is not None
    for threads in ((asks, Open.close), (Open.close, asks)):
        found = explore_threads(*threads, setup=Open, strategy="dpor", switches=switches, raises=False)
        assert "closed" in found.wrong.message


def test_a_wrapper_and_its_object_are_one():
    def behind(it):
        it.__wrapped__.n = it.__wrapped__.n + 1

    for threads in ((behind, add("n")), (add("n"), behind)):
        found = explore_threads(
            *threads, setup=wrapper, check=lambda it: it.__wrapped__.n == 2, strategy="dpor", raises=False
        )
        assert found.wrong is not None


class Cached:
    def __init__(self):
        self.source = 0

    @functools.cached_property
    def value(self):
        return self.source

    def ask(self):
        return self.value

    def change(self):
        self.source = 1
        self.__dict__.pop("value", None)


def test_a_computed_property_that_is_forgotten():
    found = explore_threads(
        Cached.ask, Cached.change, setup=Cached, check=lambda it: it.value == 1, strategy="dpor", raises=False
    )
    assert found.wrong is not None


def test_arrays_that_are_older_than_the_call_are_put_back():
    old, view, numbers = np.arange(3), array.array("i", [7]), collections.UserDict({0: 0})
    part = old[1:]

    def add():
        part[0] += 1
        view[0] += 1
        numbers[0] += 1

    found = explore_threads(add, add, check=lambda: old[1] == 3 and view[0] == 9, strategy="dpor", raises=False)
    assert found.wrong is not None
    assert (old.tolist(), view.tolist(), numbers) == ([0, 1, 2], [7], {0: 0})


def shared():
    return Named(
        list=[0],
        nested=[[0]],
        pairs=[[0, 0]],
        keys={},
        point=Point(),
        bag=Bag(),
        dictionary=Dictionary(),
        mapping=Mapping(),
        begun=0,
        names=Named(inner=Named(point=Point())),
        by_name={"a": [0]},
    )


def unpacked_by_a_loop(it):
    seen = True
    for a, b in it.pairs:
        seen = a == b == 0
    return seen


def unpacked_by_a_nested_target(it):
    _, (a, *b) = 0, it.pairs[0]
    return a == b[0] == 0


def unpacked_by_a_target_in_a_list(it):
    [(a, _)] = it.pairs
    return a == 0


def unpacked_by_a_block(it):
    with contextlib.nullcontext(it.pairs[0]) as (a, _):
        return a == 0


def updates_by_pairs(it):
    found = {}
    found.update(it.pairs)
    return found == {0: 0}


def joins_pairs(it):
    found = {}
    found |= it.pairs
    return found == {0: 0}


def change_pair(it):
    it.pairs[0][0] = 1


def grow(it):
    it.list.append(1)


def grow_nested(it):
    it.nested[0].append(1)


def grow_named(it):
    it.by_name["a"].append(1)


def move(it):
    it.point.x = 1


def move_inner(it):
    it.names.inner.point.x = 1


def sort(it):
    rows = [it.list, [0, 0]]
    rows.sort()
    return rows[0] is it.list


def copied(it):
    target = [1, 2]
    target[:] = it.list
    return target


def copied_by_map(it):
    target = [1, 2]
    target[:1] = map(len, it.nested)
    return target


ZERO = [0]
TEXT, PATH, ITEM = "{a}", "{0.point.x}", "{a.list[0]}"
READS = {
    "a comparison of names": (lambda it: it.list.append(1), lambda kept: kept.list == ZERO),
    "a chain of comparisons": (lambda it: it.list.append(1), lambda it: [0] <= it.list <= [0]),
    "a multiple": (lambda it: it.list.append(1), lambda it: len(2 * it.list) == 2),
    "a nested list, compared": (lambda it: it.nested[0].append(1), lambda it: it.nested == [[0]]),
    "a nested list, as text": (lambda it: it.nested[0].append(1), lambda it: repr(it.nested) == "[[0]]"),
    "a nested list in a text": (lambda it: it.nested[0].append(1), lambda it: f"{it.nested}" == "[[0]]"),
    "a nested list, by %": (lambda it: it.nested[0].append(1), lambda it: "%s" % it.nested == "[[0]]"),  # noqa: UP031
    "an argument by name": (lambda it: it.list.append(1), lambda it: TEXT.format(a=it.list) == "[0]"),
    "a list that a loop unpacks": (change_pair, unpacked_by_a_loop),
    "a list that a comprehension unpacks": (change_pair, lambda it: [a for a, _ in it.pairs] == [0]),
    "a list that a comprehension unpacks in a target": (
        change_pair,
        lambda it: [a for _, (a, _) in enumerate(it.pairs)] == [0],
    ),
    "a list that a nested target unpacks": (change_pair, unpacked_by_a_nested_target),
    "a list that a target in a list unpacks": (change_pair, unpacked_by_a_target_in_a_list),
    "a list that a block unpacks": (change_pair, unpacked_by_a_block),
    "a dictionary made of pairs": (change_pair, lambda it: dict(it.pairs) == {0: 0}),
    "a dictionary joined with pairs": (change_pair, joins_pairs),
    "lists that starmap unpacks": (
        change_pair,
        lambda it: list(itertools.starmap(lambda a, b: a + b, it.pairs)) == [0],
    ),
    "lists that starmap unpacks for a function in C": (
        change_pair,
        lambda it: list(itertools.starmap(max, it.pairs)) == [0],
    ),
    "a dictionary updated by pairs": (change_pair, updates_by_pairs),
    "a dictionary that is spread out": (lambda it: it.keys.update(a=1), lambda it: {**it.keys} == {}),
    "a list that is spread out": (lambda it: it.list.append(1), lambda it: [*it.list] == [0]),
    "keywords that are spread out": (lambda it: it.keys.update(a=1), lambda it: dict(**it.keys) == {}),
    "an attribute in a format": (lambda it: setattr(it.point, "x", 1), lambda it: PATH.format(it) == "0"),
    "an item in a format": (lambda it: it.list.__setitem__(0, 1), lambda it: ITEM.format(a=it) == "0"),
    "the equality of a dataclass": (lambda it: setattr(it.point, "x", 1), lambda it: it.point == Point()),
    "the text of a dataclass": (lambda it: setattr(it.point, "x", 1), lambda it: "x=0" in f"{it.point}"),
    "asdict": (lambda it: setattr(it.point, "x", 1), lambda it: dataclasses.asdict(it.point) == {"x": 0, "y": 0}),
    "a copy": (lambda it: setattr(it.point, "x", 1), lambda it: copy.copy(it.point).x == 0),
    "a deep copy": (lambda it: setattr(it.point, "x", 1), lambda it: copy.deepcopy(it).point.x == 0),
    "the setter of object": (lambda it: object.__setattr__(it.point, "x", 1), lambda it: it.point.x == 0),
    "attrgetter": (lambda it: setattr(it.point, "x", 1), lambda it: operator.attrgetter("point.x")(it) == 0),
    "an item of __dict__": (lambda it: it.point.__dict__.update(x=1), lambda it: it.point.x == 0),
    "an item of vars()": (lambda it: setattr(it.point, "x", 1), lambda it: vars(it.point)["x"] == 0),
    "an iterator that a method returns": (lambda it: it.bag.items.append(1), lambda it: [x + 0 for x in it.bag] == [0]),
    "list() of what iterates itself": (lambda it: it.bag.items.append(1), lambda it: list(it.bag) == [0]),
    "the truth of a UserDict": (lambda it: it.dictionary.update(a=1), lambda it: not it.dictionary),
    "objects in objects, compared": (move_inner, lambda it: it.names == Named(inner=Named(point=Point()))),
    "objects in objects, by repr": (move_inner, lambda it: "x=0" in repr(it.names)),
    "objects in objects, by str": (move_inner, lambda it: "x=0" in str(it.names)),
    "objects in objects, in a text": (move_inner, lambda it: "x=0" in f"{it.names}"),
    "objects in objects, by %": (move_inner, lambda it: "x=0" in "%s" % it.names),  # noqa: UP031
    "objects in objects, by format": (move_inner, lambda it: "x=0" in "{}".format(it.names)),  # noqa: UP032
    "the search of a tuple": (grow, lambda it: [0] in (it.list,)),
    "the search for what may change": (grow, lambda it: it.list in ([0],)),
    "the search of values": (grow_named, lambda it: [0] in it.by_name.values()),
    "the search of pairs": (grow_named, lambda it: ("a", [0]) in it.by_name.items()),
    "the search of a map": (grow_nested, lambda it: [0] in map(list, it.nested)),
    "a count": (grow, lambda it: [it.list].count([0]) == 1),
    "a count in a tuple": (grow, lambda it: (it.list,).count([0]) == 1),
    "a method that compares": (grow, lambda it: [it.list].__eq__([[0]])),
    "a method that compares with what changes": (grow, lambda it: [[0]].__eq__([it.list])),
    "a sort of lists": (lambda it: it.list.extend([0, 0]), sort),
    "a list that is written over another": (grow, lambda it: copied(it) == [0]),
    "a map that is written over a list": (grow_nested, lambda it: copied_by_map(it) == [1, 2]),
    "the sum of lengths": (grow_nested, lambda it: sum(map(len, it.nested)) == 1),
    "lengths one by one": (grow_nested, lambda it: [n + 0 for n in map(len, it.nested)] == [1]),
    "a filter": (lambda it: it.nested[0].clear(), lambda it: any(filter(None, it.nested))),
    "a chain of values": (grow_named, lambda it: len(list(itertools.chain.from_iterable(it.by_name.values()))) == 1),
    "a join of texts": (grow_nested, lambda it: ",".join(map(str, it.nested)) == "[0]"),
    "a list of texts of objects": (move, lambda it: "x=0" in list(map(str, [it.point]))[0]),  # noqa: RUF015
    "an inherited method": (lambda it: it.mapping.setdefault("a", 1), lambda it: it.mapping.get("a") is None),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("switches", ["free", "gil"])
def test_what_is_read_may_have_changed(name, switches):
    change, unchanged = READS[name]

    def looks(it):
        it.begun = 1
        assert unchanged(it), "changed"

    for threads in ((change, looks), (looks, change)):
        found = explore_threads(*threads, setup=shared, strategy="dpor", switches=switches, raises=False)
        assert found.wrong is not None, threads
        assert "changed" in found.wrong.message


def test_the_pattern_of_a_match_reads_attributes():
    def looks(it):
        it.begun = 1
        match it.point:
            case Point(x=0):
                return
        raise ValueError

    change = READS["asdict"][0]
    assert explore_threads(change, looks, setup=shared, strategy="dpor", raises=False).wrong is not None


LIBRARY = {
    "unfinished_tasks": (queue.Queue, lambda it: it.put(1), lambda it: it.unfinished_tasks == 0),
    "the items of a queue": (queue.Queue, lambda it: it.put(1), lambda it: len(it.queue) == 0),
    "the value of a semaphore": (threading.Semaphore, lambda it: it.acquire(), lambda it: it._value == 1),
    "a broken barrier": (lambda: threading.Barrier(2), lambda it: it.abort(), lambda it: not it.broken),
}


@pytest.mark.parametrize("name", LIBRARY)
def test_what_the_library_keeps_is_read_without_its_lock(name):
    make, change, unchanged = LIBRARY[name]

    def looks(it):
        it.begun = 1
        assert unchanged(it), "changed"

    found = explore_threads(change, looks, setup=make, strategy="dpor", raises=False)
    assert found.wrong is not None
    assert "changed" in found.wrong.message


def test_locks_in_closures_and_lists_are_under_control():
    lock, locks, count = threading.Lock(), [threading.RLock()], 0

    def counts(exclude):
        def thread():
            nonlocal count
            for each in exclude():
                each.acquire()
                before = count
                count = before + 1
                each.release()

        return [thread, thread]

    for exclude in (lambda: [lock]), (lambda: locks):
        assert explore_threads(*counts(exclude), check=lambda: count == 2, strategy="dpor").complete
    with pytest.raises(AssertionError):
        explore_threads(*counts(lambda: [contextlib.nullcontext, threading.Lock()][1:]), check=lambda: count == 2)


def test_odd_attributes_and_texts_take_no_part_in_the_schedule():
    def add(it):
        it.n = it.n + it.m + 1

    found = explore_threads(add, add, setup=Odd, check=lambda it: it.n == 2, strategy="dpor", raises=False)
    assert found.wrong is not None
    assert [text for step in found.steps for *_, text in step.texts if "write" in text] == ["write Odd.n = 1"] * 2


class Ranked:
    def __init__(self):
        self.items = [2, 1]
        self.seen = None

    def sort(self):
        with contextlib.suppress(ValueError):  # "list modified during sort"
            self.items.sort(key=lambda item: item)

    def look(self):
        self.seen = list(self.items)

    def add(self):
        self.items.append(0)


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_list_is_empty_while_the_key_is_asked(switches):
    seen, left = set(), set()
    explored = {"setup": Ranked, "switches": switches, "strategy": "dpor"}
    explore_threads(Ranked.sort, Ranked.look, check=lambda it: seen.add(tuple(it.seen)) or True, **explored)
    explore_threads(Ranked.sort, Ranked.add, check=lambda it: left.add(tuple(it.items)) or True, **explored)
    assert seen == {(2, 1), (), (1, 2)}
    assert left == {(0, 1, 2), (1, 2), (1, 2, 0)}
