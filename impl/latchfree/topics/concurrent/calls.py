"""Calls from Python, without the interpreter lock, on columns of patterns or topics; one text is a column of one row.

A column is the address of its bytes, and an array of where each row starts. Every call pins itself while it works.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from latchfree.arena.epochs import pin, unpin
from latchfree.arena.shape import NUMBERS, PLAIN
from latchfree.atomics import fetch_add, peek, poke
from latchfree.ctrie.entries import BLOB_KEY_WORDS, KEY_LENGTH, words_for
from latchfree.ctrie.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.insert import FULL
from latchfree.ctrie.nodes import CHILD, HASH_MASK, NIL, ONE, is_child
from latchfree.ctrie.scan import next_slot
from latchfree.ctrie.snapshot import new_trie
from latchfree.jit import entry_point, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.agree import WILD
from latchfree.topics.concurrent.change import subscribe, unsubscribe
from latchfree.topics.concurrent.collect import TOO_SMALL, space_of
from latchfree.topics.concurrent.digits import END, INVALID, MANY, parse
from latchfree.topics.concurrent.digits import ONE as ANY_WORD
from latchfree.topics.concurrent.match import matches
from latchfree.words import mix

#: Elements a bulk call handles before it unpins for an instant; see `latchfree.ctrie.bulk`.
_PINNED = 32

#: Values up to which duplicates are looked for one by one.
_FEW = 16


@kernel
def string(rules: Word, mask: Word, address: Word, length: Word, number: Word, starts: Array, digits: Array) -> Word:
    """Make `digits` the string of a subscription; returns its name."""
    count = parse(address, length, rules, NIL, mask, True, starts.ctypes.data, digits.ctypes.data)
    wild = NIL
    for k in range(count):
        if digits[k] == ANY_WORD or digits[k] == MANY:
            wild = WILD
    name = (number << ONE) | wild
    digits[count] = END
    digits[count + ONE] = mix(name)
    return name


@kernel
def create(mem: Handle, hash_mask: Word, me: Word, number: Word) -> Word:
    """An empty topic trie whose first subscription gets this number, or FULL."""
    trie = new_trie(mem, me, hash_mask)
    if trie != FULL:
        poke(mem, trie + NUMBERS, number)
    return trie


@kernel
def value_of(mem: Handle, s: Word) -> Word:
    """The subscriber in an S-node."""
    return peek(mem, s + BLOB_KEY_WORDS + words_for(peek(mem, s + KEY_LENGTH)))


@kernel
def _put_once(out: Array, start: Word, end: Word, value: Word) -> Word:
    """Append a value to a row of few, unless it is there; returns the row's end."""
    for k in range(start, end):
        if out[k] == value:
            return end
    out[end] = value
    return end + 1


@kernel
def _put_sorted(mem: Handle, found: Word, count: Word, out: Array, start: Word) -> Word:
    """Append the different subscribers of many S-nodes; returns the row's end."""
    end = start + np.int64(count)
    for k in range(count):
        out[start + np.int64(k)] = np.int64(value_of(mem, peek(found, np.uint64(k))))
    row = np.sort(out[start:end])
    end = start
    for value in row:
        if end == start or out[end - 1] != value:
            out[end] = value
            end += 1
    return end


@kernel
def match_rows(
    mem: Handle,
    trie: Word,
    root: Word,
    me: Word,
    rules: Word,
    forbidden: Word,
    values: Word,
    texts: Word,
    places: Array,
    first: Word,
    last: Word,
    offsets: Array,
    out: Array,
    starts: Array,
    digits: Array,
    frames: Array,
    noted: Array,
    found: Array,
    counts: Array,
) -> Word:
    """Match rows `first` to `last` of a column of topics (bytes at `texts`, int64 `places`).

    Subscribers go into `out`, each once a row; row k's from ``offsets[k]`` to ``offsets[k + 1]``. If `values` is 0,
    S-nodes do; then the caller is pinned, and stays so. Returns the first row that was not matched: then ``counts[0]``
    is INVALID for an invalid topic, TOO_SMALL for too short an array.
    """
    mask = peek(mem, trie + HASH_MASK)
    space = space_of(starts, digits, frames, noted, found, counts)
    done = last
    if values != NIL:
        pin(mem, me)
    for k in range(first, last):
        if values != NIL and (k - first) % _PINNED == _PINNED - 1:
            unpin(mem, me)
            pin(mem, me)
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        n = TOO_SMALL
        if length + ONE + ONE <= np.uint64(len(starts)) or length > np.uint64(65535):
            n = parse(address, length, rules, forbidden, mask, False, space.starts, space.digits)
            if n != INVALID:
                n = matches(mem, trie, root, me, rules, address, length, n, space)
        if n in (INVALID, TOO_SMALL) or offsets[k] + np.int64(n) > len(out):
            counts[0] = INVALID if n == INVALID else TOO_SMALL
            done = k
            break
        end = offsets[k]
        if values == NIL:
            for j in range(n):
                out[end] = np.int64(peek(space.found, np.uint64(j)))
                end += 1
        elif n <= _FEW:
            for j in range(n):
                end = _put_once(out, offsets[k], end, np.int64(value_of(mem, peek(space.found, np.uint64(j)))))
        else:
            end = _put_sorted(mem, space.found, n, out, end)
        offsets[k + 1] = end
    if values != NIL:
        unpin(mem, me)
    return done


