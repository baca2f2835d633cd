"""The concurrent topic trie as a target: subscribe, unsubscribe, match and snapshot, pinned from first to last access.

`match_frozen` takes a snapshot and matches twice in it, unpinned in between: the answers must be those of one instant.

Patterns and topics have numbers (`PATTERNS`, `TOPICS`, in MQTT's dialect), subscribers are 0 to 7. A subscription's
number is made of both, so a scenario subscribes a pair at most once. The contents of a snapshot are a word
with a bit for each subscription. The texts lie in an unused part of the arena's header.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import replace
from types import MappingProxyType
from typing import Final

import numpy as np
from numba.np.numpy_support import carray

from latchfree.arena import Arena
from latchfree.arena.kernels.allocator import ORDINARY
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.arena.kernels.participants import claim
from latchfree.arena.layout import P_SINK, PARTICIPANT_WORDS, PARTICIPANTS, SINK_WORDS
from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import CHILD, HASH_MASK, NIL, ONE, is_child
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.scan import next_slot
from latchfree.ctrie.kernels.shape import P_WALK
from latchfree.ctrie.kernels.snapshot import freeze, new_trie
from latchfree.ctrie.kernels.snode import KEY
from latchfree.ctrie.kernels.trees import begin
from latchfree.errors import ArenaFull
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.kernels.change import subscribe, unsubscribe
from latchfree.topics.concurrent.kernels.collect import MOST, TOO_SMALL, space_of
from latchfree.topics.concurrent.kernels.digits import parse
from latchfree.topics.concurrent.kernels.match import matches
from latchfree.topics.concurrent.kernels.strings import string, value_of
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.dialects import MQTT
from latchfree_evidence.targets.ctrie import as_pointer
from latchfree_explore.machine.access import base_of
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_explore.target import Memory, Operation, Target
from latchfree_model.models.base import Call
from latchfree_model.models.topic_index import Subscriptions, TopicIndexModel

PATTERNS: Final = ("a", "a/b", "a/c", "+/b", "a/+", "a/#", "#", "d/b")
TOPICS: Final = ("a", "a/b", "a/c", "d/b")
SUBSCRIBERS: Final = 8

_CAPACITY: Final = 64 << 20
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_8 = np.uint64(8)
_RULES = np.uint64(rules_of(MQTT))

#: Where the texts are: words 1280 to 2047 of an arena are not in use. Each has its length and three words of bytes.
_TEXTS = np.uint64(1280)
_TEXT_WORDS = np.uint64(4)
_FIRST_TOPIC = np.uint64(len(PATTERNS))
_PAYLOADS = np.uint64(1400)

OUT_OF_MEMORY: Final = -2
CHANGED: Final = -3


@kernel
def _participant(thread: Word) -> Word:
    return _FIRST + np.uint64(thread) * _STRIDE


@kernel
def _text(mem: Handle, number: Word) -> tuple[Word, Word]:
    """Return address and length of a text."""
    at = _TEXTS + np.uint64(number) * _TEXT_WORDS
    return base_of(mem) + _8 * (at + ONE), peek(mem, at)


@kernel
def _scratch(mem: Handle, me: Word) -> Array:
    """Return private words of a participant that nobody reads: those of traversals, and of attempts that failed."""
    return carray(as_pointer(base_of(mem) + _8 * (me + P_WALK)), P_SINK - P_WALK + SINK_WORDS)


@kernel
def subscribe_to(mem: Handle, trie: Word, thread: Word, pattern: Word, subscriber: Word) -> Word:
    """Subscribe a pair of pattern and subscriber."""
    me = _participant(thread)
    pad = _scratch(mem, me)
    starts, digits, path = pad[:8], pad[8:16], pad[16:80]
    address, length = _text(mem, pattern)
    number = np.uint64(pattern) * np.uint64(SUBSCRIBERS) + np.uint64(subscriber)
    name = string(_RULES, peek(mem, trie + HASH_MASK), address, length, number, starts, digits)
    payload = base_of(mem) + _8 * (_PAYLOADS + np.uint64(subscriber))
    pin(mem, me)
    done = subscribe(mem, trie, me, _RULES, digits, path, name, (address, length), (payload, _8))
    unpin(mem, me)
    return OUT_OF_MEMORY if done == FULL else 0


@kernel
def unsubscribe_from(mem: Handle, trie: Word, thread: Word, pattern: Word, subscriber: Word) -> Word:
    """Unsubscribe a pair; return whether it was there."""
    me = _participant(thread)
    pad = _scratch(mem, me)
    starts, digits, path = pad[:8], pad[8:16], pad[16:80]
    address, length = _text(mem, pattern)
    number = np.uint64(pattern) * np.uint64(SUBSCRIBERS) + np.uint64(subscriber)
    name = string(_RULES, peek(mem, trie + HASH_MASK), address, length, number, starts, digits)
    pin(mem, me)
    s = unsubscribe(mem, trie, me, digits, path, name)
    unpin(mem, me)
    if s == FULL:
        return OUT_OF_MEMORY
    return 0 if s == NIL else 1


@kernel
def _matching(mem: Handle, trie: Word, frozen: Word, me: Word, topic: Word) -> Word:
    """Return the subscribers that a topic matches, a bit each; the caller is not pinned."""
    pad = _scratch(mem, me)
    starts, digits, frames, noted, found = pad[:8], pad[8:16], pad[16:88], pad[88:122], pad[122:146]
    counts = pad[146:150]
    address, length = _text(mem, _FIRST_TOPIC + np.uint64(topic))
    space = space_of(starts, digits, frames, noted, found, counts)
    count = parse(address, length, _RULES, NIL, peek(mem, trie + HASH_MASK), False, space.starts, space.digits)
    counts[MOST] = np.uint64(64)
    pin(mem, me)
    n = matches(mem, trie, frozen, me, _RULES, address, length, count, space)
    bits = NIL
    if n != TOO_SMALL:
        for k in range(n):
            bits |= ONE << value_of(mem, found[k])
    unpin(mem, me)
    return OUT_OF_MEMORY if n == TOO_SMALL else np.int64(bits)


@kernel
def match_topic(mem: Handle, trie: Word, thread: Word, topic: Word) -> Word:
    """Return the subscribers that a topic matches, a bit each."""
    return _matching(mem, trie, NIL, _participant(thread), topic)


@kernel
def match_frozen(mem: Handle, trie: Word, thread: Word, topic: Word) -> Word:
    """Match twice in one snapshot; return the common answer, or CHANGED."""
    me = _participant(thread)
    pin(mem, me)
    slot = freeze(mem, trie, me)
    unpin(mem, me)
    if slot == FULL:
        return OUT_OF_MEMORY
    bits = _matching(mem, trie, peek(mem, slot + FROZEN), me, topic)
    again = _matching(mem, trie, peek(mem, slot + FROZEN), me, topic)
    pin(mem, me)
    drop(mem, trie, me, slot)
    unpin(mem, me)
    return bits if bits == again else CHANGED


@kernel
def snapshot(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take a snapshot and return its subscriptions, a bit each."""
    me = _participant(thread)
    stack = _scratch(mem, me)
    pin(mem, me)
    slot = freeze(mem, trie, me)
    if slot == FULL:
        unpin(mem, me)
        return OUT_OF_MEMORY
    bits = NIL
    stack[0] = peek(mem, slot + FROZEN) | CHILD
    height = 1
    while height > 0:
        height -= 1
        here = stack[height]
        if not is_child(here):
            bits |= ONE << (peek(mem, here + KEY) >> ONE)
            continue
        m = gcas_read(mem, READ_ONLY, here & _OFFSET)
        at = NIL
        while next_slot(mem, m, at) != NIL:
            stack[height] = next_slot(mem, m, at)
            height += 1
            at += ONE
    drop(mem, trie, me, slot)
    unpin(mem, me)
    return np.int64(bits)


