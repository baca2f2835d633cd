"""The frozen trie of the patterns that fit no mask: arrays instead of nodes, words compared byte by byte.

Example: the edge ``b`` below ``a`` has the node of ``a`` in its key. So it is not taken for the edge ``b`` below ``c``,
whatever the hashes are: an edge is found if its node and the bytes of its word are the same.

A list holds the nodes that some path reaches after n words of a topic. Each node has one edge above it, so paths part
and do not meet. Where a wildcard for many words stands inside a pattern, two paths may meet at a node; a stamp keeps
the node from being listed twice. So the time is at most nodes * words, and a list with room for all nodes is long
enough. Where the list is too short, the arrays are no trie, and the walk ends.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from latchfree.atomics import read_byte
from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.topics.mask.kernels.texts import fold, parse, same_bytes

_0, _1, _32 = map(np.uint64, (0, 1, 32))
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Trie(NamedTuple):
    """The trie as arrays; node 0 is no node, node 1 is the root.

    Parameters
    ----------
    keys : array of uint64
        Edges of literal words: the node above, and behind it half a hash of node and word; 0 is no edge.
    child, size : array of uint32
        The node below each edge, and the length of its word in bytes.
    word : array of uint64
        The place of each edge's word, from the start of the records.
    one, many, name : array of uint32
        Of each node: the nodes behind wildcards, and the record of the pattern that ends there.
    loops : array of uint8
        Whether a node stands for many words.
    inner : array of int64
        One element: whether a wildcard for many words stands inside a pattern.
    """

    keys: Array
    child: Array
    word: Array
    size: Array
    one: Array
    many: Array
    name: Array
    loops: Array
    inner: Array


class Words(NamedTuple):
    """The words of a topic.

    Attributes
    ----------
    hashes, starts, ends : array of uint64
        Of each word: its hash, and where in the topic it starts and ends.
    """

    hashes: Array
    starts: Array
    ends: Array


class Paths(NamedTuple):
    """The nodes that some path reaches.

    Attributes
    ----------
    now, then : array of int64
        After this word and after the next; each has room for all nodes.
    stamps : array of int64
        Of each node: the tick at which a path last reached it. Empty where no two paths can meet.
    """

    now: Array
    then: Array
    stamps: Array


@kernel
def edge_of(trie: Trie, records: Word, node: Any, h: Word, text: Word, size: Any) -> Any:
    """Return the place of the edge of a word, or the free place for the edge, and the edge's key."""
    capacity = np.uint64(len(trie.keys))
    mixed = fold(h + np.uint64(node) * _GOLDEN)
    key = (np.uint64(node) << _32) | (mixed >> _32)
    place = mixed % capacity
    while trie.keys[place] != _0:
        if trie.keys[place] == key and trie.size[place] == size and same_bytes(records + trie.word[place], text, size):
            break
        place += _1
        if place == capacity:
            place = _0
    return place, key


@kernel
def grow(
    trie: Trie, records: Word, limit: Word, texts: Array, lengths: Array, names: Array, classes: Word,
    separators: Word, one: Word, many: Word, room: Any,
) -> Any:  # fmt: skip
    """Enter patterns (at `texts` in the records, which end at `limit`) and return the number of nodes."""
    scratch = np.empty((3, room), np.uint64)
    hashes, starts, ends = scratch[0], scratch[1], scratch[2]
    nodes = 2
    for i in range(len(texts)):
        text = records + np.uint64(texts[i])
        words, _ = parse(
            text, np.uint64(lengths[i]), limit, classes, separators, np.uint64(room), hashes.ctypes.data,
            starts.ctypes.data, ends.ctypes.data,
        )  # fmt: skip
        node = np.int64(1)
        for j in range(words):
            at = text + starts[j]
            size = np.int64(ends[j] - starts[j])
            byte = read_byte(at) if size == 1 else _0
            if size == 1 and byte == one:
                if trie.one[node] == 0:
                    trie.one[node] = nodes
                    nodes += 1
                node = np.int64(trie.one[node])
            elif size == 1 and byte == many:
                if trie.many[node] == 0:
                    trie.many[node] = nodes
                    trie.loops[nodes] = 1
                    nodes += 1
                node = np.int64(trie.many[node])
                if j < words - 1:
                    trie.inner[0] = 1
            else:
                place, key = edge_of(trie, records, node, hashes[j], at, size)
                if trie.keys[place] == _0:
                    trie.keys[place] = key
                    trie.child[place] = nodes
                    trie.word[place] = at - records
                    trie.size[place] = size
                    nodes += 1
                node = np.int64(trie.child[place])
        trie.name[node] = names[i]
    return nodes


@kernel
def walk(
    trie: Trie, records: Word, topic: Word, count: Any, words: Words, least: Any, hidden: Any, paths: Paths, tick: Any
) -> tuple[Any, Any]:
    """Find the nodes where a topic of `count` words ends.

    `tick` was never used as a stamp. Returns how many nodes ``paths.now`` holds in the end, -1 if it has no room for
    them, and the next such tick.
    """
    hashes, starts, ends = words.hashes, words.starts, words.ends
    now, then, stamps = paths.now, paths.then, paths.stamps
    meet = len(stamps) > 0
    held = 1
    now[0] = 1
    if meet:
        stamps[1] = tick
    for n in range(count + 1):
        shut = hidden and n == 0
        if least == 0 and not shut:
            i = 0
            while i < held:
                wild = np.int64(trie.many[now[i]])
                if wild != 0 and not (meet and stamps[wild] == tick):
                    if held == len(now):
                        return -1, tick
                    now[held] = wild
                    held += 1
                    if meet:
                        stamps[wild] = tick
                i += 1
        if n == count:
            break
        tick += 1
        more = 0
        size = np.int64(ends[n] - starts[n])
        for i in range(held):
            node = now[i]
            place, _ = edge_of(trie, records, node, hashes[n], topic + starts[n], size)
            literal = np.int64(trie.child[place]) if trie.keys[place] != _0 else np.int64(0)
            one = np.int64(0) if shut else np.int64(trie.one[node])
            many = np.int64(0) if shut or least == 0 else np.int64(trie.many[node])
            for reached in (literal, one, many, node if trie.loops[node] else np.int64(0)):
                if reached != 0 and not (meet and stamps[reached] == tick):
                    if more == len(then):
                        return -1, tick
                    then[more] = reached
                    more += 1
                    if meet:
                        stamps[reached] = tick
        for i in range(more):
            now[i] = then[i]
        held = more
        if held == 0:
            break
    return held, tick + 1
