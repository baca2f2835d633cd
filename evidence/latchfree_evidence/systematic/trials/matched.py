"""The concurrent topic trie beside the trie with a lock: who is matched, what is held, and that no word is lost."""

from __future__ import annotations

import random
from typing import Any

from latchfree.arena import Arena
from latchfree.topics import ConcurrentTrie, LockedTrie
from latchfree.topics.dialects import DIALECTS
from latchfree.topics.relations import overlaps
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.indexed import patterns_of, topics_of
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.sketched import CAPACITY


def _pairs(found: Any) -> list[tuple[str, Any]]:
    return sorted(((each.pattern, each.subscriber) for each in found), key=repr)


class _Beside:
    """A trie, and the one with a lock."""

    def __init__(self, rng: random.Random, dialect: str, mask: int, *, texts: bool) -> None:
        self.rng, self.dialect, self.texts = rng, dialect, texts
        self.arena = Arena.anonymous(CAPACITY)
        self.trie: Any = ConcurrentTrie(dialect, arena=self.arena, hash_mask=mask)
        self.plain: Any = LockedTrie(dialect)
        self.live: list[tuple[Any, Any]] = []
        self.patterns = patterns_of(rng, dialect, 25)
        self.topics = topics_of(rng, dialect, self.patterns, 30)
        self.trie.unsubscribe(self.trie.subscribe(self.patterns[0], 1))
        self.trie.snapshot().close()
        self.nodes = self.arena.census().nodes

    def subscribe(self) -> None:
        pattern = self.rng.choice(self.patterns)
        who: Any = self.rng.choice((self.rng.randrange(9), -4, 1 << 40))
        who = f"who {who}" if self.texts else who
        self.live.append((self.trie.subscribe(pattern, who), self.plain.subscribe(pattern, who)))

    def subscribe_many(self) -> None:
        some = [self.rng.choice(self.patterns) for _ in range(self.rng.choice((0, 1, 5)))]
        who = [self.rng.randrange(-9, 99) for _ in some]
        numbers = self.trie.subscribe_column(some, who)
        made = [self.plain.subscribe(pattern, each) for pattern, each in zip(some, who, strict=True)]
        if self.rng.random() < 0.5:
            self.trie.unsubscribe_column(some, numbers)
            for each in made:
                self.plain.unsubscribe(each)
        elif some:
            held = {each.number: each for each in self.trie.subscriptions()} if hasattr(made[0], "number") else {}
            found = [held.get(n) for n in list(numbers)]
            self.live += [pair for pair in zip(found, made, strict=True) if pair[0] is not None]

    def unsubscribe(self) -> None:
        if self.live:
            one, other = self.live.pop(self.rng.randrange(len(self.live)))
            self.trie.unsubscribe(one)
            self.plain.unsubscribe(other)
            try:
                self.trie.unsubscribe(one)
            except (KeyError, LookupError, ValueError):
                return
            raise AssertionError("a subscription is unsubscribed once")

    def look(self) -> None:
        topic = self.rng.choice(self.topics)
        require(self.trie.match(topic) == self.plain.match(topic), "who is matched", topic)
        require(_pairs(self.trie.matching(topic)) == _pairs(self.plain.matching(topic)), "and by which", topic)
        require(self.trie.has_interest(topic) == bool(self.plain.match(topic)), "whether anybody is", topic)
        some = self.rng.sample(self.topics, self.rng.choice((0, 1, 7)))
        found = self.trie.match_many(some).to_pylist() if some else []
        require([frozenset(row) for row in found] == [self.plain.match(each) for each in some], "together", some)

    def look_around(self) -> None:
        require(len(self.trie) == len(self.plain), "how many there are")
        require(_pairs(self.trie.subscriptions()) == _pairs(self.plain.subscriptions()), "all that are there")
        word = self.rng.choice(self.patterns).split(DIALECTS[self.dialect].separator)[0]
        require(_pairs(self.trie.subscriptions(word)) == _pairs(self.plain.subscriptions(word)), "below a prefix", word)
        pattern = DIALECTS[self.dialect].pattern(self.rng.choice(self.patterns))
        found = _pairs(self.trie.may_overlap(pattern))
        some = [pair for pair in found if overlaps(pair[0], pattern.text, self.dialect)]
        every = _pairs(
            each for each in self.plain.subscriptions() if overlaps(each.pattern, pattern.text, self.dialect)
        )
        require(some == every, "no pattern is missing that overlaps", pattern)

    def finish(self) -> None:
        for one, other in self.live:
            self.trie.unsubscribe(one)
            self.plain.unsubscribe(other)
        self.look_around()
        require(self.arena.census().nodes == self.nodes, "no word is lost", self.arena.census(), self.nodes)
        self.arena.close()


def tries(world: World, seed: int) -> None:
    """Do random operations."""
    rng = random.Random(seed)
    dialect, mask = ("mqtt", "amqp", "nats")[seed % 3], ((1 << 63) - 1, 0, 7, (1 << 63) - 1)[seed // 3 % 4]
    with faces(world):
        beside = _Beside(rng, dialect, mask, texts=seed % 2 == 1)
        snapshot: Any = None
        held: Any = None
        for k in range(60):
            what = rng.random()
            if what < 0.3:
                beside.subscribe()
            elif what < 0.4 and not beside.texts:
                beside.subscribe_many()
            elif what < 0.6:
                beside.unsubscribe()
            elif what < 0.9:
                beside.look()
            else:
                beside.look_around()
            if k % 20 == 10:
                snapshot, held = beside.trie.snapshot(), beside.plain.snapshot()
            if snapshot is not None and k % 20 == 19:
                topic = rng.choice(beside.topics)
                require(snapshot.match(topic) == held.match(topic), "a snapshot stays as it was", topic)
                require(_pairs(snapshot) == _pairs(held), "all of it")
                snapshot.close()
                snapshot = None
        beside.finish()
