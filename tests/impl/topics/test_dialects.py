"""Dialects: the cases real brokers agree on, and what errors say."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, accepts, texts

from latchfree import Arena
from latchfree.topics import (
    DIALECTS,
    MQTT,
    ConcurrentTrie,
    InvalidPattern,
    InvalidTopic,
    Kind,
    LockedTrie,
    MaskIndex,
    NaiveMatcher,
    get_dialect,
)
from latchfree_model.models import dialects as model

ARENA = Arena.anonymous(64 << 20)
CASES = [json.loads(line) for line in (Path(__file__).parents[2] / "model/data/topics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dialect']} {case['pattern']!r} {case['topic']!r}")
def test_the_cases_of_the_brokers(case):
    dialect = DIALECTS[case["dialect"]]
    try:
        outcome = dialect.matches(dialect.pattern(case["pattern"]), dialect.topic(case["topic"]))
    except InvalidPattern:
        outcome = "invalid-pattern"
    except InvalidTopic:
        outcome = "invalid-topic"
    assert outcome == {"match": True, "no-match": False}.get(case["expect"], case["expect"])


@pytest.mark.parametrize("name", DIALECT_NAMES)
@given(data=st.data())
def test_agrees_with_the_model(name, data):
    ours, theirs = DIALECTS[name], model.DIALECTS[name]
    pattern, topic = data.draw(texts(ours, wild=True)), data.draw(texts(ours, wild=False))
    assert accepts(ours.pattern, pattern) == accepts(theirs.check_pattern, pattern)
    assert accepts(ours.topic, topic) == accepts(theirs.check_topic, topic)
    if accepts(ours.pattern, pattern) and accepts(ours.topic, topic):
        assert ours.matches(ours.pattern(pattern), ours.topic(topic)) == theirs.matches(pattern, topic)


@pytest.mark.parametrize(
    ("name", "pattern", "position", "rule"),
    [
        ("amqp", "x" * 256, None, "it has 256 bytes, and 255 are allowed"),
        ("nats", "a b", 1, "a token must not have white space"),
        ("nats", "a.b\0", 3, "a token must not have NUL"),
        ("nats", "a..b", 2, "a token must not be empty"),
        ("nats", "a.>.b", 2, "'>' must be the last token"),
        ("mqtt", "", None, "it must not be empty"),
        ("mqtt", "$share/g", 8, "expected $share/name/filter"),
        ("mqtt", "$share//a", 7, "the share name must not be empty"),
        ("mqtt", "$share/a+/b", 8, "the share name must not have '+', '#' or NUL"),
        ("mqtt", "$share/g/", None, "the filter must not be empty"),
        ("mqtt", "a/#/b", 2, "'#' must be the whole last level"),
        ("mqtt", "a/b+", 3, "'+' must be a whole level"),
        ("mqtt", "a/\0", 2, "it must not have NUL"),
        ("mqtt", "é" * 32768, None, "it has 65,536 bytes, and 65,535 are allowed"),
        ("mqtt", "a\ud800", 1, "it must be encodable in UTF-8"),
        ("mqtt", b"ab\xff", 2, "it must be UTF-8"),
        ("mqtt", 7, None, "it must be str or UTF-8 bytes, not int"),
    ],
)
def test_errors_name_the_place_and_the_rule(name, pattern, position, rule):
    with pytest.raises(InvalidPattern) as caught:
        DIALECTS[name].pattern(pattern)
    assert (caught.value.position, caught.value.rule) == (position, rule)
    assert f"is no pattern of {name}: {rule}" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value.at_row(3)))
    assert isinstance(again, InvalidPattern)
    assert str(again) == f"row 3: {caught.value}"


@pytest.mark.parametrize("name", DIALECT_NAMES)
@pytest.mark.parametrize("signs", ["|?:", ";=%", "~^_", "<{}", "QZ="])
@settings(max_examples=25)
@given(data=st.data())
def test_a_dialect_with_other_characters_has_the_same_rules(name, signs, data):
    base = DIALECTS[name]
    own = replace(base, name="mine", separator=signs[0], one=signs[1], many=signs[2])
    there = str.maketrans(base.separator + base.one + base.many, signs)
    patterns = data.draw(st.lists(texts(base, wild=True), max_size=8))
    topics = data.draw(st.lists(texts(base, wild=False), max_size=8))
    oracle = model.DIALECTS[name]
    for text in patterns:
        assert accepts(own.pattern, text.translate(there)) == accepts(base.pattern, text)
    for text in topics:
        assert accepts(own.topic, text.translate(there)) == accepts(base.topic, text)
    valid = [text for text in patterns if accepts(base.pattern, text)]
    published = [text for text in topics if accepts(base.topic, text)]
    expected = [{k for k, pattern in enumerate(valid) if oracle.matches(pattern, topic)} for topic in published]
    column = pa.array([text.translate(there) for text in published], pa.string())
    live, naive = ConcurrentTrie(own, arena=ARENA), NaiveMatcher(own)
    for k, text in enumerate(valid):
        live.subscribe(text.translate(there), k)
        naive.subscribe(text.translate(there), k)
    assert {each.pattern for each in live.subscriptions()} == {text.translate(there) for text in valid}
    for engine in (live, naive, naive.freeze()):
        assert [set(row) for row in engine.match_many(column).to_pylist()] == expected
        assert [set(engine.match(topic)) for topic in column.to_pylist()] == expected
    for bad in [text.translate(there) for text in topics if not accepts(base.topic, text)]:
        for engine in (live, naive, naive.freeze()):
            with pytest.raises(InvalidTopic):
                engine.match_many(pa.array([bad]))


@pytest.mark.parametrize("make", [ConcurrentTrie, NaiveMatcher, LockedTrie, lambda own: MaskIndex.build([], [], own)])
@pytest.mark.parametrize(
    ("changed", "good", "bad"),
    [
        ({"most_words": 3}, "a/b/c", "a/b/c/d"),
        ({"most_words": 65_536}, "a/" * 30_000 + "a", "a/+"),
        ({"longest": 7}, "a/b/cde", "a/b/cdef"),
        ({}, "/" * 199, "/" * 200),
    ],
)
def test_limits_hold_in_bulk_as_in_single_calls(make, changed, good, bad):
    matcher = make(replace(MQTT, name="mine", **changed) if changed else MQTT)
    assert matcher.match_many(pa.array([good])).to_pylist() == [[]]
    assert matcher.match(good) == frozenset()
    with pytest.raises(InvalidTopic) as caught:
        matcher.match_many(pa.array([good, bad]))
    assert caught.value.row == 1
    with pytest.raises(InvalidTopic):
        matcher.match(bad)


def test_a_deep_pattern_is_refused_unless_you_allow_it():
    """One pattern of 30,000 levels made each later call of a bitmap engine a hundred times slower."""
    deep = "/".join(["d"] * 30_000)
    matcher = LockedTrie("mqtt")
    with pytest.raises(InvalidPattern, match="it has 30,000 words, and 200 are allowed"):
        matcher.subscribe(deep, 1)
    assert len(matcher) == 0
    allowed = LockedTrie(replace(MQTT, most_words=30_000))
    allowed.subscribe(deep, 1)
    assert allowed.match(deep) == {1}


def test_functions_of_yours_are_kept_and_asked():
    own = replace(MQTT, name="mine", separator=".", topic_defect=lambda text: ("no x", 0) if "x" in text else None)
    assert own.own
    assert not replace(MQTT, name="mine", separator=".").own
    for engine in (LockedTrie(own), MaskIndex.build(["#"], [1], own), ConcurrentTrie(own, arena=ARENA)):
        with pytest.raises(InvalidTopic, match="no x") as caught:
            engine.match_many(pa.array(["a.b", "a.x"]))
        assert caught.value.row == 1
    with pytest.raises(TypeError, match="topic_defect of a dialect must be a function of a text, not str"):
        replace(MQTT, topic_defect="x")
    again = pickle.loads(pickle.dumps(replace(MQTT, name="mine", separator=".")))
    assert again.pattern("$share.g.a.+").group == "g"
    with pytest.raises(InvalidPattern, match=r"expected \$share\.name\.filter"):
        again.pattern("$share.g")


def test_topics_say_what_is_wrong_too():
    with pytest.raises(InvalidTopic, match=r"'a/\+' is no topic of mqtt: .* wildcard '\+', at character 2"):
        MQTT.topic("a/+")


def test_a_limit_of_words():
    dialect = replace(MQTT, most_words=3)
    assert dialect.topic("a/b/c") == ("a", "b", "c")
    with pytest.raises(InvalidTopic, match="it has 4 words, and 3 are allowed"):
        dialect.topic("a/b/c/d")
    with pytest.raises(InvalidPattern, match="it has 4 words, and 3 are allowed"):
        dialect.pattern("a/b/c/#")


def test_parsed_patterns():
    pattern = MQTT.pattern(b"$share/workers/+/x/#")
    assert pattern.words == ("+", "x", "#")
    assert pattern.kinds == (Kind.ONE, Kind.LITERAL, Kind.MANY)
    assert (pattern.group, pattern.wildcards, pattern.literal, pattern.wild_first) == ("workers", 2, False, True)
    assert DIALECTS["amqp"].pattern("").words == ()


def test_an_unknown_dialect():
    with pytest.raises(ValueError, match="no topic dialect is called 'kafka'; there are amqp, nats, mqtt"):
        get_dialect("kafka")
