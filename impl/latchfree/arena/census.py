"""Where every word of an arena is. Exact while nothing runs; an estimate otherwise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latchfree.arena.blocks import COUNT, ENTRIES, LINK, words_of
from latchfree.arena.freelists import CLASSES, class_size, round_up
from latchfree.arena.layout import (
    FIRST_NODE,
    H_BUMP,
    H_CLAIMED,
    P_BUMP,
    P_FREE,
    P_LIMIT,
    P_OLDEST,
    P_SPARES,
    P_TREES,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
    SHARED_LISTS,
)
from latchfree.arena.shape import TREE, size_of
from latchfree.atomics import load, peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_OFFSET = np.uint64((1 << 40) - 1)

_FREE, _TAILS, _LIMBO, _SPARE, _TREES = range(5)


class Census(NamedTuple):
    """Words of an arena by use.

    Attributes
    ----------
    given : int
        Words taken from the arena so far; the sum of all others.
    nodes : int
        In nodes that something links to (and in what a crash has leaked).
    limbo : int
        In retired nodes that wait for their grace, and in the blocks that list them.
    spare : int
        In empty blocks kept at hand.
    free : int
        On free lists.
    tails : int
        In unused ends of chunks.
    trees : int
        Retired trees not counted yet: their words are among `nodes`.
    """

    given: int
    nodes: int
    limbo: int
    spare: int
    free: int
    tails: int
    trees: int


@kernel
def _list_length(mem: Handle, node: Word) -> Word:
    length = _0
    while node != _0:
        length += _1
        node = peek(mem, node & _OFFSET)
    return length


@kernel
def _count_shared(mem: Handle, totals: Array) -> None:
    for kind in range(CLASSES):
        batch = load(mem, SHARED_LISTS + np.uint64(kind)) & _OFFSET
        while batch != _0:
            totals[_FREE] += _list_length(mem, batch) * class_size(np.uint64(kind))
            batch = peek(mem, batch + _1) & _OFFSET


@kernel
def _count_limbo(mem: Handle, block: Word, totals: Array) -> None:
    while block != _0:
        totals[_LIMBO] += round_up(size_of(mem, block))
        for k in range(peek(mem, block + COUNT)):
            entry = peek(mem, block + ENTRIES + np.uint64(k))
            if entry & TREE != _0:
                totals[_TREES] += _1
            else:
                totals[_LIMBO] += round_up(words_of(entry))
        block = peek(mem, block + LINK)


@kernel
def _count(mem: Handle, totals: Array) -> Word:
    _count_shared(mem, totals)
    for p in range(load(mem, H_CLAIMED)):
        me = _FIRST + np.uint64(p) * _STRIDE
        if peek(mem, me + P_BUMP) < peek(mem, me + P_LIMIT):
            totals[_TAILS] += peek(mem, me + P_LIMIT) - peek(mem, me + P_BUMP)
        for kind in range(CLASSES):
            head = peek(mem, me + P_FREE + np.uint64(kind))
            totals[_FREE] += _list_length(mem, head) * class_size(np.uint64(kind))
        _count_limbo(mem, peek(mem, me + P_OLDEST), totals)
        block = peek(mem, me + P_SPARES)
        while block != _0:
            totals[_SPARE] += size_of(mem, block)
            block = peek(mem, block + LINK)
        totals[_TREES] += _list_length(mem, peek(mem, me + P_TREES))
    return load(mem, H_BUMP)


def census(base: int) -> Census:
    """Count the words of the arena at address `base`."""
    totals = np.zeros(5, np.uint64)
    given = int(_count(np.uint64(base), totals)) - FIRST_NODE
    free, tails, limbo, spare, trees = totals.tolist()
    return Census(given, given - free - tails - limbo - spare, limbo, spare, free, tails, trees)
