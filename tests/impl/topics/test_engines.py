"""All engines: equal to the model for random subscriptions that come and go; handles; bulk calls; pruning."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, PLAIN, accepts, frozen, texts

from latchfree.topics import (
    DIALECTS,
    MQTT,
    InvalidPattern,
    InvalidTopic,
    InvertedBitmap,
    LockedTrie,
    MaskIndex,
    Matcher,
    OptimizedInvertedBitmap,
    UnknownSubscription,
)
from latchfree_model.models import dialects as model


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=60)
@given(data=st.data())
def test_all_engines_agree_with_the_model(name, data):
    dialect, oracle = DIALECTS[name], model.DIALECTS[name]
    engines = [engine(dialect) for engine in PLAIN]
    held = []
    for pattern in data.draw(st.lists(texts(dialect, wild=True), max_size=24)):
        if held and data.draw(st.booleans()):
            for engine, handle in zip(engines, held.pop(data.draw(st.integers(0, len(held) - 1))), strict=True):
                engine.unsubscribe(handle)
        if accepts(dialect.pattern, pattern):
            who = data.draw(st.integers(-3, 3))
            held.append([engine.subscribe(pattern, who) for engine in engines])
    topics = [
        text for text in data.draw(st.lists(texts(dialect, wild=False), max_size=12)) if accepts(dialect.topic, text)
    ]
    pairs = [(handles[0].pattern, handles[0].subscriber) for handles in held]
    expected = [frozenset(who for pattern, who in pairs if oracle.matches(pattern, topic)) for topic in topics]
    for engine in [*engines, *frozen([handles[0] for handles in held], dialect)]:
        assert isinstance(engine, Matcher)
        assert [engine.match(topic) for topic in topics] == expected, engine
        assert [engine.has_interest(topic) for topic in topics] == [bool(each) for each in expected], engine
        rows = engine.match_many(pa.array(topics, pa.string()))
        assert [sorted(row) for row in rows.to_pylist()] == [sorted(each) for each in expected], engine
        found = [{each.subscriber for each in engine.matching(topic)} for topic in topics]
        assert found == expected, engine
        assert len(engine) == len(pairs)
    for handles in held:
        for engine, handle in zip(engines, handles, strict=True):
            engine.unsubscribe(handle)
    assert all(not engine.has_interest(topic) for engine in engines for topic in topics)


@pytest.mark.parametrize("engine", PLAIN)
class TestHandles:
    def test_each_subscription_is_its_own(self, engine):
        matcher = engine("mqtt")
        first, second = matcher.subscribe("a/+", 7), matcher.subscribe("a/+", 7)
        matcher.unsubscribe(first)
        assert matcher.match("a/b") == {7}
        matcher.unsubscribe(second)
        assert matcher.match("a/b") == frozenset()

    def test_unsubscribing_twice_or_a_foreign_handle_changes_nothing(self, engine):
        matcher, other = engine("mqtt"), engine("mqtt")
        handle = matcher.subscribe("a", 1)
        kept = matcher.subscribe("a", 2)
        foreign = other.subscribe("a", 1)
        matcher.unsubscribe(handle)
        for wrong in (handle, foreign, "a", None):
            with pytest.raises(UnknownSubscription, match=r"pass what subscribe returned, once"):
                matcher.unsubscribe(wrong)
        assert list(matcher.subscriptions()) == [kept]
        assert matcher.match("a") == {2}

    def test_invalid_texts_change_nothing(self, engine):
        matcher = engine("mqtt")
        matcher.subscribe("a/+", 1)
        with pytest.raises(InvalidPattern):
            matcher.subscribe("a/#/b", 2)
        with pytest.raises(InvalidPattern, match=r"row 1: 'b\+'"):
            matcher.subscribe_many(["b", "b+"], 2)
        with pytest.raises(TypeError, match="subscriber must be hashable"):
            matcher.subscribe("b", [])
        with pytest.raises(InvalidPattern, match="names a queue group"):
            matcher.subscribe("$share/g/b", 2, queue="q")
        for topic in ("a/+", "", b"\xff", "a\0"):
            with pytest.raises(InvalidTopic):
                matcher.match(topic)
        assert len(matcher) == 1
        assert matcher.match("a/b") == {1}

    def test_bulk_by_subscriber(self, engine):
        matcher = engine("nats")
        held = matcher.subscribe_many(["a.*", "b.>"], "me")
        matcher.subscribe("a.*", "you")
        assert matcher.match("a.x") == {"me", "you"}
        assert matcher.unsubscribe_all("me") == held
        assert matcher.match("a.x") == {"you"}
        assert matcher.unsubscribe_all("me") == []

    def test_prefix_and_statistics(self, engine):
        matcher = engine("amqp")
        for pattern in ("a.b", "a.b.#", "a.*", "ab"):
            matcher.subscribe(pattern, pattern)
        assert {each.pattern for each in matcher.subscriptions("a.b")} == {"a.b", "a.b.#"}
        assert {each.pattern for each in matcher.subscriptions("a.*")} == {"a.*"}
        matcher.match("a.b")
        matcher.match_many(["a.c", "x"])
        stats = matcher.stats()
        assert (stats.subscriptions, stats.patterns, stats.subscribers, stats.subscribes) == (4, 4, 4, 4)
        assert (stats.matches, stats.matched, stats.fan_out) == (3, 4, 4 / 3)
        assert stats.to_dict()["engine"] == engine.__name__

    def test_snapshots_differ_by_what_came_and_went(self, engine):
        matcher = engine("mqtt")
        gone, kept = matcher.subscribe("a", 1), matcher.subscribe("b", 2)
        before = matcher.snapshot()
        matcher.unsubscribe(gone)
        came = matcher.subscribe("a", 1)
        after = matcher.snapshot()
        difference = after.since(before)
        assert (difference.added, difference.removed) == ({came}, {gone})
        assert kept in after
        assert before.pairs() == after.pairs() == {("a", 1), ("b", 2)}
        assert before.match("a") == {1}

    def test_bulk_calls_name_the_row(self, engine):
        matcher = engine("mqtt")
        with pytest.raises(InvalidTopic, match=r"row 1: 'a/\+'") as caught:
            matcher.match_many(["a", "a/+"])
        assert caught.value.row == 1
        with pytest.raises(ValueError, match="topics must not be null, element 1 is"):
            matcher.match_many(pa.array(["a", None]))
        with pytest.raises(TypeError, match="topics must be strings, got an Arrow array of int64"):
            matcher.match_many(pa.array([1]))
        with pytest.raises(TypeError, match="not one str"):
            matcher.match_many("a")


@pytest.mark.parametrize("engine", [*PLAIN, "frozen"])
def test_arrow_types(engine):
    matcher = LockedTrie("mqtt") if engine == "frozen" else engine("mqtt")
    matcher.subscribe("a/+", "x")
    matcher = matcher.freeze() if engine == "frozen" else matcher
    plain = pa.array(["no", "a/b", "c"])
    for topics in (plain, plain.cast(pa.large_string()), pa.chunked_array([plain]), plain.dictionary_encode()):
        assert matcher.match_many(topics).to_pylist() == [[], ["x"], []]
    assert matcher.match_many(plain[1:]).to_pylist() == [["x"], []]
    assert matcher.match_many(pa.chunked_array([plain, plain])).to_pylist() == [[], ["x"], []] * 2
    assert matcher.match_many([]).to_pylist() == []
    assert pa.types.is_list(matcher.match_many(plain).type)


@pytest.mark.parametrize("engine", PLAIN)
def test_subscribers_of_mixed_types(engine):
    matcher = engine("mqtt")
    for who in (1, "x", (2, 3), None):
        matcher.subscribe("a", who)
    for each in (matcher, matcher.freeze()):
        assert each.match("a") == {1, "x", (2, 3), None}
        with pytest.raises(TypeError, match="do not fit one Arrow array"):
            each.match_many(["a"])


def test_a_reused_slot_keeps_no_bits():
    """The published optimised bitmap left a freed subscription's bits in its ``null`` rows."""
    matcher = OptimizedInvertedBitmap("amqp")
    matcher.subscribe("x.y.z", 0)
    matcher.unsubscribe(matcher.subscribe("a", 1))
    matcher.subscribe("a.b", 2)
    assert matcher.match("a") == frozenset()
    assert matcher.match("a.b") == {2}


