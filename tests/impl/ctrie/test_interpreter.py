"""What compiled code takes for granted of objects is compared with objects, in every interpreter that is there."""

import ctypes
import shutil
import subprocess
import sys
from random import Random

import pytest

from latchfree import Ctrie
from latchfree.ctrie import binding, interpreter, slots
from latchfree.ctrie.interpreter import Digits, digits, known, small_integers, strings

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
    assert [small.zero + (n << small.shift) for n in range(-5, 257)] == [id(n) for n in range(-5, 257)]
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


def _shifted(thing):
    return id(thing) + 8 * (thing == 100)


def _wider(thing):
    """As if there were 40 bytes from each small integer to the next."""
    return id(0) + 40 * thing


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (interpreter, "known", lambda: None),
        (interpreter, "id", _shifted),
        (interpreter, "id", _wider),
        (interpreter, "_counted", lambda number: number == 211),
        (interpreter, "_counted", lambda number: 2),
        (interpreter, "_counted", lambda number: -1),
        (sys, "gettotalrefcount", lambda: 0),
    ],
)
def test_small_integers_that_are_not_as_taken_for_granted_are_made(monkeypatch, where, name, wrong):
    found = small_integers.__wrapped__()
    assert found == small_integers()
    assert found.counted == (sys.version_info < (3, 12))
    monkeypatch.setattr(where, name, wrong, raising=False)
    assert small_integers.__wrapped__() == interpreter._NO_SMALL


#: Integers of no digit to four, and one of more.
SIZES = [sign * ((1 << bits) + near) for bits in (0, 1, 29, 30, 31, 59, 60, 61, 62, 63, 64, 89, 90, 300)
         for near in (-1, 0, 1) for sign in (1, -1)]  # fmt: skip
FIT = sorted({number for number in SIZES if -(1 << 63) <= number < 1 << 63})


@pytest.fixture(params=[True, False], ids=["digits", "no_digits"])
def reads_digits(request, monkeypatch):
    """Maps that read the digits of integers, and maps that do not know where they are."""
    assert digits() != interpreter._NO_DIGITS
    if not request.param:
        monkeypatch.setattr(binding, "digits", lambda: interpreter._NO_DIGITS)
    caches = binding._facts.cache_clear, slots._ends.clear
    for clear in caches:
        clear()
    yield request.param
    for clear in caches:
        clear()


@pytest.mark.usefixtures("reads_digits")
def test_integers_of_every_size():
    numbers = Ctrie(keys=int, values=int)
    for number in FIT:
        numbers[number] = -1 - number
    assert dict(numbers) == {number: -1 - number for number in FIT}
    for number in FIT:
        assert number in numbers
        assert numbers[number] == numbers.get(number) == -1 - number
    for number in set(SIZES) - set(FIT):
        with pytest.raises(ValueError, match="integers must be from"):
            numbers[number] = 1
        with pytest.raises(ValueError, match="integers must be from"):
            numbers[1] = number
    assert {numbers.pop(number) for number in FIT} == {-1 - number for number in FIT}
    assert not numbers


@pytest.mark.usefixtures("reads_digits")
def test_random_integers_of_every_size():
    random = Random(17)
    print("seed 17")
    there = {}
    numbers = Ctrie(keys=int, values=int)
    for _ in range(5_000):
        key, value = (random.getrandbits(random.randrange(1, 64)) * random.choice((1, -1)) for _ in range(2))
        numbers[key] = there[key] = value
    assert dict(numbers) == there
    assert all(numbers[key] == value for key, value in there.items())


def test_an_integer_of_a_subclass_is_a_key_and_a_boolean_is_none():
    class Number(int):
        def __eq__(self, other):
            raise AssertionError("nobody asks")

        __hash__ = int.__hash__

    numbers = Ctrie({1: 2, 1 << 40: 3}, keys=int, values=int)
    assert [numbers[Number(1)], numbers[Number(1 << 40)]] == [2, 3]
    with pytest.raises(TypeError, match="expected int, got bool True"):
        numbers[True]


@pytest.mark.parametrize(
    ("number", "count"),
    [(1000, 2), (1000, 99), ((1 << 60) - 1, 1), ((1 << 63) - 1, 0), (0, 1), (-1000, 1), (-(1 << 30), 2), (1 << 90, 3)],
)
def test_an_integer_that_counts_its_digits_otherwise_is_found(monkeypatch, number, count):
    true, says = interpreter._word, digits().one + (count - 1) * digits().step
    monkeypatch.setattr(interpreter, "_word", lambda thing, at: says if thing == number else true(thing, at))
    assert digits.__wrapped__() == interpreter._NO_DIGITS


def test_digits_that_are_not_known(monkeypatch):
    assert digits.__wrapped__() == digits() in (Digits(1, 1), Digits(8, 8))
    with monkeypatch.context() as patched:
        patched.setattr(interpreter, "known", lambda: None)
        assert digits.__wrapped__() == interpreter._NO_DIGITS
    with monkeypatch.context() as patched:
        patched.setattr(sys, "int_info", (15, 2, 0, 0))
        assert digits.__wrapped__() == interpreter._NO_DIGITS
    with monkeypatch.context() as patched:  # the word is not the number of digits, and tells none apart
        patched.setattr(interpreter, "_word", lambda thing, at: 5)
        assert digits.__wrapped__() == interpreter._NO_DIGITS


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_other_versions(version):
    """The module needs nothing but the standard library."""
    program = shutil.which(f"python{version}")
    if program is None or subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip(f"python{version} is not installed")
    code = f"""if True:
        import runpy
        found = runpy.run_path({interpreter.__file__!r})
        print(found["known"]() is not None, found["digits"]()[1], *found["small_integers"]()[1:])"""
    told = subprocess.run([program, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == ("True 1 5 1\n" if version == "3.11" else "True 8 5 0\n")
