"""Where an attribute is: in an object, in one of its classes, in a module; what objects show of others."""

import collections
import dataclasses
import time
import types

import pytest
import shared_module

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads


class Lazy:
    n = 0

    def __init__(self):
        self.seen = None

    def act(self):
        return "open"

    def closed(self):
        return "closed"

    @classmethod
    def number(cls):
        return cls.n


class Lazier(Lazy):
    pass


def found(reads, writes, setup, wrong, switches="free"):
    """Return whether a schedule in which the reading gives `wrong` is found, whichever thread comes first."""

    def keeps(it):
        it.seen = reads(it)

    answers = set()
    for threads in ((keeps, writes), (writes, keeps)):
        result = explore_threads(
            *threads, setup=setup, check=lambda it: it.seen != wrong, switches=switches, strategy="dpor", raises=False
        )
        answers.add(result.wrong is not None)
    assert len(answers) == 1
    return answers == {True}


def write_the_object(it):
    it.n = 1


def write_the_class(it):
    Lazy.n = 1


def write_the_subclass(it):
    Lazier.n = 1


READS = {
    "of the object": lambda it: it.n,
    "by getattr": lambda it: getattr(it, "n", None),
    "of the class": lambda it: type(it).n,
    "of a method of the class": lambda it: it.number(),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("writes", [write_the_object, write_the_class, write_the_subclass])
def test_a_default_of_a_class(name, writes):
    of_the_object = name in ("of the object", "by getattr")
    for wrong in 0, 1:
        reached = wrong == 0 or of_the_object or writes is not write_the_object
        assert found(READS[name], writes, Lazier, wrong) == reached
    assert Lazy.n == 0
    assert "n" not in vars(Lazier)


def shadow(it):
    it.act = it.closed


def exchange(it):
    Lazy.act = Lazy.closed


@pytest.mark.parametrize("writes", [shadow, exchange])
@pytest.mark.parametrize("wrong", ["open", "closed"])
@pytest.mark.parametrize("reads", [lambda it: it.act(), lambda it: super(Lazier, it).act()])
def test_a_method_that_another_thread_exchanges(writes, wrong, reads):
    past = writes is shadow and reads(Lazier()) == "open" and "super" in reads.__code__.co_names
    assert found(reads, writes, Lazier, wrong) == (wrong == "open" or not past)
    assert Lazier().act() == "open"


def test_a_method_that_nobody_exchanges_is_no_step():
    def asks(it):
        it.seen = it.act()

    one = explore_threads(asks, asks, setup=Lazier, strategy="dpor")
    assert (one.longest, one.schedules) == (2, 2)


def write_the_module(it):
    shared_module.n = 5


def write_by_item(it):
    vars(shared_module)["n"] = 5


def write_by_setattr(it):
    setattr(shared_module, *("n", 5))


def write_the_variable(it):
    shared_module.add()


@pytest.mark.parametrize("writes", [write_the_module, write_by_item, write_by_setattr, write_the_variable])
@pytest.mark.parametrize(
    "reads",
    [
        lambda it: shared_module.n,
        lambda it: getattr(shared_module, "n", None),
        lambda it: vars(shared_module)["n"],
        lambda it: shared_module.__dict__.get("n"),
    ],
)
def test_a_variable_of_a_module_is_one_place(writes, reads):
    for wrong in 0, 1 if writes is write_the_variable else 5:
        assert found(reads, writes, Lazy, wrong)
    assert shared_module.n == 0


def test_an_addition_to_a_variable_of_a_module_is_lost():
    def adds(it):
        shared_module.n += 1

    def by_the_function(it):
        shared_module.add()

    for writes in adds, by_the_function:
        result = explore_threads(
            adds, writes, setup=Lazy, check=lambda it: shared_module.n == 2, strategy="dpor", raises=False
        )
        assert result.wrong.kind == "invariant"


def test_a_variable_of_a_module_that_nobody_writes_is_no_step():
    def reads(it):
        it.seen = shared_module.READS_ONLY + time.gmtime(0).tm_year

    assert explore_threads(reads, reads, setup=Lazy, strategy="dpor").longest == 2


@dataclasses.dataclass(eq=False)
class Text:
    x: int = 0


@dataclasses.dataclass(unsafe_hash=True)
class Hashed:
    x: int = 0


@dataclasses.dataclass
class Point:
    x: int = 0


class Views(Lazy):
    def __init__(self):
        super().__init__()
        self.d = {"a": 0}
        self.view = types.MappingProxyType(self.d)
        self.chain = collections.ChainMap({}, self.d)
        self.text, self.hashed, self.point = Text(), Hashed(), Point()
        self.points = [self.point]


def matches(it):
    match it:
        case Views(point=Point(x=1)):
            return True
    return False


VIEWS = {
    "an item of a view": lambda it: it.view["a"] == 1,
    "get of a view": lambda it: it.view.get("a") == 1,
    "the length of a view": lambda it: len(it.view) == 2,
    "in a view": lambda it: "b" in it.view,
    "an item of a chain": lambda it: it.chain["a"] == 1,
    "in a chain": lambda it: "b" in it.chain,
    "the text without an equality": lambda it: f"{it.text}" == "Text(x=1)",
    "the text with a hash": lambda it: "x=1" in f"{it.hashed}",
    "the text of a list": lambda it: "x=1" in f"{[it.text]}",
    "text by %": lambda it: "x=1" in "%s" % it.text,  # noqa: UP031
    "an equality with a hash": lambda it: it.hashed == Hashed(1),
    "a hash": lambda it: hash(it.hashed) == hash(Hashed(1)),
    "in a list": lambda it: Point(1) in it.points,
    "the count of a list": lambda it: it.points.count(Point(1)) == 1,
    "a nested pattern": matches,
}


@pytest.mark.parametrize("name", VIEWS)
def test_what_an_object_shows_of_others(name):
    def writes(it):
        it.d.update(a=1, b=1)
        it.text.x = it.hashed.x = it.point.x = 1

    for wrong in False, True:
        assert found(VIEWS[name], writes, Views, wrong)
