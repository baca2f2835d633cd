"""Operations on one key, from Python objects to Python objects, for maps of integers, strings and bytes.

Example: ``trie[5]`` on a map from integers to integers. The key is exactly an `int` that fits, so the code pins, looks
up, makes the value's object, unpins, and returns the object. No line of Python runs.

Rule: a call that would surprise (an object of another class, one too large, a full arena, no participant yet, wrong
arguments) does nothing here and goes to the Python function of the operation, see `latchfree.ctrie.kernels.surprise`.

Invariant: the thread holds the interpreter lock from beginning to end, and is pinned from before its first read of a
node to after its last. Nothing between can run Python code; errors are set after unpinning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.ctrie.kernels import insert as modes
from latchfree.ctrie.kernels.context import (
    BASE,
    CONTEXT,
    GET_ITEM,
    GET_OR_INSERT,
    HAS_ITEM,
    KEY_ERROR,
    KEYS,
    MOST_KEY,
    MOST_VALUE,
    NONE,
    POP,
    PUT,
    PUT_IF_PRESENT,
    SETDEFAULT,
    TRIE,
    VALUES,
    constant,
    participant,
    words_in,
)
from latchfree.ctrie.kernels.insert import FULL, insert
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.objects import finished, give_up, taken, value_in
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.surprise import ERROR, again, answered, asked, done
from latchfree.jit import external, kernel
from latchfree.kinds import Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_ALWAYS, _IF_ABSENT, _IF_PRESENT, _IF_EQUAL = modes.ALWAYS, modes.IF_ABSENT, modes.IF_PRESENT, modes.IF_EQUAL

# Stand for the kinds of keys and values at compile time.
_WORD = np.int64(0)
_BLOB = (_0, _0)

_incref = external("Py_IncRef", "void(uint64)")
_set_error = external("PyErr_SetObject", "void(uint64, uint64)")
_from_bool = external("PyBool_FromLong", "uint64(int64)")


@kernel
def _missing(context: Word, key: Word) -> Word:
    """Set KeyError; a key that is taken here is no tuple, which would become the arguments of the error."""
    _set_error(peek(context, KEY_ERROR), key)
    return _0


@kernel
def _new(thing: Word) -> Word:
    """Return a new reference to an object."""
    _incref(thing)
    return thing


@kernel
def _subscript(this: Word, thing: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0:
        good, key, made = taken(context, thing, KEYS, MOST_KEY, like_key)
        if good:
            mem = peek(context, BASE)
            answer = _0
            pin(mem, me)
            node = lookup(mem, peek(context, TRIE), me, key)
            if node != NIL:
                answer = value_in(context, mem, node, key, like_value)
            unpin(mem, me)
            give_up(made)
            return finished(context, answer, like_value) if node != NIL else _missing(context, thing)
    return asked(GET_ITEM, this, thing)


@kernel
def _contains(this: Word, thing: Word, like_key: Any) -> Word:
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0:
        good, key, made = taken(context, thing, KEYS, MOST_KEY, like_key)
        if good:
            mem = peek(context, BASE)
            pin(mem, me)
            node = lookup(mem, peek(context, TRIE), me, key)
            unpin(mem, me)
            give_up(made)
            return _1 if node != NIL else _0
    return answered(asked(HAS_ITEM, this, thing))


@kernel
def _delete(this: Word, thing: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0:
        good, key, made = taken(context, thing, KEYS, MOST_KEY, like_key)
        if good:
            mem = peek(context, BASE)
            pin(mem, me)
            node = remove(mem, peek(context, TRIE), me, key, _ALWAYS, like_value)
            unpin(mem, me)
            give_up(made)
            if node == NIL:
                _missing(context, thing)
                return ERROR
            if node != FULL:
                return _0
    return done(this, thing, _0)


@kernel
def _assign(this: Word, thing: Word, what: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0:
        good, key, made = taken(context, thing, KEYS, MOST_KEY, like_key)
        if good:
            fits, value, also_made = taken(context, what, VALUES, MOST_VALUE, like_value)
            node = FULL
            if fits:
                mem = peek(context, BASE)
                pin(mem, me)
                node = insert(mem, peek(context, TRIE), me, key, value, _ALWAYS, value)
                unpin(mem, me)
                give_up(also_made)
            give_up(made)
            if node != FULL:
                return _0
    return done(this, thing, what)


@kernel
def _get(this: Word, given: Word, count: Word, names: Word, operation: Word, like_key: Any, like_value: Any) -> Word:
    """``get(key, default=None)``."""
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0 and names == _0 and count - _1 < _2:
        good, key, made = taken(context, peek(given, _0), KEYS, MOST_KEY, like_key)
        if good:
            mem = peek(context, BASE)
            answer = _0
            pin(mem, me)
            node = lookup(mem, peek(context, TRIE), me, key)
            if node != NIL:
                answer = value_in(context, mem, node, key, like_value)
            unpin(mem, me)
            give_up(made)
            if node != NIL:
                return finished(context, answer, like_value)
            return _new(peek(given, _1)) if count == _2 else constant(context, NONE)
    return again(operation, this, given, count, names)


@kernel
def _take(this: Word, given: Word, count: Word, names: Word, operation: Word, like_key: Any, like_value: Any) -> Word:
    """``pop(key)``, ``pop(key, default)``, ``remove(key)``, ``remove(key, expected)``."""
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0 and names == _0 and count - _1 < _2:
        good, key, made = taken(context, peek(given, _0), KEYS, MOST_KEY, like_key)
        if good:
            node = FULL
            answer = _0
            mem = peek(context, BASE)
            if operation == POP or count == _1:
                pin(mem, me)
                node = remove(mem, peek(context, TRIE), me, key, _ALWAYS, like_value)
                if operation == POP and node != NIL and node != FULL:
                    answer = value_in(context, mem, node, key, like_value)
                unpin(mem, me)
            else:
                fits, expected, also_made = taken(context, peek(given, _1), VALUES, MOST_VALUE, like_value)
                if fits:
                    pin(mem, me)
                    node = remove(mem, peek(context, TRIE), me, key, _IF_EQUAL, expected)
                    unpin(mem, me)
                    give_up(also_made)
            give_up(made)
            if node != FULL:
                if operation != POP:
                    return _from_bool(np.int64(node != NIL))
                if node != NIL:
                    return finished(context, answer, like_value)
                return _new(peek(given, _1)) if count == _2 else _missing(context, peek(given, _0))
    return again(operation, this, given, count, names)


@kernel
def _mode(operation: Word) -> Word:
    if operation == PUT:
        return _ALWAYS
    return _IF_PRESENT if operation == PUT_IF_PRESENT else _IF_ABSENT


@kernel
def _write(this: Word, given: Word, count: Word, names: Word, operation: Word, like_key: Any, like_value: Any) -> Word:
    """``put``, ``put_if_absent``, ``put_if_present``, ``get_or_insert`` and ``setdefault`` of a key and a value."""
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0 and names == _0 and count == _2:
        good, key, made = taken(context, peek(given, _0), KEYS, MOST_KEY, like_key)
        if good:
            fits, value, also_made = taken(context, peek(given, _1), VALUES, MOST_VALUE, like_value)
            node = FULL
            answer = _0
            if fits:
                mem = peek(context, BASE)
                pin(mem, me)
                node = insert(mem, peek(context, TRIE), me, key, value, _mode(operation), value)
                if node != NIL and node != FULL:
                    answer = value_in(context, mem, node, key, like_value)
                unpin(mem, me)
                give_up(also_made)
            give_up(made)
            if node == NIL:
                kept = operation in (GET_OR_INSERT, SETDEFAULT)
                return _new(peek(given, _1)) if kept else constant(context, NONE)
            if node != FULL:
                return finished(context, answer, like_value)
    return again(operation, this, given, count, names)


@kernel
def _replace(
    this: Word, given: Word, count: Word, names: Word, operation: Word, like_key: Any, like_value: Any
) -> Word:
    """``replace(key, old, new)``."""
    context = words_in(peek(this, CONTEXT))
    me = participant(context)
    if me != _0 and names == _0 and count == _3:
        good, key, made = taken(context, peek(given, _0), KEYS, MOST_KEY, like_key)
        if good:
            node = FULL
            fits, old, old_made = taken(context, peek(given, _1), VALUES, MOST_VALUE, like_value)
            if fits:
                fits, new, new_made = taken(context, peek(given, _2), VALUES, MOST_VALUE, like_value)
                if fits:
                    mem = peek(context, BASE)
                    pin(mem, me)
                    node = insert(mem, peek(context, TRIE), me, key, new, _IF_EQUAL, old)
                    unpin(mem, me)
                    give_up(new_made)
                give_up(old_made)
            give_up(made)
            if node != FULL:
                return _from_bool(np.int64(node != NIL))
    return again(operation, this, given, count, names)


def _contains_w(this: Word, key: Word) -> Word:
    return _contains(this, key, _WORD)


def _contains_b(this: Word, key: Word) -> Word:
    return _contains(this, key, _BLOB)


def _of_key(operation: Callable[..., Any], *like: Any) -> Callable[..., Any]:
    """Return the function of a slot that takes a key."""
    like_key, like_value = like

    def function(this: Word, key: Word) -> Word:
        return operation(this, key, like_key, like_value)

    return function


def _of_two(operation: Callable[..., Any], *like: Any) -> Callable[..., Any]:
    """Return the function of a slot that takes a key and a value."""
    like_key, like_value = like

    def function(this: Word, key: Word, value: Word) -> Word:
        return operation(this, key, value, like_key, like_value)

    return function


def _of_method(operation: Callable[..., Any], *like: Any) -> Callable[..., Any]:
    """Return the function of methods."""
    like_key, like_value = like

    def function(this: Word, given: Word, count: Word, names: Word, which: Word) -> Word:
        return operation(this, given, count, names, which, like_key, like_value)

    return function


def _every(shape: Callable[..., Callable[..., Any]], **operations: Any) -> dict[str, Callable[..., Any]]:
    return {
        f"{name}_{kinds}": shape(operation, *(_LIKE[kind] for kind in kinds))
        for name, operation in operations.items()
        for kinds in ("ww", "wb", "bw", "bb")
    }


_LIKE = {"w": _WORD, "b": _BLOB}

#: The functions by name, which ends with the kinds of keys and values; and by what they take: a key, a key and a value,
#: or the arguments of a method.
OF_KEY = {**_every(_of_key, subscript=_subscript, delete=_delete), "contains_w": _contains_w, "contains_b": _contains_b}
OF_TWO = _every(_of_two, assign=_assign)
OF_METHOD = _every(_of_method, get=_get, take=_take, write=_write, replace=_replace)
