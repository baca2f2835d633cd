"""What a function gives is what it gives without the explorer; calls of hooks are not seen."""

import collections
import contextlib
import enum
import functools
import inspect
import logging
import os
import sys
import threading
import traceback
import typing
import warnings

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads
from latchfree_explore.python.hooks import calls
from latchfree_explore.python.rewriting.instrument import CannotControl


class Box:
    def __init__(self, **content):
        self.__dict__.update(content)


class Short(list):
    def append(self, item):
        if len(self) < 3:
            super().append(item)


class Asked(dict):
    def get(self, key, default=None):
        return super().get(key, default)

    def setdefault(self, key, default=None):
        return super().setdefault(key, default)


class Added(set):
    def add(self, item):
        super().add(item)


class Ended(collections.deque):
    def append(self, item):
        super().append(item)


class Missing:
    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        if name == "asked":
            raise AttributeError(name)
        self.asked.append(name)
        raise AttributeError(name)


class Keywords:
    def method(self, **given):
        return given


def value_of_or():
    box = Box(full=[1], empty={})
    return box.full or [0], box.empty or None, box.full and 5, box.empty and 5, box.empty or box.full


def methods_that_go_on_with_super():
    short, asked, added, ended = Short(), Asked(a=1), Added(), Ended()
    for number in range(5):
        short.append(number)
    added.add(1)
    ended.append(2)
    return short, asked.get("a"), asked.get("b", 3), asked.setdefault("c", 4), added, ended


def arguments_called_as_those_of_hooks():
    names = "name", "owner", "line", "function", "args"

    def given(**keywords):
        return keywords

    return [given(**{name: 1}) for name in names], [Keywords().method(**{name: 1}) for name in names]


def function_without_a_module():
    def nowhere():
        return 1

    nowhere.__module__ = None
    return nowhere()


def names_of_frames():
    return (
        sys._getframe().f_code.co_name,
        sys._getframe(0).f_code.co_name,
        inspect.currentframe().f_code.co_name,
        inspect.stack()[0].function,
        traceback.extract_stack()[-1].name,
    )


def modules_of_what_is_made():
    pair = collections.namedtuple("pair", "a b")
    colour = enum.Enum("colour", "RED GREEN")
    kind = type("kind", (), {})
    made = pair, colour, typing.TypeVar("variable"), typing.NewType("number", int), kind
    return [each.__module__ for each in made]


def place_of_a_warning():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("here", stacklevel=1)
        return caught[0].filename, caught[0].lineno


def place_of_a_record():
    found = []

    class Keeping(logging.Handler):
        def emit(self, record):
            found.append((record.funcName, record.filename, record.lineno))

    logger = logging.Logger("somebody")
    logger.addHandler(Keeping())
    logger.warning("here")
    return found


def deep():
    def down(depth):
        return 0 if depth == 0 else 1 + down(depth - 1)

    return down(600)


def too_deep():
    def down(depth):
        return down(depth + 1)

    try:
        down(0)
    except RecursionError as error:  # its words depend on what is called last
        return str(error)[:32]


def attribute_that_is_missing():
    it = Missing()
    try:
        it.nothing  # noqa: B018
    except AttributeError:
        return it.asked, hasattr(it, "none"), getattr(it, "no", 7), it.asked


def item_of_an_iterator():
    numbers = iter([1, 2, 3])
    return 2 in numbers, list(numbers)


def iterator_that_is_made_at_once():
    made = []

    class Counts:
        def __iter__(self):
            made.append("iterator")
            return iter([1])

    numbers = (number for number in Counts())
    made.append("generator")
    changed = {1: 1}
    keys = (key for key in changed)
    changed[2] = 2
    try:
        return made, list(numbers), list(keys)
    except RuntimeError as error:
        return made, str(error)


def generator_that_is_sent_to():
    def inner():
        got = []
        while True:
            sent = yield len(got)
            if sent is None:
                return got
            got.append(sent)

    def outer():
        result = yield from inner()
        yield result

    numbers = outer()
    return [next(numbers), numbers.send(5), numbers.send(6), next(numbers)]


def property_that_is_deleted():
    log = []

    class Logged:
        @property
        def it(self):
            log.append("get")

        @it.deleter
        def it(self):
            log.append("delete")

    logged = Logged()
    del logged.it
    delattr(logged, "it")
    return log


def getters_of_items():
    import operator

    box = Box(a=1, b=Box(c=2))
    return operator.attrgetter("a", "b.c")(box), operator.itemgetter(0, 1)([3, 4]), operator.itemgetter("k")({"k": 5})


def generator_that_is_thrown_into():
    log = []

    def inner():
        try:
            yield 1
        except KeyError:
            yield 2
        finally:
            log.append("end")

    def outer(inner):
        try:
            yield from inner
        except KeyError:
            yield 3

    one, two, three = outer(inner()), outer(iter([1, 2])), outer(inner())
    log += [next(one), next(two), next(three), one.throw(KeyError("x")), two.throw(KeyError("x"))]
    one.close()
    two.close()
    three.close()
    return log


