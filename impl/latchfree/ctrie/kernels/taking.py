"""Take and give back a snapshot with the Python objects that go with it, in one compiled call each.

Example: ``trie.readonly_snapshot()`` asks the map's store for a view. `_view_now` makes a `Hold` and a `Snapshot`,
freezes the trie, or takes the idle snapshot, and fills both in. When the last reference to the hold goes, the
interpreter calls `_end_hold`, which gives the snapshot back. No line of Python runs in either.

Invariant: a signal handler, a finalizer and another thread see all of it, or nothing. What the garbage collector knows
is made first, for it may run then, and with it any code. From the look at the store's context on, which is after that,
nothing of Python runs.

Only objects of a private arena are made here, and those can be ended here: nobody closes such an arena, the memory is a
forked child's own, and a store is there, with the owner of its trie, as long as a hold is that refers to it. So a hold
need not ask whether its trie is gone. The exception is a cycle that the garbage collector takes apart, and there all
finalizers run before anything is cleared.

What a call does not do itself it answers with NotImplemented: the arena is full, other processes share it, or the
process has no participant. The Python code of `latchfree.ctrie.store` does it then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import load_seq, peek, poke
from latchfree.border.objects import room
from latchfree.ctrie.kernels.context import (
    BASE,
    CONTEXT,
    END,
    HOLD,
    LENGTH,
    MAP_WORDS,
    NOT_IMPLEMENTED,
    OWNER,
    SNAPSHOT,
    TRIE,
    TYPE,
    constant,
    participant,
    words_in,
)
from latchfree.ctrie.kernels.idle import give, unpark
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import HASH_MASK, NIL
from latchfree.ctrie.kernels.registry import drop
from latchfree.ctrie.kernels.shape import REGISTERED
from latchfree.ctrie.kernels.snapshot import destroy, fork_frozen, freeze, take
from latchfree.jit import external, instruction, kernel
from latchfree.kinds import Flag, Word

# Words of objects, see `latchfree.ctrie.bases`. The context comes first, but in a snapshot.
HOLD_STORE = CONTEXT + np.uint64(1)
HOLD_SLOT = CONTEXT + np.uint64(2)
OWNER_PARENT = CONTEXT + np.uint64(1)
OWNER_TRIE = CONTEXT + np.uint64(3)
SNAPSHOT_STORE = CONTEXT
SNAPSHOT_HOLD = CONTEXT + np.uint64(1)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_8 = np.uint64(8)
_16 = np.uint64(16)
_INT = np.uint64(0xFFFFFFFF)  # of what a C function returns as an int

_call_2 = instruction("latchfree.llvm", "call_2")
_new_object = external("PyType_GenericAlloc", "uint64(uint64, int64)")
_from_bytes = external("PyBytes_FromStringAndSize", "uint64(uint64, int64)")
_untrack = external("PyObject_GC_UnTrack", "void(uint64)")
_incref = external("Py_IncRef", "void(uint64)")
_decref = external("Py_DecRef", "void(uint64)")
_vectorcall = external("PyObject_Vectorcall", "uint64(uint64, uint64, uint64, uint64)")
_put_error_aside = external("PyErr_Fetch", "void(uint64, uint64, uint64)")
_put_error_back = external("PyErr_Restore", "void(uint64, uint64, uint64)")
_report_error = external("PyErr_WriteUnraisable", "void(uint64)")
_bad = external("PyErr_BadInternalCall", "void()")


@kernel
def _shared(thing: Word) -> Word:
    """Return a new reference to an object."""
    _incref(thing)
    return thing


@kernel
def _both(first: Word, second: Word) -> Flag:
    """Return whether two new objects are there; if one is not, let go of the other."""
    if first != _0 and second != _0:
        return True
    if first != _0:
        _decref(first)
    if second != _0:
        _decref(second)
    return False


@kernel
def _none_made(context: Word, first: Word, second: Word) -> Word:
    """Let go of two objects that are not filled in, and say that nothing was done."""
    _decref(first)
    _decref(second)
    return constant(context, NOT_IMPLEMENTED)


@kernel
def _is_ready(store: Word) -> Flag:
    """Return whether a store has the context of a map, which names the classes; set an error if not."""
    holder = peek(store, CONTEXT)
    if holder == _0 or peek(holder, LENGTH) < MAP_WORDS * _8:
        _bad()
        return False
    return True


@kernel
def _word_of(store: Word, which: Word) -> Word:
    """Return a word of the context that a store has now."""
    return peek(words_in(peek(store, CONTEXT)), which)


@kernel
def _frozen(context: Word) -> Word:
    """Take a snapshot; return its slot, or FULL."""
    me = participant(context)
    if me == _0:
        return FULL
    mem = peek(context, BASE)
    pin(mem, me)
    slot = take(mem, peek(context, TRIE), me)
    unpin(mem, me)
    return slot


@kernel
def _fill_hold(hold: Word, store: Word, slot: Word) -> None:
    poke(hold, CONTEXT, _shared(peek(store, CONTEXT)))
    poke(hold, HOLD_STORE, _shared(store))
    poke(hold, HOLD_SLOT, slot)


def _view_now(this: Word, unused: Word) -> Word:
    """Return a new `Snapshot` of a store's trie."""
    if not _is_ready(this):
        return _0
    if _word_of(this, SNAPSHOT) == _0:
        return constant(words_in(peek(this, CONTEXT)), NOT_IMPLEMENTED)
    snapshot = _new_object(_word_of(this, SNAPSHOT), 0)
    hold = _new_object(_word_of(this, HOLD), 0)
    if not _both(hold, snapshot):
        return _0
    context = words_in(peek(this, CONTEXT))
    slot = _frozen(context)
    if slot == FULL:
        return _none_made(context, hold, snapshot)
    _fill_hold(hold, this, slot)
    poke(snapshot, SNAPSHOT_STORE, _shared(this))
    poke(snapshot, SNAPSHOT_HOLD, hold)
    return snapshot


