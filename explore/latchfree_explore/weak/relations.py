"""Binary relations between events, as bit masks.

A relation is a tuple of integers, one for each event: bit `j` of entry `i` says that event `i` is related to event
`j`. With events 0, 1, 2, the relation ``(0b010, 0b100, 0)`` leads from 0 to 1 and from 1 to 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TypeAlias

Relation: TypeAlias = tuple[int, ...]


def members(mask: int) -> Iterator[int]:
    """Yield the events of a mask, the lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def union(*relations: Relation) -> Relation:
    """Return the pairs that are in one relation or another."""
    return tuple(reduce(or_, row) for row in zip(*relations, strict=True))


def compose(first: Relation, second: Relation) -> Relation:
    """Return the pairs that a step of `first` and then a step of `second` connect."""
    return tuple(reduce(or_, (second[j] for j in members(row)), 0) for row in first)


def closure(relation: Relation) -> Relation:
    """Return the pairs that one step or more connect."""
    rows = list(relation)
    for k in range(len(rows)):
        bit, reached = 1 << k, rows[k]
        for i, row in enumerate(rows):
            if row & bit:
                rows[i] = row | reached
    return tuple(rows)


def inverse(relation: Relation) -> Relation:
    """Return the pairs the other way round."""
    rows = [0] * len(relation)
    for i, row in enumerate(relation):
        for j in members(row):
            rows[j] |= 1 << i
    return tuple(rows)


def identity(mask: int, size: int) -> Relation:
    """Relate each event of a mask to itself, as ``[A]`` does in the papers."""
    return tuple(mask & 1 << i for i in range(size))


def between(left: int, relation: Relation, right: int) -> Relation:
    """Return the pairs that begin in one mask and end in another: ``[A];r;[B]``."""
    return tuple(row & right if left >> i & 1 else 0 for i, row in enumerate(relation))


def reflexive(relation: Relation) -> Relation:
    """Add to a relation every event paired with itself: ``r?``."""
    return tuple(row | 1 << i for i, row in enumerate(relation))


def irreflexive(relation: Relation) -> bool:
    """Return whether no event is related to itself."""
    return not any(row >> i & 1 for i, row in enumerate(relation))


def acyclic(relation: Relation) -> bool:
    """Return whether no step or several lead from an event back to the event."""
    left = (1 << len(relation)) - 1
    while left:
        leading = sum(1 << i for i in members(left) if relation[i] & left)
        if leading == left:
            return False
        left = leading
    return True
