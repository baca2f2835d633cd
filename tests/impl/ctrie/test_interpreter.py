"""What compiled code takes for granted of objects is compared with objects, in every interpreter that is there."""

import ctypes
import shutil
import subprocess
import sys

import pytest

from latchfree import Ctrie
from latchfree.ctrie import interpreter
from latchfree.ctrie.interpreter import Small, known, small_integers, strings

LATIN = "t\u00e9"


def test_this_interpreter_is_known():
    assert sys.implementation.name == "cpython"
    found = known()
    for text in ("", "tea", "tea" * 1000, "a\0b", sys.intern("tea time"), str(12345)):
        state = ctypes.c_uint64.from_address(id(text) + 8 * found.state).value
        assert state & found.ascii == found.ascii
        assert ctypes.string_at(id(text) + found.data, len(text)) == text.encode()
    for text in (LATIN, "\u20ac", "\U0001f375", "tea" * 99 + LATIN, type("Text", (str,), {})("tea")):
        state = ctypes.c_uint64.from_address(id(text) + 8 * found.state).value
        assert state & found.ascii != found.ascii


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("_HEAD", interpreter._HEAD + 8),
        ("_HEAD", interpreter._HEAD - 8),
        ("_HEAD", interpreter._HEAD + 4),
        ("_BYTES_DATA", interpreter._BYTES_DATA + 8),
        ("_BYTES_DATA", interpreter._BYTES_DATA - 1),
        ("_STR_DATA", interpreter._STR_DATA + 8),
        ("_STR_DATA", interpreter._STR_DATA - 8),
        ("_STR_STATE", interpreter._STR_STATE - 8),  # the hash
        ("_STR_STATE", interpreter._STR_STATE - 16),  # the length
    ],
)
def test_an_offset_that_is_wrong_is_found(monkeypatch, name, wrong):
    monkeypatch.setattr(interpreter, name, wrong)
    assert known.__wrapped__() is None


def test_an_interpreter_that_is_another_is_unknown(monkeypatch):
    assert known.__wrapped__() == strings()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert known.__wrapped__() is None
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    assert known.__wrapped__() is not None
    monkeypatch.setattr(sys.implementation, "name", "other")
    assert known.__wrapped__() is None


def test_small_integers_are_not_made_but_found():
    small = small_integers()
    assert [small.zero + n * small.step for n in range(-5, 257)] == [id(n) for n in range(-5, 257)]
    numbers = Ctrie(keys=int, values=int)
    for n in (*range(-7, 259), -(1 << 62), (1 << 62) + 5, -(1 << 63), (1 << 63) - 1):
        numbers[n] = n
        assert [numbers[n], numbers.get(n), numbers.setdefault(n, 0), numbers.pop(n)] == [n] * 4
    for n in range(-5, 257):
        numbers[n] = int(str(n))
        assert numbers[n] is numbers.get(n) is n


def test_a_small_integer_is_a_reference_of_its_own():
    numbers = Ctrie({0: 200}, keys=int, values=int)
    thing = numbers[0]
    before = sys.getrefcount(thing)
    held = [numbers[0] for _ in range(1000)]
    assert sys.getrefcount(thing) in (before, before + 1000)  # an object that is never freed is not counted
    del held
    assert sys.getrefcount(thing) == before


def test_small_integers_that_are_not_in_a_row_are_made(monkeypatch):
    monkeypatch.setattr(interpreter, "known", lambda: None)
    assert small_integers.__wrapped__() == Small(0, 0)
    monkeypatch.undo()
    monkeypatch.setattr(interpreter, "id", lambda thing: id(thing) + 8 * (thing == 100), raising=False)
    assert small_integers.__wrapped__() == Small(0, 0)


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_other_versions(version):
    """The module needs nothing but the standard library."""
    program = shutil.which(f"python{version}")
    if program is None or subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"python{version} is not installed")
    code = f"import runpy; found = runpy.run_path({interpreter.__file__!r}); print(found['known']() is not None)"
    assert subprocess.run([program, "-c", code], capture_output=True, text=True, check=True).stdout == "True\n"