_OFFSET = np.uint64((1 << 40) - 1)


def _done(word: int) -> None:
    _enough(word)


def _enough(word: int) -> int:
    if word == OUT_OF_MEMORY:
        raise ArenaFull("a scenario has used up the memory that the explorer gives it; make it shorter")
    return word


def _removed(word: int) -> Hashable:
    return _enough(word) == 1


def _bits(word: int) -> list[int]:
    return [bit for bit in range(64) if word >> bit & 1]


def _subscribers(word: int) -> Hashable:
    if word == CHANGED:
        return frozenset({"one before and another afterwards"})
    return frozenset(_bits(_enough(word)))


def _pairs(word: int) -> Hashable:
    return frozenset((PATTERNS[bit // SUBSCRIBERS], bit % SUBSCRIBERS) for bit in _bits(word))


class NumberedTopicIndex(TopicIndexModel):
    """The topic index of MQTT whose calls name patterns and topics by number, and match in snapshots too."""

    operations = MappingProxyType({**TopicIndexModel.operations, "match_frozen": 1})
    readonly = TopicIndexModel.readonly | {"match_frozen"}

    def __init__(self) -> None:
        super().__init__("mqtt")

    def _named(self, call: Call) -> Call:
        if call.f == "match_frozen":
            call = replace(call, f="match")
        texts = TOPICS if call.f == "match" else PATTERNS
        if not call.arguments or isinstance(call.arguments[0], str):
            return call
        first = call.arguments[0]
        assert isinstance(first, int)
        return replace(call, arguments=(texts[first], *call.arguments[1:]))

    def apply(self, state: Subscriptions, call: Call) -> tuple[object, Subscriptions]:
        """Return the result that `call` must have, and the next subscriptions."""
        return super().apply(state, self._named(call))

    def reason(self, state: Subscriptions, call: Call) -> str:
        """Return who subscribed to what the topic matches, or whether the pair was there."""
        return super().reason(state, self._named(call))

    def validate(self, call: Call) -> None:
        """Raise ValueError for what the model does not know."""
        super().validate(self._named(call))


class TopicTarget(Target):
    """A topic trie in an arena of its own."""

    def prepare(self, threads: int, keys: str) -> Memory:
        """Make an empty trie and the texts, and give every participant a chunk of memory with spare blocks."""
        arena = Arena.anonymous(_CAPACITY)
        base, state = np.uint64(arena.base), np.uint64(arena.identity << 16)
        for thread in range(threads):
            slot = np.uint64(claim(base, state))
            if slot != _FIRST + np.uint64(thread) * _STRIDE:
                raise RuntimeError("participants of a fresh arena are not where they are expected")
        for number, text in enumerate(PATTERNS + TOPICS):
            at = int(_TEXTS) + number * int(_TEXT_WORDS)
            arena.words[at] = len(text)
            arena.words[at + 1 : at + 4] = np.frombuffer(text.encode().ljust(24, b"\0"), np.uint64)
        arena.words[int(_PAYLOADS) : int(_PAYLOADS) + SUBSCRIBERS] = range(SUBSCRIBERS)
        trie = new_trie(base, _FIRST, np.uint64(MASKS[keys] if keys else MASKS["apart"]))
        for thread in range(threads):
            begin(base, _FIRST + np.uint64(thread) * _STRIDE, ORDINARY)
        return Memory(arena.words, int(trie), arena)

    def validate(self, scenario: Scenario) -> None:
        """Raise ValueError unless numbers fit and every pair is subscribed once."""
        super().validate(scenario)
        pairs = set()
        for each in scenario.operations:
            limits = (len(TOPICS),) if each.f.startswith("match") else (len(PATTERNS), SUBSCRIBERS)
            for number, limit in zip(each.arguments, limits, strict=False):
                if not 0 <= number < limit:
                    raise ValueError(f"topic-trie: a number from 0 to {limit - 1} is expected: {each}")
            if each.f == "subscribe":
                if each.arguments in pairs:
                    raise ValueError(f"topic-trie: a scenario subscribes a pair once: {each}")
                pairs.add(each.arguments)

    def generate(self, rng: random.Random) -> Scenario:
        """Few operations at once on a trie that some others have shaped; the contents are read at the end."""
        patterns = rng.sample(range(len(PATTERNS)), rng.randint(2, 4))
        fresh = iter(rng.sample([(p, who) for p in patterns for who in range(SUBSCRIBERS)], 16))
        before = [Invocation("subscribe", next(fresh)) for _ in range(rng.randint(0, 4))]
        known = [each.arguments for each in before]

        def some() -> tuple[Invocation, ...]:
            made = []
            for _ in range(rng.randint(1, 2)):
                name = rng.choices(
                    ["subscribe", "unsubscribe", "match", "match_frozen", "snapshot"], [30, 30, 25, 5, 10]
                )[0]
                if name == "subscribe" or (name == "unsubscribe" and not known):
                    known.append(next(fresh))
                    made.append(Invocation("subscribe", known[-1]))
                elif name == "unsubscribe":
                    made.append(Invocation(name, rng.choice(known)))
                else:
                    made.append(Invocation(name, (rng.randrange(len(TOPICS)),) if name.startswith("match") else ()))
            return tuple(made)

        threads = tuple(some() for _ in range(rng.choice((2, 2, 3))))
        return Scenario(threads, tuple(before), (Invocation("snapshot"),), rng.choice(self.layouts))


#: Which bits of the hashes of words count: all, or none, so that all words share one place.
MASKS: Final = {"apart": (1 << 63) - 1, "together": 0}

TOPIC_TRIE: Final = TopicTarget(
    "topic-trie",
    NumberedTopicIndex(),
    {
        "subscribe": Operation(subscribe_to, _done),
        "unsubscribe": Operation(unsubscribe_from, _removed),
        "match": Operation(match_topic, _subscribers),
        "match_frozen": Operation(match_frozen, _subscribers),
        "snapshot": Operation(snapshot, _pairs),
    },
    layouts=tuple(MASKS),
)
