"""Overlap and subsumption against all short topics; reverse match; filters."""

import dataclasses
import itertools
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, accepts

from latchfree.topics import (
    AMQP,
    DIALECTS,
    MQTT,
    CachedMatcher,
    ConcurrentTrie,
    InvalidPattern,
    LockedTrie,
    NaiveMatcher,
    TooComplex,
    TopicFilter,
    overlapping,
    overlaps,
    relations,
    subsumes,
    without_subsumed,
)
from latchfree.topics.explain import stands_for


def topics_of(dialect):
    words = ["a", "b", "", "$s", "other"]
    texts = {dialect.separator.join(each) for n in range(5) for each in itertools.product(words, repeat=n)}
    return [dialect.topic(text) for text in sorted(texts) if accepts(dialect.topic, text)]


TOPICS = {name: topics_of(dialect) for name, dialect in DIALECTS.items()}


def short_patterns(dialect):
    words = ["a", "b", "", "$s", dialect.one, dialect.one, dialect.many, dialect.many]
    texts = st.lists(st.sampled_from(words), max_size=3).map(dialect.separator.join)
    return texts.filter(lambda text: accepts(dialect.pattern, text))


def matched(pattern, dialect):
    parsed = dialect.pattern(pattern)
    return {topic for topic in TOPICS[dialect.name] if dialect.matches(parsed, topic)}


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=100)
@given(data=st.data())
def test_agree_with_all_short_topics(name, data):
    dialect = DIALECTS[name]
    one, other = data.draw(short_patterns(dialect)), data.draw(short_patterns(dialect))
    assert overlaps(one, other, dialect) == bool(matched(one, dialect) & matched(other, dialect))
    assert subsumes(one, other, dialect) == (matched(one, dialect) >= matched(other, dialect))


def test_examples():
    assert overlaps("sport/+/score", "sport/tennis/#", MQTT)
    assert not overlaps("sport/+", "news/#", MQTT)
    assert not overlaps("#", "$SYS/#", MQTT)
    assert not overlaps("#.", "*", AMQP)  # one empty word cannot be written
    assert subsumes("sport/#", "sport", MQTT)
    assert subsumes("#.a.#", "*.a", AMQP)
    assert not subsumes("+/+", "$SYS/x", MQTT)
    with pytest.raises(InvalidPattern):
        overlaps("a/#/b", "a", MQTT)


def test_subsumption_gives_up_rather_than_take_for_ever():
    with pytest.raises(TooComplex, match="takes over 100,000 states"):
        subsumes("#.a" + ".*" * 40, "#.b.#.a" + ".*" * 40, AMQP)


def test_reverse_match():
    trie = LockedTrie("mqtt")
    held = [trie.subscribe(pattern, n) for n, pattern in enumerate(["a/+", "a/#", "b/c", "+/c", "$SYS/+", "a/+"])]
    assert list(overlapping(trie, "a/c")) == [held[0], held[1], held[3], held[5]]
    assert list(overlapping(trie, "#")) == [held[0], held[1], held[2], held[3], held[5]]


def without_number(subscription):
    return subscription.pattern, subscription.subscriber


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_reverse_match_is_that_of_all_patterns(name, data):
    dialect = DIALECTS[name]
    tries = [ConcurrentTrie(dialect, hash_mask=mask) for mask in ((1 << 64) - 1, 0x3F)]
    engines = [LockedTrie(dialect), NaiveMatcher(dialect), *tries, CachedMatcher(LockedTrie(dialect))]
    for n, pattern in enumerate(data.draw(st.lists(short_patterns(dialect), max_size=10))):
        for engine in engines:
            engine.subscribe(pattern, n)
    asked = data.draw(short_patterns(dialect))
    expected = [each for each in engines[0].subscriptions() if overlaps(each.pattern, asked, dialect)]
    for engine in engines:
        assert list(map(without_number, overlapping(engine, asked))) == list(map(without_number, expected))
    for unchanging in (engines[0].freeze(), tries[0].snapshot(), tries[1].snapshot()):
        found = map(without_number, overlapping(unchanging, asked))
        assert sorted(found, key=str) == sorted(map(without_number, expected), key=str)
    prefix = data.draw(short_patterns(dialect))
    assert list(engines[0].subscriptions(prefix)) == list(engines[1].subscriptions(prefix))


