"""Matching topics in bulk: one probe for each group that takes a topic, in blocks, so that the memory keeps up.

A block of topics goes through four stages. First, hash each topic for each group and fetch its bit of the filter.
Second, drop the keys that the filter excludes, and fetch places of the table. Third, find entries with the right half
of the key, and fetch their records. Fourth, compare bytes and copy the subscribers. The next stage finds in the cache
the memory that a stage fetched. Between stages the keys of the whole block are one list, in the order of the topics, so
that few branches depend on a single topic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from latchfree.atomics import peek, prefetch_read, read_byte
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Word
from latchfree.topics.mask.kernels.found import emit, fits, squeeze
from latchfree.topics.mask.kernels.group_keys import DEPTH, MASK, NOWHERE, SIZE, group_of, hash_groups, row_of
from latchfree.topics.mask.kernels.shapes import MOST_GROUPS, MOST_WORDS
from latchfree.topics.mask.kernels.table import bit_of, is_set, place_of
from latchfree.topics.mask.kernels.texts import at_position, parse
from latchfree.topics.mask.kernels.trie import Paths, Trie, Words, walk

BLOCK = 64
"""Topics in a block."""
NO_TRIE = -1
"""In place of the next topic: paths of the trie meet where none can, so it is none."""

_0, _1, _2, _3, _5, _32 = map(np.uint64, (0, 1, 2, 3, 5, 32))
_LOW = np.uint64(0xFFFFFFFF)
_DOLLAR = np.uint64(ord("$"))
_WORDS = np.uint64(MOST_WORDS)
_OVER = np.uint64(MOST_WORDS + 1)


class Tables(NamedTuple):
    """The tables of a mask index: numbers, and addresses of arrays that the index keeps alive.

    Parameters
    ----------
    groups, exact_at, open_to : address
        See `latchfree.topics.mask.groups`.
    filter, bits, entries, capacity : address, int, address, int
        See `latchfree.topics.mask.kernels.table`.
    records, width : address, int
        See `latchfree.topics.mask.kernels.records`; the bytes of a subscriber.
    classes, separators : address, word
        See `latchfree.topics.mask.kernels.texts`.
    least, hides, most_words
        See `Dialect`.
    distinct : bool
        Whether no subscriber has two subscriptions.
    """

    groups: Word
    exact_at: Word
    open_to: Word
    filter: Word
    bits: Word
    entries: Word
    capacity: Word
    records: Word
    width: Any
    classes: Word
    separators: Word
    least: Any
    hides: Flag
    most_words: Any
    distinct: Flag


@kernel
def screen(tables: Tables, keys: Array, numbers: Array, count: Word) -> Word:
    """Keep the keys that the filter does not exclude, and return how many they are.

    A branch would be as good as random here and in `probe`. So every key is written, and the next key overwrites a key
    that is not kept.
    """
    kept = _0
    for i in range(count):
        key = keys[i]
        keys[kept] = key
        numbers[kept] = numbers[i]
        kept += is_set(tables.filter, bit_of(key, tables.bits))
    return kept


@kernel
def probe(tables: Tables, keys: Array, numbers: Array, places: Array, count: Word) -> Word:
    """Keep the keys that some entry may have, as its high half, with the place of the entry."""
    entries, capacity = tables.entries, tables.capacity
    for i in range(count):
        places[i] = place_of(keys[i], capacity)
        prefetch_read(entries, places[i])
    kept = _0
    for i in range(count):
        half = keys[i] << _32
        place = places[i]
        entry = peek(entries, place)
        while entry != _0 and entry & ~_LOW != half:
            place = place + _1 if place + _1 < capacity else _0
            entry = peek(entries, place)
        keys[kept] = half
        numbers[kept] = numbers[i]
        places[kept] = place
        record = tables.records + (((entry & _LOW) - _1) << _2)
        prefetch_read(record, _0)
        prefetch_read(record, _5)  # most records end on the next line of the cache
        kept += np.uint64(entry != _0)
    return kept


@kernel
def search(
    tables: Tables, trie: Trie, texts: Word, offsets: Array, first: Any, room: Any, names_only: Flag, rows: Array,
    out: Array, suspicious: Array,
) -> Any:  # fmt: skip
    """Match topics from `first` on, until `out` is full; return the topic to go on with, or NO_TRIE.

    ``out[rows[t]:rows[t + 1]]`` gets the subscribers of topic t, or the names of records. ``suspicious[t - first]``
    gets whether topic t may break a rule. `room` is the most words that a topic has.
    """
    total = len(offsets) - 1
    limit = texts + np.uint64(offsets[total])
    entries, capacity, records, width = tables.entries, tables.capacity, tables.records, tables.width
    hash_array = np.zeros(NOWHERE + 1, np.uint64)
    prefix = np.zeros(MOST_WORDS + 1, np.uint64)
    starts = np.empty(BLOCK * MOST_WORDS, np.uint64)
    ends = np.empty(BLOCK * MOST_WORDS, np.uint64)
    words_at = np.zeros(BLOCK + 1, np.uint64)
    keys = np.empty(BLOCK * MOST_GROUPS + 1, np.uint64)
    numbers = np.empty(BLOCK * MOST_GROUPS + 1, np.uint64)
    places = np.empty(BLOCK * MOST_GROUPS + 1, np.uint64)
    hashes_at, prefix_at = hash_array.ctypes.data, prefix.ctypes.data
    starts_at, ends_at = starts.ctypes.data, ends.ctypes.data
    keys_at, numbers_at = keys.ctypes.data, numbers.ctypes.data
    exact_end = peek(tables.exact_at, _OVER)

    nodes = len(trie.one)
    has_trie = nodes > 2 or trie.name[1] != 0
    scratch = np.empty((3, room if has_trie else 0), np.uint64)
    all_words = Words(scratch[0], scratch[1], scratch[2])
    paths = Paths(
        np.empty(nodes if has_trie else 0, np.int64),
        np.empty(nodes if has_trie else 0, np.int64),
        np.zeros(nodes if has_trie and trie.inner[0] else 0, np.int64),
    )
    tick = np.int64(1)

    k = rows[first]
    for low in range(first, total, BLOCK):
        high = min(low + BLOCK, total)
        count = _0
        for r in range(high - low):
            at = offsets[low + r]
            length = np.uint64(offsets[low + r + 1] - at)
            topic = texts + np.uint64(at)
            row = words_at[r] << _3
            words, suspects = parse(
                topic, length, limit, tables.classes, tables.separators, _WORDS, hashes_at, starts_at + row,
                ends_at + row,
            )  # fmt: skip
            suspicious[low + r - first] = suspects != 0 or words == 0 or words > tables.most_words
            words_at[r + 1] = words_at[r] + np.uint64(min(words, MOST_WORDS))
            literals = _0
            for j in range(min(words, MOST_WORDS)):
                h = at_position(hash_array[j], np.uint64(j))
                hash_array[j] = h
                literals ^= h
                prefix[j + 1] = literals
            shut = tables.hides and length > _0 and read_byte(topic) == _DOLLAR
            bound = min(np.uint64(words), _OVER)
            count = hash_groups(
                tables.groups, peek(tables.exact_at, bound), peek(tables.exact_at, bound + _1), shut, hashes_at,
                prefix_at, tables.filter, tables.bits, np.uint64(r), keys_at, numbers_at, count,
            )  # fmt: skip
            count = hash_groups(
                tables.groups, exact_end, peek(tables.open_to, bound), shut, hashes_at, prefix_at, tables.filter,
                tables.bits, np.uint64(r), keys_at, numbers_at, count,
            )  # fmt: skip
        count = screen(tables, keys, numbers, count)
        count = probe(tables, keys, numbers, places, count)
        head = _0
        for r in range(high - low):
            begin = k
            at = offsets[low + r]
            length = np.uint64(offsets[low + r + 1] - at)
            topic = texts + np.uint64(at)
            row = words_at[r] << _3
            while head < count and row_of(numbers[head]) == np.uint64(r):
                place = places[head]
                group = group_of(numbers[head])
                entry = peek(entries, place)
                while entry != _0:
                    if entry & ~_LOW == keys[head] and fits(
                        records + (((entry & _LOW) - _1) << _2), width, group,
                        peek(tables.groups, group * SIZE + MASK), peek(tables.groups, group * SIZE + DEPTH),
                        group >= exact_end, topic, length, starts_at + row, ends_at + row,
                    ):  # fmt: skip
                        k = emit(records, width, entry & _LOW, names_only, out, k)
                        break
                    place = place + _1 if place + _1 < capacity else _0
                    entry = peek(entries, place)
                if k < 0:
                    return low + r
                head += _1
            if has_trie:
                words, _ = parse(
                    topic, length, limit, tables.classes, tables.separators, np.uint64(room),
                    all_words.hashes.ctypes.data, all_words.starts.ctypes.data, all_words.ends.ctypes.data,
                )  # fmt: skip
                shut = tables.hides and length > _0 and read_byte(topic) == _DOLLAR
                reached, tick = walk(trie, records, topic, words, all_words, tables.least, shut, paths, tick)
                if reached < 0:
                    return np.int64(NO_TRIE)
                for i in range(reached):
                    name = trie.name[paths.now[i]]
                    if name != 0:
                        k = emit(records, width, np.uint64(name), names_only, out, k)
                        if k < 0:
                            return low + r
            if not tables.distinct and not names_only and k - begin > 1:
                k = squeeze(out, begin, k)
            rows[low + r + 1] = k
    # Numba frees an array after the last line that names the array, even if its address is in use.
    starts[0] = ends[0] = _0
    return total
