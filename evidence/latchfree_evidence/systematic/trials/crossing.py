"""Calls of compiled code from Python: arguments that a wrapper takes, arguments that it refuses, and what comes back.

Example: a wrapper of a kernel of a word, a flag and an array is called with a list for the array. The kernel is not
called, the error is set, and the view of another array that was taken before is given back: the array can be resized.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from latchfree.border import BYTES, FLAG, GIVEN_INTS, INT, NONE, PAIR, WORD, WORDS, Array, Fields, objects
from latchfree.border.wrapper import written
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.interpreter import Interpreter
from latchfree_evidence.systematic.plain.words import WORD as MASK
from latchfree_evidence.systematic.plain.words import signed
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_TABLE: Final = Array("int64", dimensions=2)
_GIVEN_TABLE: Final = Array("uint32", written=False, dimensions=2)
_TYPES: Final = ("uint64", "int64", "uint32", "int32", "uint8", "bool_")


class _Named(NamedTuple):
    """A named tuple, as kernels take some."""

    first: Any
    second: Any


def _array_at(address: int, shape: Any, kind: Any) -> View:
    dtype = np.dtype(kind)
    count = int(np.prod(shape)) * dtype.itemsize
    data = (ctypes.c_uint8 * max(1, count)).from_address(address) if count else (ctypes.c_uint8 * 1)()
    given: Any = data
    return View(np.frombuffer(given, dtype, int(np.prod(shape))).reshape(shape))


class _Calls:
    """Wrappers in plain Python."""

    def __init__(self, world: World) -> None:
        self.c = Interpreter()
        self.c.kept = True  # the numbers in a pair
        named = self.c.named()
        self.world = world.with_named(named | {"PyEval_SaveThread": lambda: 7, "PyEval_RestoreThread": self._take_gil})
        self.restored: list[int] = []
        self.names: dict[str, Any] = {}
        for name in objects.__all__:
            thing = getattr(objects, name)
            self.names[name] = named.get(getattr(thing, "__name__", ""), None)
            if self.names[name] is None and name not in ("as_pointer", "release_gil", "take_gil", "room"):
                self.names[name] = self.world[thing]
        self.names |= {
            "as_pointer": int, "release_gil": lambda: 7, "take_gil": self.restored.append, "room": self.c.room,
            "peek": lambda at, k: ctypes.c_uint64.from_address(at + 8 * k).value, "carray": _array_at, "zero": 0,
            "word": int, **{name: getattr(np, name) for name in _TYPES},
        }  # fmt: skip

    def _take_gil(self, thread: int) -> None:
        self.restored.append(thread)

    def call(self, kernel: Callable[..., Any], kinds: tuple[Any, ...], result: str, *things: Any) -> Any:
        """Call a wrapper as the interpreter does, without the interpreter lock in the kernel."""
        source, names = written("wrapped", kinds, result, nogil=True)
        space = self.names | {name: thing for name, thing in names.items() if name not in self.names}
        exec(source, space | {"kernel": kernel}, space)  # what the library itself writes and compiles
        given = (ctypes.c_uint64 * max(1, len(things)))(*map(id, things))
        return self.c.object(space["wrapped"], id(None), ctypes.addressof(given), len(things))


def _refused(calls: _Calls, kinds: tuple[Any, ...], *things: Any) -> None:
    def kernel(*taken: Any) -> int:
        raise AssertionError(f"a kernel is called with {taken}, made of {things}")

    try:
        calls.call(kernel, kinds, INT, *things)
    except (TypeError, OverflowError, BufferError, ValueError, SystemError):
        require(calls.c.error is None, "no error is left")
        return
    raise AssertionError(f"arguments are taken: {things}")


def _resizable(*arrays: Any) -> None:
    for each in arrays:
        each.append(0)  # raises BufferError as long as somebody has a view
        each.pop()


def words(world: World, seed: int) -> None:
    """Take numbers and flags, and make what is returned."""
    calls = _Calls(world)
    seen: list[Any] = []

    def kernel(*taken: Any) -> Any:
        seen.append(taken)
        return taken[0]

    for kind, good in (
        (WORD, [(0, 0), (5, 5), ((1 << 64) - 1, MASK), (-1, MASK)]),
        (INT, [(0, 0), (-1, -1), ((1 << 63) - 1, (1 << 63) - 1), (-(1 << 63), -(1 << 63))]),
        (FLAG, [(0, False), (1, True), (7, True), (True, True), (-1, True), (False, False)]),
    ):
        for thing, wanted in good:
            found = calls.call(kernel, (kind, WORD), {FLAG: FLAG, INT: INT, WORD: WORD}[kind], thing, 9)
            require(seen.pop() == (wanted, 9) and found == wanted, "what is taken", kind, thing, found)
            require(calls.restored.pop() == 7, "the interpreter lock is taken again")
        for bad in ("1", None, 1.5):
            _refused(calls, (kind, WORD), bad, 9)
            _refused(calls, (WORD, kind), 9, bad)
        for count in (0, 1, 3):
            _refused(calls, (kind, WORD), *range(count))
    _refused(calls, (INT,), 1 << 63)
    _refused(calls, (FLAG,), 1 << 63)
    require(calls.call(lambda a: None, (WORD,), NONE, 3) is None, "nothing is returned")
    pair = calls.call(lambda a: (a, -5), (WORD,), PAIR, (1 << 64) - 1)
    require(pair == ((1 << 64) - 1, -5) and type(pair) is tuple, "two are returned", pair)
    require(calls.call(lambda: 4, (), WORD) == 4, "nothing is taken")
    require(not calls.c.broken, "nothing was wrong", calls.c.broken)


def fields(world: World, seed: int) -> None:
    """Take tuples, with and without names."""
    calls = _Calls(world)
    pair = Fields((WORD, INT))
    require(calls.call(lambda p: p[0] + p[1], (pair,), INT, (5, -3)) == 2, "a tuple")
    named = Fields((INT, INT), _Named)
    found = calls.call(lambda p: p.first - p.second, (named,), INT, _Named(5, 3))
    require(found == 2, "a named tuple", found)
    for bad in ((1,), (1, 2, 3), (), [1, 2], 5, None, (1, "2"), ("1", 2)):
        _refused(calls, (pair,), bad)
        _refused(calls, (WORD, pair), 1, bad)
    require(calls.c.error is None, "no error is left")
    # The error of a thing that is no tuple is that of the interpreter, and not replaced by another.
    try:
        calls.call(lambda p: 0, (pair,), INT, [1, 2])
    except SystemError:
        pass
    except TypeError as error:
        raise AssertionError("the error of the interpreter is replaced") from error


def arrays(world: World, seed: int) -> None:
    """Take arrays; give every view back, also where a later argument is refused."""
    import array

    calls = _Calls(world)
    ints, unsigned, small = array.array("q", [3, 4, -5]), array.array("Q", [1, 2]), bytearray(b"abcd")
    kinds = (GIVEN_INTS, WORDS, BYTES)

    def total(a: Any, b: Any, c: Any) -> Any:
        b[0] = 7
        return sum(a[k] for k in range(len(a))) + sum(b[k] for k in range(len(b))) + c[len(c) - 1]

    require(calls.call(total, kinds, INT, ints, unsigned, small) == 2 + 9 + 100, "arrays are taken")
    require(unsigned[0] == 7, "and written")
    _resizable(ints, unsigned, small)
    require(calls.call(lambda a: len(a), (GIVEN_INTS,), INT, np.empty(0, np.int64)) == 0, "an empty array")
    frozen = np.arange(3)
    frozen.flags.writeable = False
    require(calls.call(lambda a: a[2], (GIVEN_INTS,), INT, frozen) == 2, "an array that nobody may write")
    _refused(calls, (WORDS,), frozen.view(np.uint64))
    unaligned = np.frombuffer(bytearray(25), np.uint8)[1:].view(np.int64)
    for bad in (small, array.array("i", [1, 2]), [1, 2], None, 5, unaligned, np.arange(8)[::2]):
        _refused(calls, (GIVEN_INTS,), bad)
        _refused(calls, (BYTES, GIVEN_INTS), small, bad)
        _refused(calls, (GIVEN_INTS, GIVEN_INTS), bad, ints)
    _refused(calls, (BYTES,), ints)
    _resizable(ints, unsigned, small)
    require(not calls.c.broken, "nothing was wrong", calls.c.broken)


def tables(world: World, seed: int) -> None:
    """Take arrays of two dimensions."""
    calls = _Calls(world)
    table = np.arange(12).reshape(3, 4)

    def kernel(a: Any) -> int:
        a[0, 1] = 50
        return int(len(a) * 1000 + len(a[0]) * 100 + a[2, 3])

    require(calls.call(kernel, (_TABLE,), INT, table) == 3411 and table[0, 1] == 50, "a table")
    narrow = np.arange(6, dtype=np.uint32).reshape(2, 3)
    narrow.flags.writeable = False
    require(calls.call(lambda a: a[1, 2] * 10 + len(a), (_GIVEN_TABLE,), INT, narrow) == 52, "a narrow table")
    _refused(calls, (Array("uint32", dimensions=2),), narrow)
    unaligned = np.frombuffer(bytearray(33), np.uint8)[1:].view(np.int64).reshape(2, 2)
    for bad in (
        np.arange(4), np.arange(8).reshape(2, 2, 2), narrow, table.T, [[1, 2]], None, 3, unaligned, np.array(5),
        np.arange(6).astype(np.int32).reshape(2, 3),
    ):  # fmt: skip
        held = bytearray(b"held")
        _refused(calls, (_TABLE,), bad)
        _refused(calls, (BYTES, _TABLE), held, bad)
        _resizable(held)
    require(not calls.c.broken, "nothing was wrong", calls.c.broken)


def signs(world: World, seed: int) -> None:
    """Return numbers below zero: a wrapper makes them of the words that a kernel returns."""
    calls = _Calls(world)
    for number in (-1, -(1 << 63), 0, (1 << 63) - 1):
        require(calls.call(lambda a: signed(a), (INT,), INT, number) == number, "a number", number)
