"""Operations on one key of a map of objects, without a line of Python unless a class of the user's has one.

Example: ``trie["tea"]``. The interpreter has the hash of the string at hand. The code pins, looks up the hash, reads
the addresses of key and value, unpins, compares the keys as a dict does, and returns the value.

Rule: `__hash__`, `__eq__` and finalizers of users run here, between the steps. Then nothing is pinned, references are
taken to all that is in hand, and the map's context is read anew afterwards. Two keys of one hash, a full arena and
wrong arguments go to the Python function of the operation.

Who owns which reference is told in `latchfree.ctrie.kernels.references`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import in_line, peek
from latchfree.border.objects import new_tuple, set_field
from latchfree.ctrie.kernels import insert as modes
from latchfree.ctrie.kernels.context import (
    BASE,
    BYTES,
    CONTEXT,
    GET_ITEM,
    GET_OR_INSERT,
    HAS_ITEM,
    INT,
    KEY_ERROR,
    NONE,
    POP,
    PUT,
    PUT_IF_PRESENT,
    SETDEFAULT,
    STR,
    TRIE,
    TYPE,
    constant,
    participant,
    words_in,
)
from latchfree.ctrie.kernels.insert import FULL, insert
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.references import SLICE, drop_due, drop_pair, hasten, take_pair
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.snode import HELD_KEY, HELD_VALUE
from latchfree.ctrie.kernels.surprise import ERROR, again, answered, asked, done
from latchfree.jit import external, kernel
from latchfree.kinds import Flag, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_ALWAYS, _IF_ABSENT, _IF_PRESENT, _IF_EQUAL = modes.ALWAYS, modes.IF_ABSENT, modes.IF_PRESENT, modes.IF_EQUAL

# What came of an operation.
_ABSENT = 0  # the key was not there; with it comes no object
_FOUND = 1  # the key was there; with it comes a reference to its value
_SURPRISE = 2  # nothing was done: Python is to do it
_RAISED = 3  # an exception is set

_EQ = np.int32(2)
_NO_HASH = np.int64(-1)

_hash = external("PyObject_Hash", "int64(uint64)")
_equal = external("PyObject_RichCompareBool", "int32(uint64, uint64, int32)")
_incref = external("Py_IncRef", "void(uint64)")
_decref = external("Py_DecRef", "void(uint64)")
_set_error = external("PyErr_SetObject", "void(uint64, uint64)")
_from_bool = external("PyBool_FromLong", "uint64(int64)")


@kernel
def _missing(this: Word, key: Word) -> Word:
    """Set KeyError; in a tuple of its own, for a key that is a tuple would become the arguments of the error."""
    arguments = new_tuple(1)
    if arguments != _0:
        _incref(key)
        set_field(arguments, 0, key)
        _set_error(peek(words_in(peek(this, CONTEXT)), KEY_ERROR), arguments)
        _decref(arguments)
    return _0


@kernel
def _new(thing: Word) -> Word:
    """Return a new reference to an object."""
    _incref(thing)
    return thing


@kernel
def _is_plain(context: Word, thing: Word) -> Flag:
    """Return whether nobody can tell when an object goes."""
    kind = peek(thing, TYPE)
    plain = kind == peek(context, STR) or kind == peek(context, INT) or kind == peek(context, BYTES)
    return plain or thing == peek(context, NONE)


@kernel
def _done(context: Word, mem: Word, me: Word, key: Word, value: Word) -> None:
    """Let go of what waits, and of the pair that was replaced or removed just now; the caller is not pinned."""
    if not _is_plain(context, value) or not _is_plain(context, key):
        hasten(mem, me)
    drop_due(mem, me, SLICE)


@kernel
def _compared(there: Word, value: Word, thing: Word) -> int:
    """Return _FOUND if the key `there` of a pair is the key `thing`; takes references to the pair in any case.

    The caller is not pinned any more, and has held the interpreter lock since it read the pair: both live.
    """
    if there == _0:
        _incref(value)
        return _SURPRISE
    take_pair(there, value)
    if there == thing:
        return _FOUND
    same = _equal(there, thing, _EQ)
    if same == 1:
        return _FOUND
    return _ABSENT if same == 0 else _RAISED


@kernel
def _found(this: Word, thing: Word) -> tuple[int, Word]:
    """Look a key up."""
    in_line()
    h = _hash(thing)
    if h == _NO_HASH:
        return _RAISED, _0
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me == _0:
        return _SURPRISE, _0
    mem = peek(context, BASE)
    pin(mem, me)
    node = lookup(mem, peek(context, TRIE), me, h)
    if node == NIL:
        unpin(mem, me)
        return _ABSENT, _0
    there, value = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
    unpin(mem, me)
    if there == thing:
        _incref(value)
        return _FOUND, value
    what = _compared(there, value, thing)
    if there != _0:
        _decref(there)
    if what == _FOUND:
        return _FOUND, value
    _decref(value)
    return what, _0


@kernel
def _written(this: Word, thing: Word, value: Word, mode: Word) -> tuple[int, Word]:
    """Write a value where `mode` allows: ALWAYS, IF_ABSENT or IF_PRESENT."""
    h = _hash(thing)
    if h == _NO_HASH:
        return _RAISED, _0
    while True:
        context = words_in(peek(this, CONTEXT))
        me = participant(context)
        if me == _0:
            return _SURPRISE, _0
        mem, trie = peek(context, BASE), peek(context, TRIE)
        take_pair(thing, value)
        pin(mem, me)
        if mode == _IF_PRESENT:
            node = lookup(mem, trie, me, h)
        else:
            node = insert(mem, trie, me, h, ((thing, value),), _IF_ABSENT, ((thing, value),))
        there, old = _0, _0
        if node != NIL and node != FULL:
            there, old = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
        unpin(mem, me)
        if node == NIL and mode != _IF_PRESENT:
            drop_due(mem, me, SLICE)
            return _ABSENT, _0
        drop_pair(thing, value)  # which the caller has, too
        if node == FULL:
            return _SURPRISE, _0
        if node == NIL:
            return _ABSENT, _0
        what = _compared(there, old, thing)
        if what != _FOUND:
            drop_pair(there, old)
            other = what == _ABSENT and mode != _IF_PRESENT  # two keys of one hash
            return (_SURPRISE if other else what), _0
        if mode == _IF_ABSENT:
            _decref(there)
            return _FOUND, old
        # The key stays, as in a dict: the reference to it in hand becomes that of the new S-node.
        _incref(value)
        pin(mem, me)
        node = insert(mem, trie, me, h, ((there, value),), _IF_EQUAL, ((there, old),))
        unpin(mem, me)
        if node != NIL and node != FULL:
            _done(words_in(peek(this, CONTEXT)), mem, me, old, old)
            return _FOUND, old
        _decref(value)
        drop_pair(there, old)
        if node == FULL:
            return _SURPRISE, _0


@kernel
def _removed(this: Word, thing: Word) -> tuple[int, Word]:
    """Remove a key."""
    h = _hash(thing)
    if h == _NO_HASH:
        return _RAISED, _0
    while True:
        context = words_in(peek(this, CONTEXT))
        me = participant(context)
        if me == _0:
            return _SURPRISE, _0
        mem, trie = peek(context, BASE), peek(context, TRIE)
        pin(mem, me)
        node = lookup(mem, trie, me, h)
        if node == NIL:
            unpin(mem, me)
            return _ABSENT, _0
        there, old = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
        unpin(mem, me)
        what = _compared(there, old, thing)
        if what != _FOUND:
            drop_pair(there, old)
            return what, _0
        pin(mem, me)
        node = remove(mem, trie, me, h, _IF_EQUAL, ((there, old),))
        unpin(mem, me)
        if node != NIL and node != FULL:
            _done(words_in(peek(this, CONTEXT)), mem, me, there, old)
            _decref(there)
            return _FOUND, old
        drop_pair(there, old)
        if node == FULL:
            return _SURPRISE, _0


def _subscript(this: Word, thing: Word) -> Word:
    what, value = _found(this, thing)
    if what == _FOUND:
        return value
    if what == _ABSENT:
        return _missing(this, thing)
    return _0 if what == _RAISED else asked(GET_ITEM, this, thing)


def _contains(this: Word, thing: Word) -> Word:
    what, value = _found(this, thing)
    if what == _FOUND:
        _decref(value)
        return _1
    if what == _ABSENT:
        return _0
    return ERROR if what == _RAISED else answered(asked(HAS_ITEM, this, thing))


def _delete(this: Word, thing: Word) -> Word:
    what, value = _removed(this, thing)
    if what == _FOUND:
        _decref(value)
        return _0
    if what == _SURPRISE:
        return done(this, thing, _0)
    if what == _ABSENT:
        _missing(this, thing)
    return ERROR


def _assign(this: Word, thing: Word, value: Word) -> Word:
    what, old = _written(this, thing, value, _ALWAYS)
    if what == _FOUND:
        _decref(old)
    if what == _SURPRISE:
        return done(this, thing, value)
    return ERROR if what == _RAISED else _0


def _get(this: Word, given: Word, count: Word, names: Word, operation: Word) -> Word:
    """``get(key, default=None)``."""
    if names == _0 and count - _1 < _2:
        what, value = _found(this, peek(given, _0))
        if what == _FOUND:
            return value
        if what == _RAISED:
            return _0
        if what == _ABSENT:
            return _new(peek(given, _1)) if count == _2 else constant(words_in(peek(this, CONTEXT)), NONE)
    return again(operation, this, given, count, names)


def _take(this: Word, given: Word, count: Word, names: Word, operation: Word) -> Word:
    """``pop(key)``, ``pop(key, default)``, ``remove(key)``; with a value that is expected, Python removes."""
    if names == _0 and (count == _1 or (count == _2 and operation == POP)):
        what, value = _removed(this, peek(given, _0))
        if what == _RAISED:
            return _0
        if what != _SURPRISE:
            if operation != POP:
                if what == _FOUND:
                    _decref(value)
                return _from_bool(np.int64(what == _FOUND))
            if what == _FOUND:
                return value
            return _new(peek(given, _1)) if count == _2 else _missing(this, peek(given, _0))
    return again(operation, this, given, count, names)


@kernel
def _mode(operation: Word) -> Word:
    if operation == PUT:
        return _ALWAYS
    return _IF_PRESENT if operation == PUT_IF_PRESENT else _IF_ABSENT


def _write(this: Word, given: Word, count: Word, names: Word, operation: Word) -> Word:
    """``put``, ``put_if_absent``, ``put_if_present``, ``get_or_insert`` and ``setdefault`` of a key and a value."""
    if names == _0 and count == _2:
        what, old = _written(this, peek(given, _0), peek(given, _1), _mode(operation))
        if what == _FOUND:
            return old
        if what == _RAISED:
            return _0
        if what == _ABSENT:
            if operation in (GET_OR_INSERT, SETDEFAULT):
                return _new(peek(given, _1))
            return constant(words_in(peek(this, CONTEXT)), NONE)
    return again(operation, this, given, count, names)


#: The functions by name, and by what they take: a key, a key and a value, or the arguments of a method.
OF_KEY: dict[str, Callable[..., Any]] = {"subscript_o": _subscript, "contains_o": _contains, "delete_o": _delete}
OF_TWO: dict[str, Callable[..., Any]] = {"assign_o": _assign}
OF_METHOD: dict[str, Callable[..., Any]] = {"get_o": _get, "take_o": _take, "write_o": _write}
