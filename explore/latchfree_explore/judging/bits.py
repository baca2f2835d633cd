"""Binary relations as bits, in compiled code: row `i` of a relation has the events that event `i` is related to.

With 70 events a row has two words: bit 5 of the second one stands for event 69.
"""

from __future__ import annotations

import numpy as np

from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Word

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_LOW = np.int64(63)
_SHIFT = np.int64(6)


@kernel
def has(row: Array, j: Word) -> Flag:
    """Return whether event `j` is in a row, or in a mask."""
    return (row[j >> _SHIFT] >> np.uint64(j & _LOW)) & _ONE != _ZERO


@kernel
def put_in(row: Array, j: Word) -> None:
    """Put event `j` into a row, or into a mask."""
    row[j >> _SHIFT] |= _ONE << np.uint64(j & _LOW)


@kernel
def clear(into: Array) -> None:
    """Take all pairs out of a relation."""
    for i in range(into.shape[0]):
        for w in range(into.shape[1]):
            into[i, w] = _ZERO


@kernel
def add(into: Array, other: Array) -> None:
    """Put the pairs of another relation into one."""
    for i in range(into.shape[0]):
        for w in range(into.shape[1]):
            into[i, w] |= other[i, w]


@kernel
def add_same(into: Array, mask: Array) -> None:
    """Put each event of a mask into a relation, paired with itself."""
    for i in range(into.shape[0]):
        if has(mask, i):
            put_in(into[i], i)


@kernel
def add_between(into: Array, left: Array, other: Array, right: Array) -> None:
    """Put those pairs of another relation into one that begin in one mask and end in another."""
    for i in range(into.shape[0]):
        if has(left, i):
            for w in range(into.shape[1]):
                into[i, w] |= other[i, w] & right[w]


@kernel
def add_composed(into: Array, first: Array, second: Array) -> None:
    """Put the pairs into a relation that a step of `first` and then one of `second` connect."""
    events = into.shape[0]
    for i in range(events):
        for j in range(events):
            if has(first[i], j):
                for w in range(into.shape[1]):
                    into[i, w] |= second[j, w]


@kernel
def close(relation: Array) -> None:
    """Put the pairs into a relation that several of its steps connect."""
    events = relation.shape[0]
    for k in range(events):
        for i in range(events):
            if has(relation[i], k):
                for w in range(relation.shape[1]):
                    relation[i, w] |= relation[k, w]


@kernel
def is_irreflexive(relation: Array) -> Flag:
    """Return whether no event is related to itself."""
    found = True
    for i in range(relation.shape[0]):
        found = found and not has(relation[i], i)
    return found


@kernel
def is_acyclic(relation: Array) -> Flag:
    """Return whether no steps lead from an event back to the event; the relation is closed on the way."""
    close(relation)
    return is_irreflexive(relation)