@kernel
def add_rows(
    mem: Handle,
    trie: Word,
    me: Word,
    rules: Word,
    texts: Word,
    places: Array,
    payloads: Word,
    payload_length: Word,
    step: Word,
    first: Word,
    last: Word,
    numbers: Array,
    starts: Array,
    digits: Array,
    path: Array,
) -> Word:
    """Subscribe rows `first` to `last` of a column of patterns, each with the payload at `payloads` + row * `step`.

    Their numbers go into `numbers`. Returns the first row that was not subscribed, as there was no room.
    """
    mask = peek(mem, trie + HASH_MASK)
    for k in range(first, last):
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        number = fetch_add(mem, trie + NUMBERS, ONE)
        name = string(rules, mask, address, length, number, starts, digits)
        value = (payloads + np.uint64(k) * step, payload_length)
        pin(mem, me)
        done = subscribe(mem, trie, me, rules, digits, path, name, (address, length), value)
        unpin(mem, me)
        if done == FULL:
            return k
        numbers[k] = number
    return last


@kernel
def drop_rows(
    mem: Handle,
    trie: Word,
    me: Word,
    rules: Word,
    texts: Word,
    places: Array,
    numbers: Array,
    first: Word,
    last: Word,
    starts: Array,
    digits: Array,
    path: Array,
) -> Word:
    """Unsubscribe rows `first` to `last` of a column of patterns; what was not subscribed gets number 0.

    Returns the first row for which there was no room.
    """
    mask = peek(mem, trie + HASH_MASK)
    for k in range(first, last):
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        name = string(rules, mask, address, length, numbers[k], starts, digits)
        pin(mem, me)
        s = unsubscribe(mem, trie, me, digits, path, name)
        unpin(mem, me)
        if s == FULL:
            return k
        if s == NIL:
            numbers[k] = NIL
    return last


@kernel
def hold_still(mem: Handle, me: Word) -> None:
    pin(mem, me)


@kernel
def let_go(mem: Handle, me: Word) -> None:
    unpin(mem, me)


@kernel
def scan(mem: Handle, root: Word, me: Word, stack: Array, found: Array) -> Word:
    """Put the S-nodes below a frozen root into `found`; returns their number, or more than fits an array."""
    pin(mem, me)
    stack[0] = root | CHILD
    height = 1
    count = 0
    while height > 0:
        height -= 1
        slot = stack[height]
        if not is_child(slot):
            if count < len(found):
                found[count] = slot
            count += 1
            continue
        m = gcas_read(mem, READ_ONLY, slot & PLAIN)
        at = NIL
        while next_slot(mem, m, at) != NIL:
            if height == len(stack):
                unpin(mem, me)
                return max(len(stack), len(found)) + 1
            stack[height] = next_slot(mem, m, at)
            height += 1
            at += ONE
    unpin(mem, me)
    return count


_W = types.uint64
_I = types.int64
_WORDS = types.uint64[::1]
_INTS = types.int64[::1]

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "create": (create, (_W,) * 4),
    "match_rows": (match_rows, (_W,) * 8 + (_INTS, _I, _I, _INTS, _INTS) + (_WORDS,) * 6),
    "add_rows": (add_rows, (_W,) * 5 + (_INTS, _W, _W, _W, _I, _I, _WORDS) + (_WORDS,) * 3),
    "drop_rows": (drop_rows, (_W,) * 5 + (_INTS, _WORDS, _I, _I) + (_WORDS,) * 3),
    "scan": (scan, (_W,) * 3 + (_WORDS,) * 2),
    "hold_still": (hold_still, (_W, _W)),
    "let_go": (let_go, (_W, _W)),
}


@cache
def call(name: str) -> Callable[..., Any]:
    """The entry point of the kernel of that name in this module."""
    function, arguments = _SIGNATURES[name]
    return entry_point(function, *arguments)
