"""Functions that cannot be rewritten: in nobody's way until they are called, and named then."""

import gc
import importlib
import sys

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import CannotControl, explore_object, explore_threads

GLOBALS = """
add_up = eval("lambda a, b=1: a + b")
keep = eval("lambda value: SEEN.append(value)")
SEEN = []
N = 0

def plain():
    global N
    N = N + 1

def calls():
    global N
    N = add_up(N)

def gives_away():
    list(map(add_up, [1]))

class Made:
    def __init__(self):
        self.n = add_up(1, b=2)
        keep(self)
"""
COUNTER = """
class Counter:
    def __init__(self):
        self.n = 0

    def add(self, k):
        old = self.n
        self.n = old + k
        return old
"""
LOCKED = COUNTER.replace("\n        old", "\n        with LOCK:\n            old").replace(
    "\n        self.n = old", "\n            self.n = old"
)
LOCKED = "import threading\nLOCK = threading.Lock()\n" + LOCKED


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Return a function that writes a module of a text, and imports it or loads it anew."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def module(text, load=True):
        (tmp_path / "reloaded.py").write_text(text)
        importlib.invalidate_caches()
        if load:
            known = sys.modules.get("reloaded")
            return importlib.import_module("reloaded") if known is None else importlib.reload(known)
        return sys.modules["reloaded"]

    yield module
    sys.modules.pop("reloaded", None)


def test_a_function_without_source_that_nobody_calls_is_in_nobodys_way(module):
    made = module(GLOBALS)
    result = explore_threads(made.plain, made.plain, check=lambda: made.N == 2, raises=False)
    assert result.wrong.kind == "invariant"
    assert made.add_up(1) == 2


@pytest.mark.parametrize("name", ["calls", "gives_away"])
def test_a_function_without_source_is_named_when_it_is_called(module, name):
    made = module(GLOBALS)
    with pytest.raises(CannotControl, match=r"^<lambda> has no source to be rewritten \(<string>\)"):
        explore_threads(getattr(made, name), made.plain)
    assert made.add_up(2, b=5) == 7


def test_what_a_setup_calls_needs_no_source(module):
    made = module(GLOBALS)
    result = explore_threads(lambda it: it.n, lambda it: it.n, setup=made.Made, check=lambda it: it.n == 3)
    assert result.verdict == "ok"


def test_a_module_that_is_loaded_anew_is_explored_as_it_is_now(module):
    gc.disable()
    try:
        old = module(COUNTER).Counter
        assert explore_object(old, "add(1) | add(1)", model="counter", raises=False).verdict == "violation"
        new = module(LOCKED).Counter
        assert explore_object(new, "add(1) | add(1)", model="counter", raises=False).verdict == "ok"
        with pytest.raises(CannotControl, match=r"Counter.add at .*reloaded.py:6: the source does not fit"):
            explore_object(old, "add(1) | add(1)", model="counter")
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("text", "says"),
    [("class Counter(:", r"reloaded.py:1: invalid syntax; fix: was the file"), (LOCKED, "does not fit")],
)
def test_a_file_that_is_another_now_is_named(module, text, says):
    made = module(COUNTER)
    module(text, load=False)
    with pytest.raises(CannotControl, match=says):
        explore_object(made.Counter, "add(1) | add(1)", model="counter")
