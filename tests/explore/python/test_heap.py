"""What the process holds is found whether it is young, old or frozen, once, and is kept alive by nobody."""

import asyncio
import functools
import gc
import itertools
import os
import subprocess
import sys
import types
import weakref

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_threads
from latchfree_explore.python.rewriting.heap import Heap, made_since

NUMBERS = itertools.count()
AGE = {
    "nothing": lambda: None,
    "a collection of what is youngest": lambda: gc.collect(0),
    "a collection of what is young": lambda: gc.collect(1),
    "a full collection": gc.collect,
    "a freeze": gc.freeze,
    "a freeze and a thaw": lambda: (gc.freeze(), gc.unfreeze()),
}


#: Whether each test begins with nothing frozen, and not with all that is there.
THAWED = "LATCHFREE_TEST_THAWED" in os.environ


@pytest.fixture(autouse=True)
def nothing_is_collected_meanwhile():
    (gc.unfreeze if THAWED else gc.freeze)()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(THAWED, reason="this is the run that the test begins")
def test_so_it_is_where_nothing_is_frozen():
    """In a process of its own: looking at all that tests have left takes a second each time."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__]
    environment = {**os.environ, "LATCHFREE_TEST_THAWED": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 skipped" in done.stdout


def test_what_was_frozen_is_frozen_afterwards_and_no_garbage_with_it():
    gc.freeze()
    frozen = gc.get_freeze_count()
    heap = Heap()
    cycle = Counter()
    cycle.itself, gone = cycle, weakref.ref(cycle)
    del cycle
    heap.look()
    assert gone() is None
    assert gc.get_freeze_count() >= frozen - 100, "some of it is gone, as it is used and dropped"
    gc.unfreeze()
    heap.look()
    assert gc.get_freeze_count() == 0


@pytest.fixture
def look():
    """Return what there is of what a test has made."""
    heap, space = Heap(), {"__name__": f"made_{next(NUMBERS)}"}

    def look():
        found = heap.look({id(space)})
        own = [each for each in found.classes if each.__module__ == space["__name__"]]
        caches = [each for each in found.caches if each.__wrapped__.__globals__ is space]
        return sorted(each.__name__ for each in [*found.functions, *own, *caches]), found

    return look, space


def make(space, name):
    exec(f"def {name}(): pass", space)
    space[f"cached_{name}"] = functools.lru_cache(space[name])
    space[f"kind_{name}"] = type(f"kind_{name}", (), {"__module__": space["__name__"]})


@pytest.mark.parametrize("between", AGE)
def test_what_is_made_later_is_found_too_and_all_is_found_once(look, between):
    look, space = look
    make(space, "first")
    assert look()[0] == ["first", "first", "kind_first"]
    make(space, "second")
    AGE[between]()
    make(space, "third")
    every = sorted([*["first", "second", "third"] * 2, "kind_first", "kind_second", "kind_third"])
    assert look()[0] == every
    AGE[between]()
    assert look()[0] == every


@pytest.mark.parametrize("young", [True, False])
def test_what_was_found_is_not_kept_alive(look, young):
    look, space = look
    make(space, "first")
    if not young:
        gc.collect()
    look()
    gone = weakref.ref(space.pop("first"))
    space.pop("cached_first")
    assert gone() is None
    del space["kind_first"]
    gc.unfreeze()  # what is frozen is alive whether it was found or not
    gc.collect()
    assert look()[0] == []


def test_functions_of_other_namespaces_are_left_out_and_locks_of_asyncio_found(look):
    look, space = look
    held = asyncio.Lock()
    exec("def other(): pass", other := {"__name__": "other"})
    assert other["other"].__globals__ is not space
    names, found = look()
    assert names == []
    assert any(each is held for each in found.of_asyncio)
    later = asyncio.Queue()
    assert any(each is later for each in look()[1].of_asyncio)


@pytest.mark.parametrize("between", AGE)
def test_what_was_made_since_a_mark(between):
    mark = []
    AGE[between]()
    if "freeze" in between:
        gc.unfreeze()

    def made():
        pass

    found = made_since(mark, types.FunctionType)
    assert sum(each is made for each in found) == 1
    assert all(type(each) is types.FunctionType for each in found)


class Counter:
    def __init__(self):
        self.n = 0


@pytest.mark.parametrize("between", ["nothing", "a collection of what is young", "a full collection", "a freeze"])
def test_a_function_that_is_made_between_two_explorations_is_explored(between, tmp_path):
    file = tmp_path / "late_functions.py"
    module = types.ModuleType("late_functions")
    module.__file__ = str(file)
    text = "def early(counter):\n    old = counter.n\n    counter.n = old + 1\n"
    later = text.replace("early", "late")

    def explored(function):
        found = explore_threads(
            function, function, setup=Counter, check=lambda counter: counter.n == 2, strategy="dpor", raises=False
        )
        return found.wrong is not None

    file.write_text(text + later)
    exec(compile(text, str(file), "exec"), vars(module))
    assert explored(module.early)
    exec(compile("\n" * text.count("\n") + later, str(file), "exec"), vars(module))
    AGE[between]()
    assert explored(module.late)
    assert explored(module.early)
