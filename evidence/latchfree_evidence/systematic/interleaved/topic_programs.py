"""Scenarios of the concurrent topic trie as programs in plain Python.

Example: ``init: subscribe(1, 1); subscribe(1, 2) | unsubscribe(1, 2) | subscribe(2, 3) | after: snapshot()``. The
operations are those of the explorer's target `topic-trie`; patterns, topics and model are the target's, too.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Generator, Iterable
from typing import Any, Final

import numpy as np

from latchfree.arena import layout
from latchfree.arena.kernels.allocator import ORDINARY, begin
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels import trees
from latchfree.ctrie.kernels.nodes import HASH_MASK
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.snapshot import freeze, new_trie
from latchfree.topics.concurrent.kernels.change import subscribe, unsubscribe
from latchfree.topics.concurrent.kernels.collect import MOST, space_of
from latchfree.topics.concurrent.kernels.digits import parse
from latchfree.topics.concurrent.kernels.match import matches
from latchfree.topics.concurrent.kernels.strings import string, value_of
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.dialects import MQTT
from latchfree_evidence.systematic.interleaved.exploring import Program
from latchfree_evidence.systematic.interleaved.programs import Alone, ran, stepping_world
from latchfree_evidence.systematic.interleaved.threads import Call
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.words import read_word
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import Place
from latchfree_evidence.systematic.trials.tries import spares
from latchfree_explore.scenario import Scenario

_TWO_OF_ONE: Final = "init: subscribe(1, 1); subscribe(1, 2)"
_TORN: Final = "init: subscribe(1, 1); subscribe(2, 2); subscribe(3, 3); subscribe(3, 5); subscribe(3, 6)"

TOPICS: Final = (
    f"{_TWO_OF_ONE} | unsubscribe(1, 2) | subscribe(2, 3) | after: snapshot()",
    f"{_TWO_OF_ONE} | unsubscribe(1, 2) | subscribe(1, 3) | after: snapshot()",
    "init: subscribe(0, 0); subscribe(1, 1); subscribe(1, 2) | unsubscribe(1, 2); subscribe(1, 3) | after: snapshot()",
    f"{_TORN} | match(1) | subscribe(1, 4); unsubscribe(3, 5)",
    "subscribe(1, 1) | subscribe(1, 2) | match(1) | after: snapshot()",
    "subscribe(0, 1) | subscribe(1, 2) | subscribe(6, 3) | after: snapshot(); match(1)",
    "init: subscribe(1, 1) | unsubscribe(1, 1) | subscribe(1, 2) | after: snapshot()",
    f"{_TWO_OF_ONE}; subscribe(2, 3) | unsubscribe(1, 1) | unsubscribe(1, 2) | match(1) | after: snapshot()",
    "init: subscribe(3, 1); subscribe(4, 2); subscribe(7, 3) | match(3) | unsubscribe(3, 1); subscribe(6, 4)",
    "init: subscribe(1, 1); subscribe(2, 1) | match_frozen(1) | unsubscribe(1, 1); subscribe(1, 2)",
    "init: subscribe(1, 1); subscribe(2, 1) | snapshot() | unsubscribe(1, 1); subscribe(5, 2) | after: snapshot()",
    "subscribe(1, 1) | subscribe(2, 2) | after: snapshot(); match(1); match(2) | keys: together",
    f"{_TWO_OF_ONE} | unsubscribe(1, 2) | subscribe(2, 3) | match(1) | after: snapshot() | keys: together",
    f"{_TWO_OF_ONE} | snapshot(); match(1) | unsubscribe(1, 1) | subscribe(1, 3) | after: snapshot()",
)  # fmt: skip

_CAPACITY: Final = 3 << 20
_RULES: Final = rules_of(MQTT)


class _Texts:
    """The texts of patterns and topics, and the payloads of subscribers, at addresses."""

    def __init__(self) -> None:
        from latchfree_evidence.targets.topics import PATTERNS, SUBSCRIBERS, TOPICS

        self.patterns, self.topics = ([self._kept(text) for text in texts] for texts in (PATTERNS, TOPICS))
        self.payloads = (ctypes.c_uint64 * SUBSCRIBERS)(*range(SUBSCRIBERS))

    @staticmethod
    def _kept(text: str) -> tuple[Any, int]:
        return ctypes.create_string_buffer(text.encode(), 32), len(text)


def _words(count: int) -> View:
    return View(np.zeros(count, np.uint64))


class _Operations:
    """What threads do, as generators of accesses."""

    def __init__(self, world: World, texts: _Texts, mem: Any, trie: int) -> None:
        self.world, self.texts, self.mem, self.trie = world, texts, mem, trie

    def _run(self, kernel: Any, *arguments: Any) -> Generator[Any, Any, Any]:
        made = self.world[kernel](*arguments)
        return (yield from made) if hasattr(made, "send") else made

    def _string(self, pattern: int, subscriber: int) -> Generator[Any, Any, Any]:
        starts, digits, path = _words(34), _words(34), _words(500)
        text, length = self.texts.patterns[pattern]
        mask = self.mem[self.trie + int(HASH_MASK)]
        number, at = pattern * 8 + subscriber, ctypes.addressof(text)
        name = yield from self._run(string, _RULES, mask, at, length, number, starts, digits)
        return digits, path, name, (at, length)

    def subscribe(self, me: int, pattern: int, subscriber: int) -> Generator[Any, Any, Any]:
        """Subscribe a pair."""
        digits, path, name, text = yield from self._string(pattern, subscriber)
        value = ctypes.addressof(self.texts.payloads) + 8 * subscriber, 8
        yield from self._run(pin, self.mem, me)
        done = yield from self._run(subscribe, self.mem, self.trie, me, _RULES, digits, path, name, text, value)
        yield from self._run(unpin, self.mem, me)
        assert done == name, "there is room"
        return 0

    def unsubscribe(self, me: int, pattern: int, subscriber: int) -> Generator[Any, Any, Any]:
        """Unsubscribe a pair; return whether it was there."""
        digits, path, name, _ = yield from self._string(pattern, subscriber)
        yield from self._run(pin, self.mem, me)
        found = yield from self._run(unsubscribe, self.mem, self.trie, me, digits, path, name)
        yield from self._run(unpin, self.mem, me)
        return int(found != 0)

    def _matching(self, me: int, frozen: int, topic: int) -> Generator[Any, Any, Any]:
        starts, digits, frames, noted, found, counts = map(_words, (34, 34, 300, 200, 100, 4))
        text, length = self.texts.topics[topic]
        at, mask = ctypes.addressof(text), self.mem[self.trie + int(HASH_MASK)]
        space = yield from self._run(space_of, starts, digits, frames, noted, found, counts)
        count = yield from self._run(parse, at, length, _RULES, 0, mask, False, space.starts, space.digits)
        counts[int(MOST)] = 64
        yield from self._run(pin, self.mem, me)
        n = yield from self._run(matches, self.mem, self.trie, frozen, me, _RULES, at, length, count, space)
        bits = 0
        for k in range(n):
            who = yield from self._run(value_of, self.mem, found[k])
            bits |= 1 << (read_word(ctypes.addressof(self.texts.payloads)) + who if who < 8 else who & 7)
        yield from self._run(unpin, self.mem, me)
        return bits

    def match(self, me: int, topic: int) -> Generator[Any, Any, Any]:
        """Return who matches, a bit each."""
        return (yield from self._matching(me, 0, topic))

    def _frozen(self, me: int) -> Generator[Any, Any, Any]:
        yield from self._run(pin, self.mem, me)
        slot = yield from self._run(freeze, self.mem, self.trie, me)
        yield from self._run(unpin, self.mem, me)
        return slot

    def _dropped(self, me: int, slot: int) -> Generator[Any, Any, Any]:
        yield from self._run(pin, self.mem, me)
        yield from self._run(drop, self.mem, self.trie, me, slot)
        yield from self._run(unpin, self.mem, me)

    def match_frozen(self, me: int, topic: int) -> Generator[Any, Any, Any]:
        """Match twice in a snapshot; -3 if the answers differ."""
        slot = yield from self._frozen(me)
        root = self.mem[slot + int(FROZEN)]
        one = yield from self._matching(me, root, topic)
        other = yield from self._matching(me, root, topic)
        yield from self._dropped(me, slot)
        return one if one == other else -3

    def snapshot(self, me: int) -> Generator[Any, Any, Any]:
        """Return all subscriptions of a snapshot, a bit each."""
        slot = yield from self._frozen(me)
        bits = 0
        for node in walking.below(self.mem, self.mem[slot + int(FROZEN)]):
            if walking.kind_of(self.mem, node) == walking.S_NODE:
                bits |= 1 << (self.mem[node + 1] >> 1)
        yield from self._dropped(me, slot)
        return bits


def of_topics(replaced: Any, called: set[tuple[str, str]] | None) -> Callable[[str], Program]:
    """Return what makes the program of a scenario."""
    from latchfree_evidence.targets.topics import MASKS, TOPIC_TRIE

    world, texts = stepping_world(replaced, called), _Texts()

    def program(text: str) -> Program:
        scenario = Scenario.parse(text)
        TOPIC_TRIE.validate(scenario)
        outer: Any = Alone(world)
        threads = len(scenario.threads)
        place = Place(outer, threads + 1, _CAPACITY)
        mem = place.mem
        mem[int(layout.H_GENERATION)] = mem[int(layout.H_CHUNK)] - 1
        trie = outer[new_trie](mem, place.who[0], MASKS[scenario.keys or "apart"])
        for me in place.who:
            outer[begin](mem, me, int(ORDINARY))
        operations = _Operations(world, texts, mem, trie)

        def calls(invocations: Iterable[Any], thread: int, process: str) -> list[Call]:
            me = place.who[thread]
            return [
                Call(
                    each.f,
                    each.arguments,
                    functools.partial(getattr(operations, each.f), me, *each.arguments),
                    TOPIC_TRIE.operation(each.f).result,
                    process,
                )
                for each in invocations
            ]

        before = ran(calls(scenario.before, threads, "init"))
        mem.save()

        def audit() -> None:
            for me in place.who:
                assert mem[me + int(layout.P_PIN)] == 0, "a pin is left"
            place.settle(lambda me: outer[trees.reclaim](mem, me))
            spare = [(block, 68) for me in place.who for block in spares(mem, me)]
            place.account([*walking.of_trie(mem, trie), *spare])

        return Program(
            text,
            TOPIC_TRIE.model,
            mem.restore,
            lambda: [calls(thread, k, str(k)) for k, thread in enumerate(scenario.threads)],
            before,
            lambda: ran(calls(scenario.after, threads, "after")),
            audit,
            TOPIC_TRIE.judged,
        )

    return program
