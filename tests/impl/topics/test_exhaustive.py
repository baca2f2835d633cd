"""Bounded, but complete: all patterns and topics of up to four words over three letters, in each dialect and engine.

What a pattern means is stated without any matching: the set of topics it stands for, which is what comes of writing
letters in the place of its wildcards in all ways.
"""

from itertools import product

import pyarrow as pa
import pytest
from topic_texts import DIALECT_NAMES, PLAIN, accepts, frozen

from latchfree.topics import DIALECTS

LETTERS = "abc"
MOST = 4
TOPICS = [words for length in range(MOST + 1) for words in product(LETTERS, repeat=length)]


def meaning(dialect, pattern):
    """The topics of up to four words that a pattern stands for."""
    least = 1 if dialect.name == "nats" else 0
    stands_for = {dialect.one: [(letter,) for letter in LETTERS], dialect.many: [t for t in TOPICS if len(t) >= least]}
    found = {()}
    for word in pattern:
        found = {a + b for a in found for b in stands_for.get(word, [(word,)]) if len(a) + len(b) <= MOST}
    return found


@pytest.mark.parametrize("name", DIALECT_NAMES)
def test_every_engine_matches_what_the_patterns_mean(name):
    dialect = DIALECTS[name]
    alphabet = [*LETTERS, dialect.one, dialect.many]
    patterns = [words for length in range(MOST + 1) for words in product(alphabet, repeat=length)]
    patterns = [each for each in patterns if accepts(dialect.pattern, dialect.separator.join(each))]
    topics = [each for each in TOPICS if accepts(dialect.topic, dialect.separator.join(each))]
    assert len(topics) == (121 if name == "amqp" else 120)
    assert len(patterns) == (781 if name == "amqp" else 425)
    expected = {topic: set() for topic in TOPICS}
    for number, pattern in enumerate(patterns):
        for topic in meaning(dialect, pattern):
            expected[topic].add(number)
    engines = [engine(dialect) for engine in PLAIN]
    handles = [
        [engine.subscribe(dialect.separator.join(pattern), number) for engine in engines]
        for number, pattern in enumerate(patterns)
    ]
    texts = pa.array([dialect.separator.join(topic) for topic in topics])
    for engine in [*engines, *frozen([each[0] for each in handles], dialect)]:
        found = [set(row) for row in engine.match_many(texts).to_pylist()]
        assert found == [expected[topic] for topic in topics], engine
