"""Compaction: of a sorted list every other item goes on, at twice the weight; a coin says which.

Example: level 1 has the items 3, 5, 8, 9, each of which stands for two. It is full. Heads: 3 and 8 go to level 2, where
each stands for four. Between 3 and 5 there are now two items too many, elsewhere as many as before.

Invariant: the weights of all items together are what was added; an odd item stays behind.

The room of a level: the highest has `room`, each one below has two thirds of it, none less than 8 (and level 0 `room`
again, since new items are sorted when it is full). A level that has more is compacted.

Source: Z. Karnin, K. Lang, E. Liberty, "Optimal quantile approximation in streams" (2016).
"""

import numpy as np

from latchfree.atomics import peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.sketches.kernels.lanes import (
    COINS,
    COPY_HEAD,
    GREATEST,
    LEVELS,
    MOST_LEVELS,
    SIZES,
    UNDER,
    USED,
)
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_FEW = np.uint64(8)
_STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def room_at(depth: Word, room: Word) -> Word:
    """Return the room of a level that is so many levels below the highest."""
    for _ in range(depth):
        if room <= _FEW:
            return room
        room = max((_2 * room + _2) // _3, _FEW)
    return room


@kernel
def insert(mem: Handle, at: Word, count: Word) -> None:
    """Sort a few words by insertion."""
    for j in range(1, count):
        item, k = peek(mem, at + np.uint64(j)), np.uint64(j)
        while k != _0 and peek(mem, at + k - _1) > item:
            poke(mem, at + k, peek(mem, at + k - _1))
            k -= _1
        poke(mem, at + k, item)


@kernel
def merge(mem: Handle, first: Word, count: Word, second: Word, more: Word, target: Word) -> None:
    """Merge two sorted lists of words into a third place."""
    end, last = first + count, second + more
    while first != end and second != last:
        one, other = peek(mem, first), peek(mem, second)
        takes = _1 if one <= other else _0
        poke(mem, target, one if takes != _0 else other)
        first += takes
        second += _1 - takes
        target += _1
    while first != end:
        poke(mem, target, peek(mem, first))
        first += _1
        target += _1
    while second != last:
        poke(mem, target, peek(mem, second))
        second += _1
        target += _1


@kernel
def sort(mem: Handle, at: Word, count: Word, spare: Word) -> Word:
    """Sort words, with as many words beside; return the offset of the one place or the other where they are then."""
    done = _0
    while done < count:
        insert(mem, at + done, min(_FEW, count - done))
        done += _FEW
    run = _FEW
    while run < count:
        done = _0
        while done < count:
            first = min(run, count - done)
            merge(mem, at + done, first, at + done + first, min(run, count - done - first), spare + done)
            done += _2 * run
        at, spare = spare, at
        run *= _2
    return at


@kernel
def halve(mem: Handle, source: Word, count: Word, coin: Word, target: Word) -> Word:
    """Copy every other one of an even number of words; return how many these are."""
    half = count >> _1
    for k in range(half):
        poke(mem, target + np.uint64(k), peek(mem, source + _2 * np.uint64(k) + coin))
    return half


@kernel
def coin_of(seed: Word, coins: Word) -> Word:
    """Return 0 or 1, for each number of a coin."""
    return mix(seed + coins * _STEP) >> np.uint64(63)


@kernel
def rebuild(
    mem: Handle, old: Word, new: Word, room: Word, seed: Word, level: Word, given: Word, count: Word, work: Word
) -> None:
    """Write into the copy `new` what the copy `old` has above level 0, and a sorted list of more items of a level.

    `work` is a place for two lists of three times `room` words.
    """
    # The old copy is this thread's own, which holds the lane; so its words are read without an order.
    # The next coin is the caller's; the levels toss those that follow.
    highest, coins, carry = peek(mem, old + LEVELS), peek(mem, old + COINS) + _1, _0
    source, target, h = old + COPY_HEAD + room, new + COPY_HEAD + room, _1
    one, other = work, work + _3 * room
    while h <= highest or h <= level or carry != _0:
        size = peek(mem, old + SIZES + h) if h <= highest else _0
        merge(mem, source, size, one, carry, other)
        source += size
        size += carry
        one, other = other, one
        if h == level:
            merge(mem, one, size, given, count, other)
            size += count
            one, other = other, one
        carry, left = _0, size
        if size > room_at(highest - h if h < highest else _0, room) and h + _1 < MOST_LEVELS:
            left = size & _1
        for k in range(left):
            # spec: Lanes!Rebuild -- release, as all stores here: nobody reads the copy before it is published.
            store(mem, target + np.uint64(k), peek(mem, one + np.uint64(k)))
        if left != size:
            coins += _1
            carry = halve(mem, one + left, size - left, coin_of(seed, coins), other)
            one, other = other, one
        # spec: Lanes!Rebuild
        store(mem, new + SIZES + h, left)
        target += left
        h += _1
    # spec: Lanes!Rebuild
    store(mem, new + LEVELS, h - _1)
    # spec: Lanes!Rebuild
    store(mem, new + COINS, coins)
    # spec: Lanes!Rebuild
    store(mem, new + USED, target - new - COPY_HEAD - room)


@kernel
def widen(mem: Handle, old: Word, new: Word, least: Word, greatest: Word) -> None:
    """Write into the copy `new` the bounds of the copy `old`, and of more items."""
    # spec: Lanes!Rebuild
    store(mem, new + UNDER, max(peek(mem, old + UNDER), ~least))
    # spec: Lanes!Rebuild
    store(mem, new + GREATEST, max(peek(mem, old + GREATEST), greatest))
