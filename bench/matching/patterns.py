"""Patterns and topics of the benchmark of matchers.

**W0**: five words from vocabularies of 10, 20, 50, 100 and 1,000; 15 % of the patterns have a wildcard for one word,
a fifth of those two. Of the topics half are made from a pattern, its wildcards filled, half are drawn anew.

**seed**: five random words out of 26 letters, none a wildcard, as in the published benchmark, but every call with a
topic of its own: published loops subscribed one topic over and over.
"""

from __future__ import annotations

import random

_SIZES = (10, 20, 50, 100, 1000)


def _word(rng: random.Random, level: int) -> str:
    return f"{'abcde'[level]}{rng.randrange(_SIZES[level]):03d}"


def w0_patterns(count: int, seed: int) -> list[str]:
    """Patterns of W0, in MQTT's dialect."""
    rng = random.Random(f"patterns {count} {seed}")
    patterns = []
    for _ in range(count):
        words = [_word(rng, level) for level in range(5)]
        if rng.random() < 0.15:
            for level in rng.sample(range(5), 2 if rng.random() < 0.2 else 1):
                words[level] = "+"
        patterns.append("/".join(words))
    return patterns


def w0_topics(patterns: list[str], count: int, seed: int) -> list[str]:
    """Topics of W0 for some patterns."""
    rng = random.Random(f"topics {count} {seed}")
    topics = []
    for n in range(count):
        words = [_word(rng, level) for level in range(5)]
        if n % 2:
            chosen = rng.choice(patterns).split("/")
            words = [drawn if word == "+" else word for word, drawn in zip(chosen, words, strict=True)]
        topics.append("/".join(words))
    rng.shuffle(topics)
    return topics


def seed_topics(count: int, seed: int) -> list[str]:
    """Different topics of five random words."""
    rng = random.Random(f"seed {count} {seed}")
    found: dict[str, None] = {}
    while len(found) < count:
        found["/".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(5))] = None
    return list(found)
