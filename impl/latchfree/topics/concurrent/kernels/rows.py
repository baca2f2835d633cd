"""Subscribe, unsubscribe and match columns of texts, without the interpreter lock; one text is a column of one row.

A column is the address of its bytes, and an array of the places where rows start, with the end of the last row. Every
call pins the thread while it works, and unpins now and then so that others may reclaim memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import fetch_add, peek
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import HASH_MASK, NIL, ONE
from latchfree.ctrie.kernels.shape import NUMBERS
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sorting import sort
from latchfree.topics.concurrent.kernels.change import subscribe, unsubscribe
from latchfree.topics.concurrent.kernels.collect import TOO_SMALL, Buffers, space_of
from latchfree.topics.concurrent.kernels.copies import copy_nodes
from latchfree.topics.concurrent.kernels.digits import INVALID, Grammar, longest, parse
from latchfree.topics.concurrent.kernels.match import matches
from latchfree.topics.concurrent.kernels.strings import string, value_of

#: Elements a bulk call handles before it unpins for an instant; see `latchfree.ctrie.kernels.loops`.
_PINNED = 32

#: Values up to which duplicates are looked for one by one.
_FEW = 16


class Descent(NamedTuple):
    """The arrays that a change works in, which the caller owns.

    Attributes
    ----------
    starts, digits : array of uint64
        The words of a pattern, see `latchfree.topics.concurrent.kernels.digits.parse`.
    path : array of uint64
        The I-nodes from the root to where the pattern has its place.
    """

    starts: Array
    digits: Array
    path: Array


@kernel
def _put_once(out: Array, start: Word, end: Word, value: Word) -> Word:
    """Append a value to a short row unless the row has the value; return the row's end."""
    for k in range(start, end):
        if out[k] == value:
            return end
    out[end] = value
    return end + 1


@kernel
def _put_sorted(mem: Handle, found: Word, count: Word, out: Array, start: Word) -> Word:
    """Append the subscribers of many S-nodes, each once; return the row's end."""
    end = start + np.int64(count)
    for k in range(count):
        out[start + np.int64(k)] = np.int64(value_of(mem, peek(found, np.uint64(k))))
    sort(out, start, end)
    stop, end = end, start
    for k in range(start, stop):
        value = out[k]
        if end == start or out[end - 1] != value:
            out[end] = value
            end += 1
    return end


@kernel
def match_rows(
    mem: Handle, trie: Word, root: Word, me: Word, grammar: Grammar, values: Word, texts: Word, places: Array,
    first: Word, offsets: Array, out: Array, buffers: Buffers,
) -> Word:  # fmt: skip
    """Match the rows of a column of topics (bytes at `texts`, int64 `places`) from row `first` on.

    Return the first row that was not matched; then ``counts[0]`` is INVALID for an invalid topic, TOO_SMALL for too
    short an array. Without `values`, ``counts[0]`` is else the end of the copies in `out`.

    Parameters
    ----------
    mem, trie, me : int
        Base address of the arena, root word of the trie, and participant.
    root : int
        The root of a frozen tree, or NIL for the trie as it is now.
    grammar : Grammar
        How topics are split into words.
    values : int
        1 to find subscribers, each once a row; 0 to find S-nodes, of which copies follow the last row, see
        `copy_nodes`. Then `first` must be 0.
    texts, places : int, array of int64
        Address of the bytes of the topics, and where each topic begins and ends.
    first : int
        The first row to match.
    offsets, out : array of int64
        Row k's subscribers or S-nodes go to ``out[offsets[k]]`` up to ``out[offsets[k + 1]]``.
    buffers : Buffers
        Working memory, among it ``counts``.
    """
    mask = peek(mem, trie + HASH_MASK)
    rules, counts = grammar.rules, buffers.counts
    space = space_of(buffers.starts, buffers.digits, buffers.frames, buffers.noted, buffers.found, counts)
    last: Word = np.int64(len(places) - 1)
    done = last
    pin(mem, me)
    for k in range(first, last):
        if values != NIL and (k - first) % _PINNED == _PINNED - 1:
            unpin(mem, me)
            pin(mem, me)
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        n = TOO_SMALL
        if length + ONE + ONE <= np.uint64(len(buffers.starts)) or length > longest(rules):
            n = parse(address, length, rules, grammar.forbidden, mask, False, space.starts, space.digits)
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
    if values == NIL and done == last:
        end = copy_nodes(mem, out, offsets[last])
        counts[0] = np.uint64(end)
        if end < 0:
            counts[0] = TOO_SMALL
            done = first
    unpin(mem, me)
    return done


@kernel
def add_rows(
    mem: Handle, trie: Word, me: Word, rules: Word, texts: Word, places: Array, payloads: Word, payload_length: Word,
    step: Word, first: Word, numbers: Array, descent: Descent,
) -> Word:  # fmt: skip
    """Subscribe the rows of a column of patterns from row `first` on; return the first row without room.

    Row k gets the payload at `payloads` + k * `step`; its number goes into ``numbers[k]``.
    """
    mask = peek(mem, trie + HASH_MASK)
    last: Word = np.int64(len(places) - 1)
    for k in range(first, last):
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        number = fetch_add(mem, trie + NUMBERS, ONE)
        name = string(rules, mask, address, length, number, descent.starts, descent.digits)
        value = (payloads + np.uint64(k) * step, payload_length)
        pin(mem, me)
        done = subscribe(mem, trie, me, rules, descent.digits, descent.path, name, (address, length), value)
        unpin(mem, me)
        if done == FULL:
            return k
        numbers[k] = number
    return last


@kernel
def drop_rows(
    mem: Handle, trie: Word, me: Word, rules: Word, texts: Word, places: Array, numbers: Array, words: Array,
    first: Word, descent: Descent,
) -> Word:  # fmt: skip
    """Unsubscribe the rows of a column of patterns from row `first` on; return the first row without room.

    ``words[k]`` gets the word for the subscriber of row k. A row that was not subscribed gets number 0.
    """
    mask = peek(mem, trie + HASH_MASK)
    last: Word = np.int64(len(places) - 1)
    for k in range(first, last):
        address = texts + np.uint64(places[k])
        length = np.uint64(places[k + 1] - places[k])
        name = string(rules, mask, address, length, numbers[k], descent.starts, descent.digits)
        pin(mem, me)
        s = unsubscribe(mem, trie, me, descent.digits, descent.path, name)
        if s not in (FULL, NIL):
            words[k] = np.int64(value_of(mem, s))
        unpin(mem, me)
        if s == FULL:
            return k
        if s == NIL:
            numbers[k] = NIL
    return last
