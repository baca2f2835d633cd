"""Binary relations between events, as bit masks.

A relation is a tuple of integers, one for each event: bit `j` of entry `i` says that event `i` is related to event
`j`. With events 0, 1, 2, the relation ``(0b010, 0b100, 0)`` leads from 0 to 1 and from 1 to 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import Final, TypeAlias

Relation: TypeAlias = tuple[int, ...]

#: Rows that are composed at a time where there are many pairs, and the unions of some of them.
_BITS: Final = 8
_UNIONS: Final = 1 << _BITS


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
    size = len(second)
    if sum(row.bit_count() for row in first) > size * (_UNIONS // _BITS + size // _BITS):
        return _compose_many(first, second)
    return tuple(reduce(or_, (second[j] for j in members(row)), 0) for row in first)


def _compose_many(first: Relation, second: Relation) -> Relation:
    """Compose where rows of `first` have many events: eight rows of `second` at a time, by the union of each choice."""
    length = len(second) // _BITS + 1
    choices = [row.to_bytes(length, "little") for row in first]
    found = [0] * len(first)
    for block in range(length):
        rows = second[_BITS * block : _BITS * (block + 1)]
        unions = [0]
        for row in rows:
            unions += [each | row for each in unions]
        found = [row | unions[choice[block]] for row, choice in zip(found, choices, strict=True)]
    return tuple(found)


def closure(relation: Relation) -> Relation:
    """Return the pairs that one step or more connect."""
    rows = list(relation)
    order = _backwards(relation)
    if order is None:
        for k in range(len(rows)):
            bit, reached = 1 << k, rows[k]
            for i, row in enumerate(rows):
                if row & bit:
                    rows[i] = row | reached
        return tuple(rows)
    for i in order:
        left = rows[i]
        while left:  # of each event that is passed over, the pairs are there
            low = left & -left
            reached = rows[low.bit_length() - 1]
            rows[i] |= reached
            left &= ~(reached | low)
    return tuple(rows)


def _backwards(relation: Relation) -> list[int] | None:
    """Return the events, each behind all those that it leads to; None if some steps lead back to where they began."""
    order: list[int] = []
    new, on_path = (1 << len(relation)) - 1, 0
    while new:
        path = [new.bit_length() - 1]
        while path:
            at = path[-1]
            bit, row = 1 << at, relation[at]
            new &= ~bit
            on_path |= bit
            if row & on_path:
                return None
            if following := row & new:
                path.append(following.bit_length() - 1)
            else:
                on_path ^= bit
                order.append(path.pop())
    return order


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
    return _backwards(relation) is not None