PLAIN = [
    value_of_or, methods_that_go_on_with_super, arguments_called_as_those_of_hooks, function_without_a_module,
    names_of_frames, modules_of_what_is_made, place_of_a_warning, place_of_a_record, deep, too_deep,
    attribute_that_is_missing, item_of_an_iterator, iterator_that_is_made_at_once, generator_that_is_sent_to,
    generator_that_is_thrown_into,    property_that_is_deleted, getters_of_items,
]  # fmt: skip


@pytest.mark.parametrize("function", PLAIN)
@pytest.mark.parametrize("switches", ["free", "gil"])
def test_the_explorer_changes_no_result(function, switches):
    plain = repr(function())

    def same():
        found = repr(function())
        assert found == plain, found

    explore_threads(same, switches=switches, strategy="dpor")


def test_the_limit_of_recursion_is_put_back():
    limit = sys.getrecursionlimit()
    explore_threads(deep, strategy="dpor")
    assert sys.getrecursionlimit() == limit


@pytest.mark.parametrize("hook", [calls.call, calls.method])
def test_no_parameter_of_a_hook_has_a_name_that_a_program_may_use(hook):
    names = [each.name for each in inspect.signature(hook).parameters.values() if each.kind is each.POSITIONAL_ONLY]
    assert names
    assert all(name.startswith("_lf_") for name in names)


def test_a_failure_that_takes_from_an_iterator_fails_again_when_it_is_told():
    class Shared:
        n = 0

    def takes(it):
        numbers = iter([1, 2, 3])
        assert 2 in numbers
        it.rest = list(numbers)

    result = explore_threads(takes, setup=Shared, check=lambda it: it.rest != [3], raises=False)
    assert "2 in" in result.explain()
    assert ": True" in result.explain()


def test_a_recursion_that_is_too_deep_is_reported():
    class Shared:
        done = False

        def wait(self):
            return self.done or self.wait()

        def end(self):
            self.done = True

    result = explore_threads(Shared.wait, Shared.end, setup=Shared, strategy="dpor", raises=False)
    assert result.wrong.kind == "exception"
    assert "RecursionError" in result.explain()


def with_a_pool():
    from multiprocessing.pool import ThreadPool

    with ThreadPool(2) as pool:
        pool.map(abs, [1])


def with_a_pool_of_the_setup(it):
    it.pool.map(abs, [1])


def with_a_fork():
    os.fork()


def with_an_exit():
    os._exit(3)


@pytest.mark.parametrize("leaves", [with_a_pool, with_a_fork, with_an_exit])
def test_what_leaves_the_explored_threads_is_refused_by_name(leaves):
    with pytest.raises(CannotControl, match=r"ThreadPool|os\.fork|os\._exit"):
        explore_threads(leaves, strategy="dpor")


def test_a_pool_that_the_setup_has_made_is_refused_too():
    from multiprocessing.pool import ThreadPool

    with ThreadPool(1) as pool, pytest.raises(CannotControl, match=r"multiprocessing\.pool: map"):
        explore_threads(with_a_pool_of_the_setup, setup=lambda: Box(pool=pool), strategy="dpor")


def test_a_thread_that_catches_its_own_end_is_given_up():
    import queue

    def starts():
        items = queue.Queue()

        def works():
            while True:
                with contextlib.suppress(BaseException):
                    items.get()

        threading.Thread(target=works, daemon=True).start()
        items.put(1)

    result = explore_threads(starts, strategy="dpor")
    assert result.verdict == "ok"


def test_the_end_of_a_thread_may_clean_up():
    log, seen = [], []

    def starts():
        def works():
            try:
                threading.Event().wait()
            finally:
                log.append("cleaned")

        threading.Thread(target=works, daemon=True).start()

    explore_threads(starts, check=lambda: seen.extend(log), strategy="dpor")
    assert seen
    assert not log


def test_a_class_made_by_the_thread_whose_namespace_is_asked_for():
    def makes():
        class Made:
            def __init__(self):
                self.a = 1

        return vars(Made()), Made().__dict__

    assert explore_threads(makes, strategy="dpor", timeout=20).complete


def test_names_that_are_new_in_each_run_end_the_search(monkeypatch):
    from latchfree_explore.python.core import constants

    monkeypatch.setattr(constants, "MOST_REFUTATIONS", 20)
    numbers = (number for number in range(10_000))

    def writes(it):
        name = f"a{next(numbers)}"
        getattr(it, name, None)
        setattr(it, name, 1)

    with pytest.raises(CannotControl, match="fix: "):
        explore_threads(writes, setup=Box, strategy="dpor")


def test_partial_functions_are_called_as_what_they_hold():
    def fills(it):
        functools.partial(it.items.append, 1)()

    def asks(it):
        it.seen = len(it.items)

    def shared():
        return Box(items=[], seen=None)

    result = explore_threads(asks, fills, setup=shared, check=lambda it: it.seen == 0, strategy="dpor", raises=False)
    assert result.wrong is not None