@pytest.mark.parametrize("engine", [LockedTrie, ConcurrentTrie])
def test_reverse_match_compares_only_what_begins_alike(engine, monkeypatch):
    matcher = engine("mqtt")
    for k in range(2_000):
        matcher.subscribe(f"plant/{k}/+", k)
    everywhere = [matcher.subscribe(pattern, 0) for pattern in ("#", "plant/#", "+/7/pump", "+/+/pump", "plant/+")]
    calls, apart = [], relations._apart
    monkeypatch.setattr(relations, "_apart", lambda *each: calls.append(each[0]) or apart(*each))
    found = {each.pattern for each in overlapping(matcher, "plant/7/pump")}
    assert found == {"plant/7/+", *(each.pattern for each in everywhere[:-1])}
    assert 5 <= len(calls) <= 15  # a ConcurrentTrie has compared the first bits of some hashes only


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_a_filter_knows_whether_anything_matches(name, reduce, data):
    dialect = DIALECTS[name]
    patterns = data.draw(st.lists(short_patterns(dialect), max_size=6))
    filtering = TopicFilter(patterns, dialect, block=2, reduce=reduce)
    expected = set().union(*(matched(pattern, dialect) for pattern in patterns))
    for topic in TOPICS[name][::7]:
        if topic or name == "amqp":
            assert filtering.has_interest(dialect.separator.join(topic)) == (topic in expected)


def test_what_is_subsumed_is_left_out_and_the_likeliest_comes_first():
    patterns = ["a/b", "c/+", "+/+", "d", "d/#", "e/f/g"]
    assert set(without_subsumed(patterns, MQTT)) == {"+/+", "d/#", "e/f/g"}
    filtering = TopicFilter(patterns, "mqtt", block=1)
    assert filtering.patterns[0] == "+/+"
    assert filtering.has_interest("x/y")
    assert filtering.evaluated == 1
    with pytest.raises(ValueError, match="block must be 1 or more, got 0"):
        TopicFilter([], "mqtt", block=0)


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_an_explanation_puts_the_topic_together_again(name, data):
    dialect = DIALECTS[name]
    pattern = dialect.pattern(data.draw(short_patterns(dialect)))
    found = sorted(topic for topic in TOPICS[name] if dialect.matches(pattern, topic))
    for topic in found[:: len(found) // 10 + 1]:
        taken = iter(stands_for(pattern, topic, dialect))
        words = [
            (word,) if not kind else next(taken)[1] for word, kind in zip(pattern.words, pattern.kinds, strict=True)
        ]
        assert sum(words, ()) == topic
    refused = next((topic for topic in TOPICS[name] if topic not in set(found)), None)
    if refused is not None:
        with pytest.raises(ValueError, match="does not match these words"):
            stands_for(pattern, refused, dialect)


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_what_is_left_matches_the_same_and_none_of_it_is_too_much(name, data):
    dialect = DIALECTS[name]
    patterns = data.draw(st.lists(short_patterns(dialect), max_size=8))
    kept = without_subsumed(patterns, dialect)
    assert set(kept) <= set(patterns)
    topics = {each: matched(each, dialect) for each in patterns}
    assert set().union(*(topics[each] for each in kept)) == set().union(*topics.values())
    for one, other in itertools.permutations(kept, 2):
        assert not topics[one] >= topics[other]


def test_patterns_that_have_nothing_in_common_are_not_compared(monkeypatch):
    calls = []
    monkeypatch.setattr(relations, "subsumes", lambda *each: calls.append(each) or subsumes(*each))
    many = [f"plant/{k}/pump/{k % 7}" for k in range(500)] + [f"plant/{k}/+/{k % 7}" for k in range(0, 500, 5)]
    filtering = TopicFilter([*many, "plant/+/valve/+"], "mqtt")
    assert len(filtering.patterns) == 501
    assert len(calls) <= 600  # at most one for each pattern, and not one for each pair


def test_a_word_that_no_pattern_has_is_found_when_all_letters_are_taken():
    letters = [*string.ascii_letters, *string.digits]
    assert set(without_subsumed([*letters, "a/+", "a/b", "+"], MQTT)) == {"+", "a/+"}
    longest = "+/" * 127 + "+"
    own = dataclasses.replace(MQTT, longest=len(longest), name="short")
    assert without_subsumed([*letters, longest, "#"], own) == ["#"]
    assert set(without_subsumed([*letters, longest, "a/#"], own)) == {longest, "a/#", *letters} - {"a"}
