"""One thread of a stress run of a topic trie, compiled: random operations, each recorded between two tickets.

A *pair* is a pattern and a subscriber; pair p has pattern p % 8, subscriber p // 8 and the number p. Only thread
p % threads subscribes it, and only after it has unsubscribed it itself; anybody unsubscribes it. So a pair is there
once at most. What a call returns is a word: a bit a subscriber, or a bit a pair.

Between two rounds, while nobody does anything, the first thread reads what is there. So each round is a history of its
own, with contents that are known at its beginning and its end.
"""

from typing import NamedTuple

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import load, peek, store
from latchfree.ctrie.kernels.gcas import read_root
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import HASH_MASK, NIL
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.snapshot import freeze
from latchfree.ctrie.kernels.snode import KEY
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.kernels.change import subscribe, unsubscribe
from latchfree.topics.concurrent.kernels.collect import MOST, Buffers, space_of
from latchfree.topics.concurrent.kernels.digits import parse
from latchfree.topics.concurrent.kernels.match import matches
from latchfree.topics.concurrent.kernels.strings import string, value_of
from latchfree.topics.concurrent.kernels.whole import scan
from latchfree_evidence.jitter import random_word
from latchfree_evidence.stress.ctrie_worker import give_up
from latchfree_evidence.tickets import ONE, STOP, invoked, returned, wait_for_all

#: In MQTT's dialect; paths that meet at every level, by literals and by wildcards.
PATTERNS = ("a", "a/b", "a/c", "+/b", "a/+", "a/#", "#", "d/b")
TOPICS = ("a", "a/b", "a/c", "d/b")
MOST_PAIRS = 64

# Operations. SETTLED reads the contents while nothing else happens.
SUBSCRIBE, UNSUBSCRIBE, MATCH, SNAPSHOT, SETTLED = range(5)

#: Returned by a snapshot that has changed since it was taken: no contents, for so many pairs there never are.
SPOILT = -1

# Chances in 1000: of a change of a pair of the thread's own, an unsubscription of any pair, a match in a snapshot, and
# a snapshot that is read; a match takes the rest.
_CHANGE = np.uint64(480)
_ANY_UNSUBSCRIBE = np.uint64(560)
_FROZEN_MATCH = np.uint64(590)
_SNAPSHOT = np.uint64(640)

_PATTERNS = np.uint64(len(PATTERNS))
_TOPICS = np.uint64(len(TOPICS))
_8 = np.uint64(8)
_1000 = np.uint64(1000)


@kernel
def _contents(mem: Handle, root: Word, me: Word, stack: Array, found: Array) -> Word:
    """Return the pairs below a root which does not change, a bit each."""
    bits = NIL
    for k in range(scan(mem, root, me, stack, found)):
        bits |= ONE << (peek(mem, found[k] + KEY) >> ONE)
    return np.int64(bits)


class TopicRun(NamedTuple):
    """What all threads of a run have in common.

    Attributes
    ----------
    trie : offset
    shared : address
        Of the words of `latchfree_evidence.tickets`.
    threads, rounds, pairs : int
    rules : word
        The dialect.
    texts : uint64[n, 2]
        Address and length of each pattern, then of each topic.
    payloads : address
        Of 16 bytes a subscriber.
    """

    trie: Word
    shared: Word
    threads: Word
    rounds: Word
    pairs: Word
    rules: Word
    texts: Array
    payloads: Word


@kernel
def _matching(
    mem: Handle, run: TopicRun, frozen: Word, me: Word, address: Word, length: Word, buffers: Buffers
) -> Word:
    """Return a bit a subscriber that a topic matches."""
    trie, rules = run.trie, run.rules
    space = space_of(buffers.starts, buffers.digits, buffers.frames, buffers.noted, buffers.found, buffers.counts)
    count = parse(address, length, rules, NIL, peek(mem, trie + HASH_MASK), False, space.starts, space.digits)
    n = matches(mem, trie, frozen, me, rules, address, length, count, space)
    bits = NIL
    for k in range(n):
        bits |= ONE << value_of(mem, buffers.found[k])
    return np.int64(bits)


