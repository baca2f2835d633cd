"""Indexes of patterns beside the trie with a lock: who is matched, what breaks a rule, and the bytes of the index."""

from __future__ import annotations

import random
from typing import Any, Final

from latchfree.topics import InvalidPattern, InvalidTopic, LockedTrie, MaskIndex
from latchfree.topics.dialects import DIALECTS
from latchfree_evidence.systematic.plain.faces import faces
from latchfree_evidence.systematic.plain.words import Raw
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import require

_WORDS: Final = ("a", "b", "", "c1", "dd", "seven77", "eight888", "nine99999", "x" * 16, "y" * 17, "é", "$s", "z" * 31)


def text_of(rng: random.Random, dialect: str, wild: float, most: int = 5) -> str:
    """Return a pattern, or without wildcards a topic; some break rules."""
    d = DIALECTS[dialect]
    words = []
    for _ in range(rng.randint(1, most)):
        words.append(d.one if rng.random() < wild else rng.choice(_WORDS))
        if d.many_anywhere and rng.random() < wild / 3:
            words.append(d.many)
    if rng.random() < wild:
        words.append(d.many)
    return d.separator.join(words)


def _is_pattern(d: Any, text: str) -> bool:
    try:
        d.pattern(text)
    except InvalidPattern:
        return False
    return True


def _is_topic(d: Any, text: str) -> bool:
    try:
        d.topic(text)
    except InvalidTopic:
        return False
    return True


def patterns_of(rng: random.Random, dialect: str, count: int) -> list[str]:
    """Return valid patterns, some of them twice."""
    d = DIALECTS[dialect]
    found: list[str] = []
    while len(found) < count:
        text = rng.choice(found) if found and rng.random() < 0.1 else text_of(rng, dialect, rng.choice((0.0, 0.3, 0.6)))
        if _is_pattern(d, text):
            found.append(text)
    deep = d.separator.join(["w"] * rng.choice((63, 64, 65, 66)))
    return [*found, deep, d.separator.join([d.one] * rng.choice((63, 64, 65)))]


def topics_of(rng: random.Random, dialect: str, patterns: list[str], count: int) -> list[str]:
    """Return valid topics: random ones, and such as a pattern may match."""
    d = DIALECTS[dialect]
    found = [d.separator.join(["w"] * n) for n in (1, 63, 64, 65, 66)]
    while len(found) < count:
        text = text_of(rng, dialect, 0.0)
        if rng.random() < 0.7:
            words = []
            for word in rng.choice(patterns).split(d.separator):
                if word == d.many:
                    words += [rng.choice(_WORDS) for _ in range(rng.randint(d.least, 3))]
                else:
                    words.append(rng.choice(_WORDS) if word == d.one or rng.random() < 0.05 else word)
            text = d.separator.join(words)
        if _is_topic(d, text):
            found.append(text)
    return found


def indexes(seed: int) -> Any:
    """Build an index, and match topics one by one and together."""
    rng = random.Random(seed)
    dialect, groups = ("mqtt", "amqp", "nats")[seed % 3], (48, 0, 3)[seed // 3 % 3]
    patterns = patterns_of(rng, dialect, rng.choice((5, 40, 90)))
    kind = seed % 4
    subscribers: list[Any] = [
        [k, rng.randrange(7), f"s{rng.randrange(9)}", rng.choice((-5, 1 << 40, k))][kind] for k in range(len(patterns))
    ]
    trie: LockedTrie[Any] = LockedTrie(dialect)
    for pattern, who in zip(patterns, subscribers, strict=True):
        trie.subscribe(pattern, who)
    index: MaskIndex[Any] = MaskIndex.build(patterns, subscribers, dialect, most_groups=groups)
    topics = topics_of(rng, dialect, patterns, 75)
    expected = [trie.match(topic) for topic in topics]
    together = index.match_many(topics).to_pylist()
    require([frozenset(row) for row in together] == expected, "who is matched, together")
    require(all(len(set(row)) == len(row) for row in together), "each subscriber once")
    for topic, wanted in zip(topics[:20], expected, strict=False):
        require(index.match(topic) == wanted, "who is matched", topic)
        require(index.has_interest(topic) == bool(wanted), "whether anybody is", topic)
        found = sorted((each.pattern, each.subscriber) for each in index.matching(topic))
        require(
            found == sorted((each.pattern, each.subscriber) for each in trie.matching(topic)), "and by which", topic
        )
    require(index.snapshot().pairs() == trie.snapshot().pairs(), "all pairs")
    return [together, bytes(index._buffer)]


def defects(seed: int) -> Any:
    """Give texts that break a rule among others: the first is named."""
    rng = random.Random(seed)
    dialect = ("mqtt", "amqp", "nats")[seed % 3]
    d = DIALECTS[dialect]
    good_patterns = patterns_of(rng, dialect, 6)
    index: MaskIndex[int] = MaskIndex.build(good_patterns, list(range(len(good_patterns))), dialect)
    good = topics_of(rng, dialect, good_patterns, 9)
    s, answers = d.separator, []
    bad = [
        "", d.one, d.many, f"a{s}{d.many}", f"a{d.one}", "a\0", "a b", f"a{s}{s}b", f"{s}a", f"a{s}", "x" * 70_000,
        s.join("w" * (d.most_words + 1)), s.join("w" * d.most_words), f"{d.many}{s}a", f"a{d.many}{s}b", "\x7f", "a\tb",
        f"{d.one}{s}{d.one}", "\x1f", "\u0080", "a" * 7 + "\0", "a" * 8 + "\0" + "b" * 8, f"abcdefgh{s}{s}", "\u2028",
    ]  # fmt: skip
    for text in bad:
        at = rng.randrange(len(good))
        row: Any = None
        try:
            index.match_many([*good[:at], text, *good[at:]])
        except InvalidTopic as error:
            row = error.row
        require((row == at) == (not _is_topic(d, text)), "a topic that breaks a rule is named", text[:20], row)
        at, named = rng.randrange(len(good_patterns)), None
        some = [*good_patterns[:at], text, *good_patterns[at:]]
        try:
            MaskIndex.build(some, list(range(len(some))), dialect)
        except InvalidPattern as error:
            named = error.row
        require((named == at) == (not _is_pattern(d, text)), "a pattern that breaks a rule is named", text[:20], named)
        answers.append((row, named))
    return answers


def collisions(world: World, seed: int) -> None:
    """Build and search an index where the hashes of most words, or all hashes, are the same: nodes and bytes decide."""
    few = 0 if seed % 2 else 1

    def wrapped(made: Any, steps: bool) -> Any:
        def parse(*given: Any) -> Any:
            found = made(*given)
            most, hashes = given[5], Raw(given[6])
            for k in range(min(found[0], most)):
                hashes[k] &= few
            return found

        return parse

    def folded(made: Any, steps: bool) -> Any:
        return lambda word: made(word) & few

    name, what = ("parse", wrapped) if seed // 9 % 2 == 0 else ("fold", folded)
    with faces(world.with_wrapped({f"latchfree.topics.mask.kernels.texts:{name}": what})):
        indexes(seed)