EMPTY = [(LockedTrie, {"nodes": 1}), (OptimizedInvertedBitmap, {"positions": 1, "rows": 2})]


@pytest.mark.parametrize(("engine", "empty"), EMPTY)
def test_what_is_unsubscribed_leaves_nothing(engine, empty):
    matcher = engine("amqp")
    for _ in range(2):
        held = [matcher.subscribe(f"a.{n % 30}.*.#.{n}", n) for n in range(1000)]
        for handle in held:
            matcher.unsubscribe(handle)
        assert matcher.stats().details == empty


def test_a_bitmap_of_known_topics_grows_by_reindexing():
    matcher = InvertedBitmap("mqtt", topics=["a/b", "a/c"])
    matcher.subscribe("a/+", 1)
    assert matcher.match("a/b") == {1}
    assert matcher.stats().details == {"topics": 2, "reindexed": 0}
    assert matcher.match("a/new") == {1}
    assert matcher.stats().details == {"topics": 3, "reindexed": 1}
    with pytest.raises(InvalidTopic):
        InvertedBitmap("mqtt", topics=["a/+"])


@pytest.mark.parametrize("engine", [LockedTrie, "frozen"])
def test_several_wildcards_for_many_words_do_not_blow_up(engine):
    """Six, against forty words: a backtracking matcher needs hours, so that this test would not end."""
    matcher = LockedTrie("amqp")
    pattern = ".".join(["#", "a"] * 6 + ["b"])
    matcher.subscribe(pattern, 1)
    matcher.subscribe(pattern.removesuffix(".b"), 2)
    matcher = matcher.freeze() if engine == "frozen" else matcher
    assert matcher.match(".".join(["a"] * 40)) == {2}
    assert matcher.match(".".join(["a"] * 40 + ["b"])) == {1}


