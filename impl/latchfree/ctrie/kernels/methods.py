"""The bodies of builtin methods: compiled calls for one key, and on the whole trie, as the interpreter makes them.

Numba's own entry points unpack and convert every argument through the general C API; that is half the cost of a
get. Here the compiled function *is* the C function of a builtin object (see `latchfree.ctrie.binding`): it receives
the Python objects themselves, reads integers and bytes, and returns a new object. It runs under the interpreter lock
from beginning to end, and is pinned from before its first read to after its last: the value is copied out of the
arena while it cannot go away.

``bound`` is the call's *context*, see `latchfree.ctrie.kernels.context`. Keys and values are integers (*words*) or
bytes (*blobs*), as encoded by a codec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.border.objects import room
from latchfree.ctrie.kernels.context import (
    BASE,
    FROZEN_ROOT,
    LENGTH,
    NONE,
    NOT_IMPLEMENTED,
    TRIE,
    constant,
    participant,
    words_in,
)
from latchfree.ctrie.kernels.idle import give
from latchfree.ctrie.kernels.insert import FULL, insert
from latchfree.ctrie.kernels.lookup import lookup, lookup_frozen
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import drop
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.snapshot import clear, take
from latchfree.ctrie.kernels.snode import VALUE, full_hash, is_blob, placed, stored_key_words
from latchfree.jit import external, kernel, overload
from latchfree.kinds import Flag, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_8 = np.uint64(8)

# Stand for the kinds of keys and values at compile time.
_WORD = np.int64(0)
_BLOB = (_0, _0)

_to_int64 = external("PyLong_AsLongLongAndOverflow", "int64(uint64, uint64)")
_from_int64 = external("PyLong_FromLongLong", "uint64(int64)")
_from_bytes = external("PyBytes_FromStringAndSize", "uint64(uint64, int64)")


def decoded(context: Word, thing: Word, like: Any) -> Any:
    """Return the integer, or address and length of the bytes, in a Python object; `like` says which."""
    raise NotImplementedError  # compiled: see the overload below


@overload(decoded)
def _decoded(context: Any, thing: Any, like: Any) -> Any:
    if is_blob(like):

        def blob(context: Any, thing: Any, like: Any) -> Any:
            return (words_in(thing), peek(thing, LENGTH))

        return blob

    def word(context: Any, thing: Any, like: Any) -> Any:
        return _to_int64(thing, room(1))

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
        return constant(context, NONE)
    if node == FULL:
        return constant(context, NOT_IMPLEMENTED)
    return value_object(peek(context, BASE), node, key, like)


@kernel
def _find(bound: Word, thing: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, thing, like_key)
    pin(mem, me)
    if peek(context, FROZEN_ROOT) == NIL:
        node = lookup(mem, peek(context, TRIE), me, key)
    else:
        h = placed(mem, peek(context, TRIE), full_hash(key))
        node = lookup_frozen(mem, peek(context, FROZEN_ROOT), h, NIL, key)
    answer = _answer(context, node, key, like_value)
    unpin(mem, me)
    return answer


@kernel
def _insert(bound: Word, arguments: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, peek(arguments, _0), like_key)
    value = decoded(context, peek(arguments, _1), like_value)
    mode = np.uint64(_to_int64(peek(arguments, _2), room(1)))
    expected = decoded(context, peek(arguments, _3), like_value)
    pin(mem, me)
    node = insert(mem, peek(context, TRIE), me, key, value, mode, expected)
    answer = _answer(context, node, key, like_value)
    unpin(mem, me)
    return answer


@kernel
def _remove(bound: Word, arguments: Word, like_key: Any, like_value: Any) -> Word:
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    key = decoded(context, peek(arguments, _0), like_key)
    mode = np.uint64(_to_int64(peek(arguments, _1), room(1)))
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


# On the whole trie; what they do is in `latchfree.ctrie.kernels.snapshot` and `registry`.


def _take_now(bound: Word, unused: Word) -> Word:
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    pin(mem, me)
    slot = take(mem, peek(context, TRIE), me)
    unpin(mem, me)
    return constant(context, NOT_IMPLEMENTED) if slot == FULL else _from_int64(np.int64(slot))


def _clear(bound: Word, unused: Word) -> Word:
    context = words_in(bound)
    me = participant(context)
    which = NOT_IMPLEMENTED
    if me != _0:
        mem = peek(context, BASE)
        pin(mem, me)
        if clear(mem, peek(context, TRIE), me) != FULL:
            which = NONE
        unpin(mem, me)
    return constant(context, which)


@kernel
def _end_slot(bound: Word, thing: Word, parks: Flag) -> Word:
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem, slot = peek(context, BASE), np.uint64(_to_int64(thing, room(1)))
    pin(mem, me)
    if parks:
        give(mem, peek(context, TRIE), me, slot)
    else:
        drop(mem, peek(context, TRIE), me, slot)
    unpin(mem, me)
    return constant(context, NONE)


def _drop_slot(bound: Word, thing: Word) -> Word:
    return _end_slot(bound, thing, False)


def _give_slot(bound: Word, thing: Word) -> Word:
    return _end_slot(bound, thing, True)


#: The bodies by name, and by how many arguments the interpreter passes.
NO_ARGUMENT: dict[str, Callable[..., Any]] = {"take_now": _take_now, "clear": _clear}
ONE_ARGUMENT: dict[str, Callable[..., Any]] = {
    "drop_slot": _drop_slot,
    "give_slot": _give_slot,
    "find_ww": _find_ww,
    "find_wb": _find_wb,
    "find_bw": _find_bw,
    "find_bb": _find_bb,
}
SEVERAL: dict[str, Callable[..., Any]] = {
    "insert_ww": _insert_ww,
    "insert_wb": _insert_wb,
    "insert_bw": _insert_bw,
    "insert_bb": _insert_bb,
    "remove_ww": _remove_ww,
    "remove_wb": _remove_wb,
    "remove_bw": _remove_bw,
    "remove_bb": _remove_bb,
}
