"""The C interface of the interpreter, for kernels in plain Python: objects are at their real addresses.

Example: a kernel calls ``PyObject_Hash(thing)``. `thing` is the address of an object of this process, so the hash is
that of the object, and if its `__hash__` raises, the error is *set* here, as the interpreter would set it. A reference
is counted in the object itself: one too few frees an object in use, and one too many is seen by `sys.getrefcount`.

Rules, each an assertion: nothing that may run code of users is called while somebody is pinned. A call has a result,
or an error is set, and never both. Nobody writes past the words of the stack that were asked for.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from threading import get_ident
from typing import Any, Final

from latchfree_evidence.systematic.plain.words import WORD, signed

_POISON: Final = 0xF5EE_F5EE_F5EE_F5EE
_GUARD: Final = 4
_MOST_BYTES: Final = 1 << 24
_MOST_ARGUMENTS: Final = 64
_FIRST_FUNCTION: Final = 0x7FAC_0000_0000_0000
_EQ: Final = 2
#: The largest integer of which there is one object only; bytes from which on they are a context, which is kept.
_SMALL: Final = 256
_CONTEXT: Final = 300
_INT64: Final = 1 << 63
_P, _N = ctypes.c_void_p, ctypes.c_ssize_t


def _c(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


incref: Final = _c("Py_IncRef", None, _P)
decref: Final = _c("Py_DecRef", None, _P)
_new_tuple: Final = _c("PyTuple_New", _P, _N)
_set_field: Final = _c("PyTuple_SetItem", ctypes.c_int, _P, _N, _P)
_new_object: Final = _c("PyType_GenericAlloc", _P, _P, _N)
_untrack: Final = _c("PyObject_GC_UnTrack", None, _P)
_get_buffer: Final = _c("PyObject_GetBuffer", ctypes.c_int, _P, _P, ctypes.c_int)
_release_buffer: Final = _c("PyBuffer_Release", None, _P)


def thing_at(address: int) -> Any:
    """Return the object at an address."""
    if address in (0, _POISON):
        raise AssertionError("an object is asked for, and there is none")
    return ctypes.cast(address, ctypes.py_object).value


def handed(thing: Any) -> int:
    """Return the address of an object, with a reference that whoever gets the address owns."""
    incref(id(thing))
    return id(thing)


def owned(address: int) -> Any:
    """Return the object at an address, for the reference that comes with the address."""
    thing = thing_at(address)
    decref(address)
    return thing


def _references(things: list[Any]) -> list[tuple[int, int]]:
    """Return the address of each thing, and how many references there are to it."""
    return [(id(each), sys.getrefcount(each)) for each in things]


_OF_ONE: Final = [object()]
#: How many references there are to a thing in a list, and in a part of the list that is looked at.
_OWN: Final = _references(_OF_ONE[:])[0][1]


class Interpreter:
    """The C interface.

    Attributes
    ----------
    error : BaseException or None
        The error that is set.
    asked : list of str
        The names of the Python functions that were called.
    reported : list
        What was reported because nobody could be told.
    failing : int or None
        How many objects can be made until memory runs out once; None for ever so many.
    broken : list
        What was wrong in a call whose caller may not have said so, such as a finalizer.
    pinned : callable
        Says whether somebody is pinned.
    kept : bool
        Whether numbers and texts that are made during a call may be kept, and not only be its result.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self.asked: list[str] = []
        self.reported: list[Any] = []
        self.failing: int | None = None
        self.broken: list[BaseException] = []
        self.pinned: Callable[[], bool] = lambda: False
        self.kept = False
        self._functions: dict[int, Callable[..., Any]] = {}
        self._addresses: dict[str, int] = {}
        self._rooms: list[tuple[Any, int]] = []
        self._passing: list[Any] = []

    # functions by address ----------------------------------------------------------------------------------------

    def address_of(self, name: str, function: Callable[..., Any], address: int | None = None) -> int:
        """Return the number by which compiled code calls a function."""
        if name not in self._addresses:
            there = _FIRST_FUNCTION + 16 * len(self._functions) if address is None else address
            self._addresses[name] = there
            self._functions[there] = function
        return self._addresses[name]

    def _call(self, function: int, *words: int) -> int:
        if function not in self._functions:
            raise AssertionError(f"no function is at {function:#x}")
        return int(self._functions[function](*words)) & WORD

    # calls by the interpreter ------------------------------------------------------------------------------------

    def call(self, function: Callable[..., Any], *words: int) -> tuple[int, BaseException | None]:
        """Call a kernel as the interpreter calls it; return its word, and the error that it has set."""
        saved, self.error = self.error, None
        rooms, passing = len(self._rooms), len(self._passing)
        try:
            answer = int(function(*words) or 0) & WORD
            for room, count in self._rooms[rooms:]:
                if any(room[count + k] != _POISON for k in range(_GUARD)):
                    raise AssertionError("words of the stack are written that nobody asked for")
            for place, count in _references(self._passing[passing:]):
                if count != _OWN + (place == answer):
                    raise AssertionError("what was made for a call is kept, or let go of twice")
            if self.pinned():
                raise AssertionError("a call ends with its participant pinned")
            return answer, self.error
        except BaseException as error:
            self.broken.append(error)
            raise
        finally:
            del self._rooms[rooms:], self._passing[passing:]
            self.error = saved

    def object(self, function: Callable[..., Any], *words: int) -> Any:
        """Call a kernel that returns an object, or has set an error."""
        answer, error = self.call(function, *words)
        if error is not None:
            if answer:
                self._wrong("there is a result, and an error is set")
            try:
                raise error
            finally:
                del error  # else it would hold this frame, which holds it
        if not answer:
            self._wrong("there is no result, and no error is set")
        return owned(answer)

    def number(self, function: Callable[..., Any], *words: int) -> int:
        """Call a kernel that returns a number, -1 if it has set an error."""
        answer, error = self.call(function, *words)
        failed = signed(answer) == -1
        if failed != (error is not None):
            self._wrong(f"the result is {answer}, and the error that is set is {error!r}")
        if error is not None:
            try:
                raise error
            finally:
                del error
        return answer

    def _wrong(self, what: str) -> None:
        error = AssertionError(what)
        self.broken.append(error)
        raise error

    def _free(self, what: str) -> None:
        """Fail if somebody is pinned."""
        if self.pinned():
            self._wrong(f"{what} is called while somebody is pinned: this may run anything")

    def _makes(self) -> bool:
        """Return whether there is memory for an object."""
        if self.failing is None:
            return True
        self.failing -= 1
        if self.failing >= 0:
            return True
        self.failing, self.error = None, MemoryError()
        return False

    def _tried(self, call: Callable[[], Any], failed: Any) -> Any:
        try:
            return call()
        except Exception as error:
            self.error = error
            return failed

    # what kernels call -------------------------------------------------------------------------------------------

    def _decref(self, thing: int) -> None:
        self._free("Py_DecRef")
        if thing and ctypes.c_ssize_t.from_address(thing).value <= 0:
            self._wrong("a reference is dropped that nobody has")
        decref(thing)

    def _hash(self, thing: int) -> int:
        self._free("PyObject_Hash")
        return self._tried(lambda: hash(thing_at(thing)), -1)  # type: ignore[no-any-return]

    def _equal(self, one: int, other: int, how: int) -> int:
        self._free("PyObject_RichCompareBool")
        if how != _EQ:
            self._wrong(f"objects are compared by {how}")
        if one == other:
            return 1
        return self._tried(lambda: int(bool(thing_at(one) == thing_at(other))), -1)  # type: ignore[no-any-return]

    def _vectorcall(self, function: int, given: int, count: int, names: int) -> int:
        self._free("PyObject_Vectorcall")
        named = thing_at(names) if names else ()
        if count + len(named) > _MOST_ARGUMENTS:
            self._wrong(f"a function is called with {count} arguments")
        things = [thing_at(ctypes.c_uint64.from_address(given + 8 * k).value) for k in range(count + len(named))]
        called = thing_at(function)
        self.asked.append(getattr(called, "__name__", "?"))
        by_name = dict(zip(named, things[count:], strict=True))
        made = self._tried(lambda: [called(*things[:count], **by_name)], None)
        return 0 if made is None else handed(made.pop())

    def _set_error(self, kind: int, value: int) -> None:
        self._free("PyErr_SetObject")
        made, what = thing_at(kind), thing_at(value)
        if not (isinstance(made, type) and issubclass(made, BaseException)):
            self._wrong(f"an error is set that is {made!r}")
        self.error = what if isinstance(what, made) else made(*what) if isinstance(what, tuple) else made(what)

    def _bad(self) -> int:
        self.error = TypeError("bad argument type for built-in operation")
        return 0

    def _bad_call(self) -> None:
        self.error = SystemError("bad internal call")

    def _occurred(self) -> int:
        return 0 if self.error is None else id(type(self.error))

    def _clear(self) -> None:
        self.error = None

    def _fetch(self, kind: int, value: int, trace: int) -> None:
        error, self.error = self.error, None
        words = (0, 0, 0) if error is None else (handed(type(error)), handed(error), 0)
        for address, word in zip((kind, value, trace), words, strict=True):
            ctypes.c_uint64.from_address(address).value = word

    def _restore(self, kind: int, value: int, trace: int) -> None:
        if trace or bool(kind) != bool(value):
            self._wrong("an error is put back that was not put aside")
        self.error = owned(value) if value else None
        if kind:
            decref(kind)

    def _report(self, thing: int) -> None:
        self.reported.append((self.error, thing_at(thing)))
        self.error = None

    def _to_int64(self, thing: int, overflow: int) -> int:
        number = thing_at(thing)
        if not isinstance(number, int):
            self.error = TypeError(f"an integer is required (got type {type(number).__name__})")
            ctypes.c_int32.from_address(overflow).value = 0
            return -1
        fits = -_INT64 <= number < _INT64
        ctypes.c_int32.from_address(overflow).value = 0 if fits else 1 if number > 0 else -1
        return int(number) if fits else -1

    def _take_int(self, thing: int) -> int:
        number = thing_at(thing)
        if isinstance(number, int) and -_INT64 <= number < _INT64:
            return int(number)
        self.error = OverflowError("too large") if isinstance(number, int) else TypeError("an integer is required")
        return -1

    def _take_word(self, thing: int) -> int:
        number = thing_at(thing)
        if isinstance(number, int):
            return number & WORD
        self.error = TypeError("an integer is required")
        return WORD

    def _made(self, thing: Any) -> int:
        """Return a new object, of which the result of the call may keep one reference; 0 if there is no memory."""
        if not self._makes():
            return 0
        if self.kept:
            return handed(thing)
        if thing > _SMALL if isinstance(thing, int) else 1 < len(thing) < _CONTEXT:  # others are shared, or kept
            self._passing.append(thing)
        return handed(thing)

    def _bytes(self, address: int, count: int) -> bytes:
        if not 0 <= signed(count) <= _MOST_BYTES:
            self._wrong(f"{count:,} bytes are asked for")
        return ctypes.string_at(address, count)

    def _from_utf8(self, address: int, count: int, errors: int) -> int:
        found = self._bytes(address, count)
        text = self._tried(lambda: [found.decode()], None)
        return 0 if text is None else self._made(text.pop())

    def _to_utf8(self, thing: int) -> int:
        made = self._tried(lambda: [bytes(bytearray(thing_at(thing).encode()))], None)
        return 0 if made is None else self._made(made.pop())

    def _tuple(self, count: int) -> int:
        self._free("PyTuple_New")
        return int(_new_tuple(count)) if self._makes() else 0

    def _alloc(self, kind: int, count: int) -> int:
        self._free("PyType_GenericAlloc")
        return int(_new_object(kind, count)) if self._makes() else 0

    def _size(self, thing: int) -> int:
        found: int = self._tried(lambda: len(thing_at(thing)), -1)
        return found

    def _length(self, thing: int) -> int:
        if not isinstance(thing_at(thing), tuple):
            self._bad_call()
            return -1
        return len(thing_at(thing))

    def _field(self, thing: int, at: int) -> int:
        found = thing_at(thing)
        if not (isinstance(found, tuple) and 0 <= at < len(found)):
            self.error = IndexError("tuple index out of range")
            return 0
        return id(found[at])

    def _buffer(self, thing: int, view: int, flags: int) -> int:
        return self._tried(lambda: _get_buffer(thing, view, flags), -1)  # type: ignore[no-any-return]

    def room(self, words: int) -> int:
        """Return the address of words of the stack, whose contents nobody knows."""
        made = (ctypes.c_uint64 * (words + _GUARD))(*[_POISON] * (words + _GUARD))
        self._rooms.append((made, words))
        return ctypes.addressof(made)

    def named(self) -> dict[str, Callable[..., Any]]:
        """Return what kernels call, by its names in C."""
        return {
            "Py_IncRef": incref, "Py_DecRef": self._decref, "PyObject_Hash": self._hash,
            "PyObject_RichCompareBool": self._equal, "PyObject_Vectorcall": self._vectorcall,
            "PyObject_IsTrue": lambda thing: self._tried(lambda: int(bool(thing_at(thing))), -1),
            "PyObject_Size": self._size, "PyErr_SetObject": self._set_error, "PyErr_Occurred": self._occurred,
            "PyErr_Clear": self._clear, "PyErr_BadArgument": self._bad, "PyErr_BadInternalCall": self._bad_call,
            "PyErr_Fetch": self._fetch, "PyErr_Restore": self._restore, "PyErr_WriteUnraisable": self._report,
            "PyLong_AsLongLongAndOverflow": self._to_int64, "PyLong_AsLongLong": self._take_int,
            "PyLong_AsUnsignedLongLongMask": self._take_word, "PyLong_FromLongLong": lambda n: self._made(signed(n)),
            "PyLong_FromUnsignedLongLong": lambda n: self._made(n & WORD), "PyBool_FromLong": lambda n: handed(bool(n)),
            "PyBytes_FromStringAndSize": lambda at, n: self._made(self._bytes(at, n)),
            "PyUnicode_FromKindAndData": lambda kind, at, n: self._made(self._bytes(at, n).decode("latin-1")),
            "PyUnicode_DecodeUTF8": self._from_utf8, "PyUnicode_AsUTF8String": self._to_utf8,
            "PyTuple_New": self._tuple, "PyTuple_SetItem": _set_field, "PyTuple_GetItem": self._field,
            "PyTuple_Size": self._length, "PyType_GenericAlloc": self._alloc, "PyObject_GC_UnTrack": _untrack,
            "PyThread_get_thread_ident": get_ident, "PyObject_GetBuffer": self._buffer,
            "PyBuffer_Release": _release_buffer, "room": self.room, "call_2": self._call, "call_3": self._call,
            "call_5": self._call,
        }  # fmt: skip