@kernel
def work(mem: Handle, run: TopicRun, me: Word, random: Word, process: Word, rows: Array) -> Word:
    """Run equal rounds of operations; all threads meet between rounds, when the first one reads the contents.

    A thread keeps its last snapshot open until it takes another, and then reads it once more: it must not have changed.

    Parameters
    ----------
    mem : handle
        The base address of the arena.
    run : TopicRun
        What all threads of the run have in common.
    me : address
        The thread's participant.
    random : address
        Its random state.
    process : int
        Its number, from 0.
    rows : int64[n, 8]
        Where it records its operations.

    Returns
    -------
    int
        The number of rows written, negative if the arena was full.
    """
    trie, shared, threads, rounds, pairs = run.trie, run.shared, run.threads, run.rounds, run.pairs
    rules, texts, payloads = run.rules, run.texts, run.payloads
    mask = peek(mem, trie + HASH_MASK)
    starts, digits, path = np.zeros(16, np.uint64), np.zeros(16, np.uint64), np.zeros(256, np.uint64)
    frames, noted = np.zeros(3 << 10, np.uint64), np.zeros(2 << 10, np.uint64)
    found, stack = np.zeros(1 << 10, np.uint64), np.zeros(1 << 10, np.uint64)
    buffers = Buffers(starts, digits, frames, noted, found, np.zeros(4, np.uint64))
    buffers.counts[MOST] = MOST_PAIRS
    there = np.zeros(pairs, np.uint8)
    each = (len(rows) - rounds) // rounds
    own = (np.uint64(pairs) + np.uint64(threads) - ONE - np.uint64(process)) // np.uint64(threads)
    held = NIL
    seen = np.int64(0)
    n = 0
    for r in range(rounds):
        wait_for_all(shared, np.uint64((2 * r + 1) * threads))
        for _ in range(each):
            if load(shared, STOP) != NIL:
                return n
            draw = random_word(random) % _1000
            a = random_word(random)
            pair = a % np.uint64(pairs)
            if draw < _CHANGE and own == NIL:
                draw = _CHANGE
            if draw < _CHANGE:
                pair = a % own * np.uint64(threads) + np.uint64(process)
            who = pair // _PATTERNS
            b = np.int64(who)
            text = pair % _PATTERNS
            if draw >= _ANY_UNSUBSCRIBE:
                text = _PATTERNS + a % _TOPICS
                b = np.int64(0)
            address, length = texts[text, 0], texts[text, 1]
            full = False
            result = np.int64(0)
            code = MATCH
            if draw >= _FROZEN_MATCH and draw < _SNAPSHOT and held != NIL:
                if _contents(mem, peek(mem, held + FROZEN), me, stack, found) != seen:
                    result = np.int64(SPOILT)
                give_up(mem, trie, me, held)
                held = NIL
            invoke = invoked(shared)
            pin(mem, me)
            if draw < _ANY_UNSUBSCRIBE:
                name = string(rules, mask, address, length, pair, starts, digits)
                if draw < _CHANGE and there[pair] == 0:
                    code = SUBSCRIBE
                    payload = payloads + who * _8 * np.uint64(2)
                    value = (payload, _8 * np.uint64(2))
                    done = subscribe(mem, trie, me, rules, digits, path, name, (address, length), value)
                    full = done == FULL
                    there[pair] = 1
                else:
                    code = UNSUBSCRIBE
                    s = unsubscribe(mem, trie, me, digits, path, name)
                    full = s == FULL
                    result = np.int64(s != NIL)
                    if draw < _CHANGE:
                        there[pair] = 0
            elif draw >= _SNAPSHOT:
                result = _matching(mem, run, NIL, me, address, length, buffers)
            else:
                slot = freeze(mem, trie, me)
                full = slot == FULL
                if not full and draw < _FROZEN_MATCH:
                    root = peek(mem, slot + FROZEN)
                    result = _matching(mem, run, root, me, address, length, buffers)
                    drop(mem, trie, me, slot)
                elif not full:
                    code = SNAPSHOT
                    held = slot
                    seen = _contents(mem, peek(mem, slot + FROZEN), me, stack, found)
                    result |= seen
            unpin(mem, me)
            finish = returned(shared, invoke)
            if full:
                store(shared, STOP, ONE)
                return -n - 1
            row = rows[n]
            row[0], row[1], row[2], row[3], row[5] = process, code, np.int64(text), b, result
            row[6], row[7] = np.int64(invoke), np.int64(finish)
            n += 1
        wait_for_all(shared, np.uint64((2 * r + 2) * threads))
        if process == 0 and load(shared, STOP) == NIL:
            row = rows[n]
            invoke = invoked(shared)
            row[1] = SETTLED
            row[5] = _contents(mem, read_root(mem, trie), me, stack, found)
            row[6], row[7] = np.int64(invoke), np.int64(returned(shared, invoke))
            n += 1
    if held != NIL:
        give_up(mem, trie, me, held)
    return n
