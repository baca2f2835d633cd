"""A file that was edited since it was imported says something else than the functions do."""

import importlib
import sys

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import CannotControl, explore_object

BEFORE = """
import types

class Counter:
    def __init__(self):
        self.n = 0

    def add(self, k):
        self.n += k
        return self.n + k

@types.coroutine
def decorated():
    yield

def floats():
    return 1.0, 0.0, (1, 2), {frozen}
"""


@pytest.fixture
def edited(tmp_path, monkeypatch):
    """Import a module, then write it anew."""

    def edited(before, after):
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.delitem(sys.modules, "edited_counter", raising=False)
        file = tmp_path / "edited_counter.py"
        file.write_text(before)
        importlib.invalidate_caches()
        module = importlib.import_module("edited_counter")
        file.write_text(after)
        return module

    return edited


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.n + k", "self.n - k"),
        ("self.n = 0", "self.n = 0.0"),
        ("self.n = 0", "self.n = False"),
        ("self.n += k", "self.m += k"),
        ("return 1.0, 0.0", "return 1.0, -0.0"),
        ("(1, 2)", "(1, 2.0)"),
    ],
)
def test_a_file_that_was_edited_since_its_import_is_refused_although_its_shape_is_the_same(edited, old, new):
    text = BEFORE.replace("{frozen}", "7")
    module = edited(text, text.replace(old, new))
    with pytest.raises(CannotControl, match="the source does not fit the function; fix: was the file changed"):
        explore_object(module.Counter, "add(1)", model="counter", raises=False)


def test_a_file_that_is_as_it_was_is_explored(edited):
    text = BEFORE.replace("{frozen}", "7 in {1, 2, 3}, 'a' in {'a', 'b', 'c'}")
    module = edited(text, text)
    assert explore_object(module.Counter, "add(1)", model="counter", raises=False).verdict == "violation"