@kernel
def _forked(context: Word) -> tuple[Word, Word]:
    """Return the slot of a new snapshot, and a new trie that goes on from it; the trie is FULL if there is none."""
    me = participant(context)
    if me == _0:
        return NIL, FULL
    mem, trie = peek(context, BASE), peek(context, TRIE)
    fork = FULL
    pin(mem, me)
    slot = freeze(mem, trie, me)
    if slot != FULL:
        fork = fork_frozen(mem, me, slot, peek(mem, trie + HASH_MASK))
        if fork == FULL:
            drop(mem, trie, me, slot)
    unpin(mem, me)
    return slot, fork


def _fork_now(this: Word, unused: Word) -> Word:
    """Return the `Owner` of a new trie that goes on from a snapshot of a store's trie taken now.

    Its context is that of the store, but for the trie.
    """
    if not _is_ready(this):
        return _0
    if _word_of(this, OWNER) == _0:
        return constant(words_in(peek(this, CONTEXT)), NOT_IMPLEMENTED)
    owner = _new_object(_word_of(this, OWNER), 0)
    hold = _new_object(_word_of(this, HOLD), 0)
    if not _both(owner, hold):
        return _0
    _untrack(owner)  # see `latchfree.ctrie.holds`
    holder = peek(this, CONTEXT)
    context = words_in(holder)
    copy = _from_bytes(context, np.int64(peek(holder, LENGTH)))
    if copy == _0:
        _decref(owner)
        _decref(hold)
        return _0
    slot, trie = _forked(context)
    if trie == FULL:
        _decref(copy)
        return _none_made(context, owner, hold)
    _fill_hold(hold, this, slot)
    poke(words_in(copy), TRIE, trie)
    poke(owner, CONTEXT, copy)
    poke(owner, OWNER_PARENT, hold)
    poke(owner, OWNER_TRIE, trie)
    return owner


# the ends ---------------------------------------------------------------------------------------------------------


def _end_hold(this: Word) -> Word:
    """Give back the snapshot of a hold, unless that was done."""
    slot, holder = peek(this, HOLD_SLOT), peek(this, CONTEXT)
    if slot == _0 or holder == _0:
        return _0
    context = words_in(holder)
    me = participant(context)
    if me == _0:
        return _0
    poke(this, HOLD_SLOT, _0)
    mem = peek(context, BASE)
    pin(mem, me)
    give(mem, peek(context, TRIE), me, slot)
    unpin(mem, me)
    return _0


@kernel
def _end_in_python(function: Word, this: Word) -> None:
    """Call the Python function that ends an object; an exception that is on its way stays as it is."""
    error, given = room(3), room(1)
    _put_error_aside(error, error + _8, error + _16)
    poke(given, _0, this)
    answer = _vectorcall(function, given, _1, _0)
    if answer == _0:
        _report_error(function)
    else:
        _decref(answer)
    _put_error_back(peek(error, _0), peek(error, _1), peek(error, _2))


def _end_owner(this: Word) -> Word:
    """Destroy the trie of an owner, unless that was done.

    The Python function does it where a snapshot of the trie is registered still. All holds have ended by now; so a
    signal handler has raised after such a snapshot was taken, and before a hold of it was made.
    """
    trie, holder = peek(this, OWNER_TRIE), peek(this, CONTEXT)
    if trie == _0 or holder == _0:
        return _0
    context = words_in(holder)
    me = participant(context)
    mem = peek(context, BASE)
    if me != _0:
        pin(mem, me)
        unpark(mem, trie, me)
        unpin(mem, me)
    # spec: none -- a trie that nobody uses any more.
    if me == _0 or load_seq(mem, trie + REGISTERED) != NIL:
        _end_in_python(peek(context, END), this)
        return _0
    poke(this, OWNER_TRIE, _0)
    pin(mem, me)
    destroy(mem, trie, me, peek(peek(this, OWNER_PARENT), HOLD_SLOT))
    unpin(mem, me)
    return _0


# what the garbage collector sees ------------------------------------------------------------------------------------


@kernel
def _show(this: Word, first: Word, count: Word, visit: Word, argument: Word) -> Word:
    """Show the class of an object, as of any type made at run time, and some of its words that are objects."""
    answer = _call_2(visit, peek(this, TYPE), argument) & _INT
    for at in range(count):
        thing = peek(this, first + np.uint64(at))
        if answer == _0 and thing != _0:
            answer = _call_2(visit, thing, argument) & _INT
    return answer


def _show_store(this: Word, visit: Word, argument: Word) -> Word:
    return _show(this, CONTEXT, _0, visit, argument)


def _show_hold(this: Word, visit: Word, argument: Word) -> Word:
    return _show(this, HOLD_STORE, _1, visit, argument)


def _show_owner(this: Word, visit: Word, argument: Word) -> Word:
    return _show(this, OWNER_PARENT, _2, visit, argument)


def _show_snapshot(this: Word, visit: Word, argument: Word) -> Word:
    return _show(this, SNAPSHOT_STORE, _2, visit, argument)


#: The methods of stores, the finalizers, and what the garbage collector calls, by name.
METHODS: dict[str, Callable[..., Any]] = {"view_now": _view_now, "fork_now": _fork_now}
FINALIZERS: dict[str, Callable[..., Any]] = {"end_hold": _end_hold, "end_owner": _end_owner}
SHOWN: dict[str, Callable[..., Any]] = {
    "show_store": _show_store,
    "show_hold": _show_hold,
    "show_owner": _show_owner,
    "show_snapshot": _show_snapshot,
}
