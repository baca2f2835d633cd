"""Dialects: the cases real brokers agree on, and what errors say."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, accepts, texts

from latchfree.topics import DIALECTS, MQTT, InvalidPattern, InvalidTopic, Kind, get_dialect
from latchfree_model.models import dialects as model

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
