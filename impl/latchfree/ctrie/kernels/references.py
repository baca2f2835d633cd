"""Keys and values as objects of Python, by reference: what the S-nodes of a private map hold, and who lets go when.

Example: ``trie["tea"] = cup`` on a map of objects. The trie's own key is the word ``hash("tea")``. The S-node has four
words: the header, the hash, the address of the string and the address of ``cup``. Another key of the same hash cannot
have an S-node of its own. Then the second address is 0 in place of a key, and the third that of a tuple with all keys
and values of that hash: such a pair is *several*, and Python code looks through the tuple.

What is compared where. The trie compares hashes and addresses, nothing else. So no code of a user runs inside an
operation of the trie. An operation on a map looks up the hash, takes references to key and value, unpins, and only then
asks Python whether the keys are equal. A write then replaces exactly the pair that was asked about (`IF_EQUAL` compares
the two addresses), and starts again where another pair is there by then. The references in hand keep both addresses
from being used again meanwhile.

Who owns a reference:

- An S-node of kind `PAIR` owns one reference to each of its objects from the commit of the GCAS that links the S-node
  until `drop_due`. Copies of C-nodes and L-nodes, tombs and snapshots share S-nodes and own nothing.
- A writer takes the two references before the insert. If the insert commits, they belong to the S-node. If the insert
  writes nothing (another pair is there, the arena is full), the writer gives them back after unpinning.
- A lost GCAS is undone: its S-node goes back to the free list and never owned anything (`undo` drops no reference, for
  the writer uses the same two in its next attempt). An aborted GCAS leaves an S-node that others may have seen: the
  S-node waits in the limbo as an empty node (`retire_empty`), for the same reason.
- A replaced or removed S-node is retired like any node: it waits for the snapshots that see it, on their deadlists, and
  for two epochs. Until then readers may take references out of it. Where the arena would free the node, the arena puts
  it on the list `P_HOLDERS` of the participant: this happens inside operations, where nothing may run.
- `drop_due` takes nodes off that list when the operation has unpinned, `SLICE` at a time: first it gives the node back,
  then it drops the references. Dropping one may run anything, also an operation on the same map; then everything is in
  order already. A finalizer that writes to a map does not let go of more: so finalizers nest no deeper than in a dict.
- Where the old key or value may have a finalizer, an operation calls `hasten` first: two steps of the epoch, which need
  nothing but that nobody is pinned. So objects go as early as from a dict, unless a snapshot shows them.
- A tree that is cleared or destroyed is freed by `latchfree.ctrie.kernels.trees`, which puts its S-nodes on the list.
- A snapshot that goes on as a map of its own owns the S-nodes born in it; the others stay its parent's.

All this is done with the interpreter lock held from the lookup to the last reference taken, and no trie of objects is
ever written without it. Python that has no such lock is refused by `Arena.interpreter_participant`. A forked child has
a copy of the arena and of all objects with their counts, and goes on. While the interpreter ends nothing is let go of,
as of objects in modules that stay.

The garbage collector is told of the pairs of the live tree, see `latchfree.ctrie.kernels.visiting`.

Invariant: the references that the map owns in an object are the S-nodes of kind `PAIR` that are in use or on a list
`P_HOLDERS`, whether reachable, on a deadlist or in limbo, and hold it; no thread is pinned when one is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from latchfree.arena.kernels.epochs import drain, pin, try_advance, unpin
from latchfree.arena.kernels.freelists import free
from latchfree.arena.layout import P_DROPPER, P_HOLDERS
from latchfree.atomics import barrier, peek, poke
from latchfree.border.objects import field, new_tuple, room, set_field
from latchfree.ctrie.kernels.context import (
    BASE,
    FROZEN_ROOT,
    NONE,
    NOT_IMPLEMENTED,
    TRIE,
    constant,
    participant,
    words_in,
)
from latchfree.ctrie.kernels.insert import FULL, IF_ABSENT, IF_EQUAL, insert
from latchfree.ctrie.kernels.lookup import lookup, lookup_frozen
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.snode import HELD_KEY, HELD_VALUE, full_hash, placed
from latchfree.jit import entry, external, kernel
from latchfree.kinds import Handle, Word

#: Nodes whose references an operation drops at most: more than the rarest but one retires.
SLICE = np.uint64(64)

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_IF_ABSENT, _IF_EQUAL = IF_ABSENT, IF_EQUAL

_incref = external("Py_IncRef", "void(uint64)")
_decref = external("Py_DecRef", "void(uint64)")
_thread = external("PyThread_get_thread_ident", "uint64()")
_length = external("PyTuple_Size", "int64(uint64)")
_to_int64 = external("PyLong_AsLongLongAndOverflow", "int64(uint64, uint64)")
_from_bool = external("PyBool_FromLong", "uint64(int64)")


@kernel
def take_pair(key: Word, value: Word) -> None:
    """Take the references of a pair; there is no key where there are several."""
    if key != _0:
        _incref(key)
    _incref(value)


@kernel
def drop_pair(key: Word, value: Word) -> None:
    """Drop the references of a pair. This may run anything."""
    if key != _0:
        _decref(key)
    _decref(value)


@kernel
def hasten(mem: Handle, me: Word) -> None:
    """Have what was retired just now freed at once, if nobody is pinned; the caller is not."""
    try_advance(mem)
    try_advance(mem)
    drain(mem, me, SLICE)


@kernel
def drop_due(mem: Handle, me: Word, most: Word) -> None:
    """Drop the references of up to `most` nodes that nobody reads any more. This may run anything."""
    if peek(mem, me + P_HOLDERS) == _0:
        return
    thread = _thread()
    if peek(mem, me + P_DROPPER) == thread:
        return
    poke(mem, me + P_DROPPER, thread)
    done = _0
    while done < most and peek(mem, me + P_HOLDERS) != _0:
        node = peek(mem, me + P_HOLDERS)
        poke(mem, me + P_HOLDERS, peek(mem, node + _1))
        barrier(mem)
        key, value = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
        free(mem, me, node)
        barrier(mem)
        drop_pair(key, value)
        done += _1
    poke(mem, me + P_DROPPER, _0)


@entry
def drop_all_due(mem: Handle, me: Word) -> None:
    """Drop the references of all nodes that nobody reads any more."""
    drop_due(mem, me, ~_0)


@kernel
def as_tuple(key: Word, value: Word) -> Word:
    """Return a tuple of a pair whose references the caller has, which become the tuple's; the tuple of several."""
    if key == _0:
        return value
    pair = new_tuple(2)
    if pair == _0:
        drop_pair(key, value)
        return _0
    set_field(pair, 0, key)
    set_field(pair, 1, value)
    return pair