@pytest.mark.parametrize("engine", [*PLAIN, "frozen"])
def test_very_deep_patterns(engine):
    rules = replace(MQTT, most_words=65_536)
    matcher = LockedTrie(rules) if engine == "frozen" else engine(rules)
    deep = "/" * 65000
    for pattern in (deep, f"{deep}#", f"+{deep}"):
        matcher.subscribe(pattern, pattern[-2:])
    matcher = matcher.freeze() if engine == "frozen" else matcher
    assert matcher.match(deep) == {"//", "/#"}
    assert matcher.match(f"{deep}x/y") == {"/#"}


def test_subscribers_beyond_32_bits():
    matcher = LockedTrie("mqtt")
    for who in (2**40, -(2**63), 5):
        matcher.subscribe("a", who)
    assert matcher.freeze().match("a") == {2**40, -(2**63), 5}
    assert sorted(matcher.freeze().match_many(["a"])[0].as_py()) == [-(2**63), 5, 2**40]


@pytest.mark.parametrize("same", [True, False])
def test_one_pattern_with_very_many_subscribers(same):
    subscribers = np.arange(200_000) // (2 if same else 1)
    index = MaskIndex.build(["a/+"] * 200_000, subscribers, "mqtt")
    rows = index.match_many(["a/b", "c", "a/c"])
    assert [len(row) for row in rows] == [100_000 if same else 200_000, 0, 100_000 if same else 200_000]
    assert set(rows[2].as_py()) == set(subscribers.tolist())


def output_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_a_missing_package_is_named_with_the_extra_that_has_it():
    code = (
        "import sys\n"
        "sys.modules['pyroaring'] = None\n"
        "from latchfree import MissingExtra, topics\n"
        "for name in ('InvertedBitmap', 'OptimizedInvertedBitmap', 'FieldMatcher'):\n"
        "    try:\n"
        "        getattr(topics, name)()\n"
        "    except MissingExtra as error:\n"
        "        print(error)\n"
    )
    assert output_of(code) == 'pyroaring is not installed; fix: pip install "latchfree[topics]"\n' * 3


def test_matching_one_topic_needs_no_arrow():
    code = (
        "import sys\n"
        "sys.modules['pyarrow'] = None\n"
        "from latchfree import MissingExtra\n"
        "from latchfree.topics import ConcurrentTrie, LockedTrie, NaiveMatcher\n"
        "for engine in (ConcurrentTrie, LockedTrie, NaiveMatcher):\n"
        "    matcher = engine('mqtt')\n"
        "    matcher.subscribe('a/+', 'ann')\n"
        "    assert matcher.match('a/b') == {'ann'}\n"
        "    try:\n"
        "        matcher.match_many(['a/b'])\n"
        "    except MissingExtra as error:\n"
        "        print(error)\n"
    )
    assert output_of(code) == 'pyarrow is not installed; fix: pip install "latchfree[topics]"\n' * 3


def test_plain_engines_load_no_compiler():
    code = (
        "import sys\n"
        "from latchfree.topics import LockedTrie\n"
        "assert LockedTrie('mqtt').match('a') == set()\n"
        "print('numba' in sys.modules)\n"
    )
    assert output_of(code) == "False\n"
