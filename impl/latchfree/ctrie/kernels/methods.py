"""The bodies of builtin methods: compiled calls for one key, and on the whole trie, as the interpreter makes them.

Numba's own entry points unpack and convert every argument through the general C API; that is half the cost of a
get. Here the compiled function *is* the C function of a builtin object (see `latchfree.ctrie.binding`): it receives
the Python objects themselves, reads integers and bytes, and returns a new object. It runs under the interpreter lock
from beginning to end, and is pinned from before its first read to after its last: the value is copied out of the
arena while it cannot go away.

``bound`` is a bytes object whose first word is the address of the call's *context*: words that say where the call
works. Keys and values are integers (*words*) or bytes (*blobs*), as encoded by a codec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.ctrie.kernels.entries import VALUE, full_hash, is_blob, placed, stored_key_words
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, insert
from latchfree.ctrie.kernels.lookup import lookup, lookup_frozen
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import drop
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.snapshot import clear, freeze
from latchfree.jit import external, kernel, overload
from latchfree.kinds import Word

DATA = np.uint64((bytes.__basicsize__ - 1) // 8)  # words from a bytes object to its data, in CPython
_LENGTH = np.uint64(2)
_TYPE = np.uint64(1)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_8 = np.uint64(8)

# Words of a context, see `latchfree.ctrie.binding.new_context`.
BASE = np.uint64(0)
TRIE = np.uint64(1)
ME = np.uint64(2)  # address of the word that holds the participant: a forked child has another one
ROOT = np.uint64(3)
_OVERFLOW = np.uint64(4)
_INT = np.uint64(5)
_NONE = np.uint64(6)
_NOT_IMPLEMENTED = np.uint64(7)

# Stand for the kinds of keys and values at compile time.
_WORD = np.int64(0)
_BLOB = (_0, _0)

_to_int64 = external("PyLong_AsLongLongAndOverflow", "int64(uint64, uint64)")
_from_int64 = external("PyLong_FromLongLong", "uint64(int64)")
_from_bytes = external("PyBytes_FromStringAndSize", "uint64(uint64, int64)")
_incref = external("Py_IncRef", "void(uint64)")


@kernel
def participant(context: Word) -> Word:
    """Return the participant of the interpreter lock; 0 in a forked child that has not claimed one yet."""
    return peek(peek(context, ME), _0)


@kernel
def _constant(context: Word, which: Word) -> Word:
    """Return a new reference to None or NotImplemented."""
    answer = peek(context, which)
    _incref(answer)
    return answer


def decoded(context: Word, thing: Word, like: Any) -> Any:
    """Return the integer, or address and length of the bytes, in a Python object; `like` says which."""
    raise NotImplementedError  # compiled: see the overload below


@overload(decoded)
def _decoded(context: Any, thing: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(context: Any, thing: Any, like: Any) -> Any:
            return (thing + _8 * DATA, peek(thing, _LENGTH))

        return blob

    def word(context: Any, thing: Any, like: Any) -> Any:
        return _to_int64(thing, context + _8 * _OVERFLOW)

    return word


def value_object(mem: Word, node: Word, key: Any, like: Any) -> Word:
    """Return a new Python object of the value in an S-node that holds a key like `key`."""
    raise NotImplementedError  # compiled: see the overload below


@overload(value_object)
def _value_object(mem: Any, node: Any, key: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(mem: Any, node: Any, key: Any, like: Any) -> Any:
            at = node + stored_key_words(mem, node, key)
            return _from_bytes(mem + _8 * at, np.int64(peek(mem, node + VALUE)))

        return blob

    def word(mem: Any, node: Any, key: Any, like: Any) -> Any:
        return _from_int64(np.int64(peek(mem, node + VALUE)))

    return word


@kernel
def _answer(context: Word, node: Word, key: Any, like: Any) -> Word:
    """Return the object that a call answers with, for the S-node that an operation has returned."""
    if node == NIL:
        return _constant(context, _NONE)
    if node == FULL:
        return _constant(context, _NOT_IMPLEMENTED)
    return value_object(peek(context, BASE), node, key, like)


@kernel
def _find(bound: Word, thing: Word, like_key: Any, like_value: Any) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me == _0:
        return _constant(context, _NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, thing, like_key)
    pin(mem, me)
    if peek(context, ROOT) == NIL:
        node = lookup(mem, peek(context, TRIE), me, key)
    else:
        h = placed(mem, peek(context, TRIE), full_hash(key))
        node = lookup_frozen(mem, peek(context, ROOT), h, NIL, key)
    answer = _answer(context, node, key, like_value)
    unpin(mem, me)
    return answer


@kernel
def _insert(bound: Word, arguments: Word, like_key: Any, like_value: Any) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me == _0:
        return _constant(context, _NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, peek(arguments, _0), like_key)
    value = decoded(context, peek(arguments, _1), like_value)
    mode = np.uint64(_to_int64(peek(arguments, _2), context + _8 * _OVERFLOW))
    expected = decoded(context, peek(arguments, _3), like_value)
    pin(mem, me)
    node = insert(mem, peek(context, TRIE), me, key, value, mode, expected)
    answer = _answer(context, node, key, like_value)
    unpin(mem, me)
    return answer


@kernel
def _remove(bound: Word, arguments: Word, like_key: Any, like_value: Any) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me == _0:
        return _constant(context, _NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, peek(arguments, _0), like_key)
    mode = np.uint64(_to_int64(peek(arguments, _1), context + _8 * _OVERFLOW))
    expected = decoded(context, peek(arguments, _2), like_value)
    pin(mem, me)
    node = remove(mem, peek(context, TRIE), me, key, mode, expected)
    answer = _answer(context, node, key, like_value)
    unpin(mem, me)
    return answer


def _find_ww(bound: Word, thing: Word) -> Word:
    return _find(bound, thing, _WORD, _WORD)


def _find_wb(bound: Word, thing: Word) -> Word:
    return _find(bound, thing, _WORD, _BLOB)


def _find_bw(bound: Word, thing: Word) -> Word:
    return _find(bound, thing, _BLOB, _WORD)


def _find_bb(bound: Word, thing: Word) -> Word:
    return _find(bound, thing, _BLOB, _BLOB)


def _insert_ww(bound: Word, arguments: Word, count: Word) -> Word:
    return _insert(bound, arguments, _WORD, _WORD)


def _insert_wb(bound: Word, arguments: Word, count: Word) -> Word:
    return _insert(bound, arguments, _WORD, _BLOB)


def _insert_bw(bound: Word, arguments: Word, count: Word) -> Word:
    return _insert(bound, arguments, _BLOB, _WORD)


def _insert_bb(bound: Word, arguments: Word, count: Word) -> Word:
    return _insert(bound, arguments, _BLOB, _BLOB)


def _remove_ww(bound: Word, arguments: Word, count: Word) -> Word:
    return _remove(bound, arguments, _WORD, _WORD)


def _remove_wb(bound: Word, arguments: Word, count: Word) -> Word:
    return _remove(bound, arguments, _WORD, _BLOB)


def _remove_bw(bound: Word, arguments: Word, count: Word) -> Word:
    return _remove(bound, arguments, _BLOB, _WORD)


def _remove_bb(bound: Word, arguments: Word, count: Word) -> Word:
    return _remove(bound, arguments, _BLOB, _BLOB)


# The hottest: integers to integers, straight from the caller's arguments, without a codec.


def _get(bound: Word, thing: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me != _0 and peek(thing, _TYPE) == peek(context, _INT):
        key = _to_int64(thing, context + _8 * _OVERFLOW)
        if peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF) == _0:
            mem = peek(context, BASE)
            pin(mem, me)
            node = lookup(mem, peek(context, TRIE), me, key)
            value = np.int64(peek(mem, node + VALUE))
            unpin(mem, me)
            return _from_int64(value) if node != NIL else _constant(context, _NONE)
    return _constant(context, _NOT_IMPLEMENTED)


def _pop(bound: Word, thing: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me != _0 and peek(thing, _TYPE) == peek(context, _INT):
        key = _to_int64(thing, context + _8 * _OVERFLOW)
        if peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF) == _0:
            mem = peek(context, BASE)
            pin(mem, me)
            node = remove(mem, peek(context, TRIE), me, key, ALWAYS, 0)
            answer = _answer(context, node, key, _WORD)
            unpin(mem, me)
            return answer
    return _constant(context, _NOT_IMPLEMENTED)


def _put(bound: Word, arguments: Word, count: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    first = peek(arguments, _0)
    second = peek(arguments, _1)
    which = _NOT_IMPLEMENTED
    if (
        me != _0
        and count == 2
        and peek(first, _TYPE) == peek(context, _INT)
        and peek(second, _TYPE) == peek(context, _INT)
    ):
        key = _to_int64(first, context + _8 * _OVERFLOW)
        bad = peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF)
        value = _to_int64(second, context + _8 * _OVERFLOW)
        bad |= peek(context, _OVERFLOW) & np.uint64(0xFFFFFFFF)
        if bad == _0:
            mem = peek(context, BASE)
            pin(mem, me)
            if insert(mem, peek(context, TRIE), me, key, value, ALWAYS, value) != FULL:
                which = _NONE
            unpin(mem, me)
    return _constant(context, which)


# On the whole trie; what they do is in `latchfree.ctrie.kernels.snapshot` and `registry`.


def _freeze_now(bound: Word, unused: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    if me == _0:
        return _constant(context, _NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    pin(mem, me)
    slot = freeze(mem, peek(context, TRIE), me)
    unpin(mem, me)
    return _constant(context, _NOT_IMPLEMENTED) if slot == FULL else _from_int64(np.int64(slot))


def _clear(bound: Word, unused: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    which = _NOT_IMPLEMENTED
    if me != _0:
        mem = peek(context, BASE)
        pin(mem, me)
        if clear(mem, peek(context, TRIE), me) != FULL:
            which = _NONE
        unpin(mem, me)
    return _constant(context, which)


def _drop_slot(bound: Word, thing: Word) -> Word:
    context = peek(bound, DATA)
    me = participant(context)
    which = _NOT_IMPLEMENTED
    if me != _0:
        mem = peek(context, BASE)
        pin(mem, me)
        drop(mem, peek(context, TRIE), me, np.uint64(_to_int64(thing, context + _8 * _OVERFLOW)))
        unpin(mem, me)
        which = _NONE
    return _constant(context, which)


#: The bodies by name, and by how many arguments the interpreter passes.
NO_ARGUMENT: dict[str, Callable[..., Any]] = {"freeze_now": _freeze_now, "clear": _clear}
ONE_ARGUMENT: dict[str, Callable[..., Any]] = {
    "get": _get,
    "pop": _pop,
    "drop_slot": _drop_slot,
    "find_ww": _find_ww,
    "find_wb": _find_wb,
    "find_bw": _find_bw,
    "find_bb": _find_bb,
}
SEVERAL: dict[str, Callable[..., Any]] = {
    "put": _put,
    "insert_ww": _insert_ww,
    "insert_wb": _insert_wb,
    "insert_bw": _insert_bw,
    "insert_bb": _insert_bb,
    "remove_ww": _remove_ww,
    "remove_wb": _remove_wb,
    "remove_bw": _remove_bw,
    "remove_bb": _remove_bb,
}