# Bodies of builtins. A pair is a tuple of a key and a value, several are a tuple of all of their keys and values.


def _find_o(bound: Word, thing: Word) -> Word:
    """Return what is held under a hash, None if nothing is."""
    context = words_in(bound)
    me = participant(context)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem = peek(context, BASE)
    h = _to_int64(thing, room(1))
    pin(mem, me)
    if peek(context, FROZEN_ROOT) == NIL:
        node = lookup(mem, peek(context, TRIE), me, h)
    else:
        node = lookup_frozen(mem, peek(context, FROZEN_ROOT), placed(mem, peek(context, TRIE), full_hash(h)), NIL, h)
    key, value = _0, _0
    if node != NIL:
        key, value = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
        take_pair(key, value)
    unpin(mem, me)
    return as_tuple(key, value) if node != NIL else constant(context, NONE)


def _held_o(bound: Word, thing: Word) -> Word:
    """Return what the S-node at an offset holds; a snapshot that sees the S-node is registered."""
    mem = peek(words_in(bound), BASE)
    node = np.uint64(_to_int64(thing, room(1)))
    key, value = peek(mem, node + HELD_KEY), peek(mem, node + HELD_VALUE)
    take_pair(key, value)
    return as_tuple(key, value)


@kernel
def _pair_in(thing: Word) -> Any:
    """Return the key, 0 where there are several, and the value that stand for a tuple."""
    if _length(thing) == np.int64(2):
        return field(thing, 0), field(thing, 1)
    return _0, thing


def _swap_o(bound: Word, arguments: Word, count: Word) -> Word:
    """``swap(hash, old, new)``: have `new` in place of `old` under a hash; None for nothing.

    Returns whether `old` was there; NotImplemented if there was no room.
    """
    context = words_in(bound)
    me = participant(context)
    none = peek(context, NONE)
    if me == _0:
        return constant(context, NOT_IMPLEMENTED)
    mem, trie = peek(context, BASE), peek(context, TRIE)
    h = _to_int64(peek(arguments, _0), room(1))
    old, new = peek(arguments, _1), peek(arguments, _2)
    expected = (_0, _0)
    if old != none:
        expected = _pair_in(old)
    if new == none:
        pin(mem, me)
        node = remove(mem, trie, me, h, _IF_EQUAL, (expected,))
        unpin(mem, me)
        done = node != NIL
    else:
        key, value = _pair_in(new)
        take_pair(key, value)
        pin(mem, me)
        node = insert(mem, trie, me, h, ((key, value),), _IF_ABSENT if old == none else _IF_EQUAL, (expected,))
        unpin(mem, me)
        done = (node == NIL) == (old == none)
        if node == FULL or not done:
            drop_pair(key, value)
    if node == FULL:
        return constant(context, NOT_IMPLEMENTED)
    if done and old != none:
        hasten(mem, me)
    drop_due(mem, me, SLICE)
    return _from_bool(np.int64(done))


#: The bodies by name, and by how many arguments the interpreter passes.
ONE_ARGUMENT: dict[str, Callable[..., Any]] = {"find_o": _find_o, "held_o": _held_o}
SEVERAL: dict[str, Callable[..., Any]] = {"swap_o": _swap_o}
