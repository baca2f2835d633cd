"""What bulk calls take: kinds, lengths, ranges and nulls are checked before anything changes; errors name the row."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest

from latchfree import Arena
from latchfree.topics import (
    DIALECTS,
    MQTT,
    CachedMatcher,
    ConcurrentTrie,
    FieldMatcher,
    InvalidPattern,
    InvalidTopic,
    InvertedBitmap,
    LockedTrie,
    MaskIndex,
    NaiveMatcher,
    OptimizedInvertedBitmap,
    QueueGroups,
    RemoteInterest,
)

WRONG = {
    "too few": ([1], ValueError, "each of 2"),
    "too many": ([1, 2, 3], ValueError, "each of 2"),
    "none": ([], ValueError, "each of 2"),
    "a float": ([1, 1.7], TypeError, "row 1"),
    "floats": (np.array([1.0, 2.0]), TypeError, "row 0"),
    "an arrow of floats": (pa.array([1.5, 2.5]), TypeError, "row 0"),
    "a bool": ([1, True], TypeError, "row 1"),
    "bools": (np.array([True, False]), TypeError, "row 0"),
    "a null": (pa.array([1, None]), ValueError, "row 1"),
    "None": ([None, 1], ValueError, "row 0"),
    "text": (["1", "2"], TypeError, "row 0"),
    "one text": ("12", TypeError, "not one str"),
    "huge": ([1, 1 << 80], ValueError, "row 1"),
    "huge negative": ([-(1 << 80), 1], ValueError, "row 0"),
    "a matrix": (np.zeros((2, 2), np.int64), ValueError, "shape"),
    "a number": (5, TypeError, "int"),
}


@pytest.fixture(scope="module")
def trie():
    return ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("call", ["subscribe_column", "unsubscribe_column"])
def test_wrong_numbers(trie, call, case):
    numbers, error, text = WRONG[case]
    held = set(trie.subscriptions())
    with pytest.raises(error, match=text):
        getattr(trie, call)(pa.array(["a", "b"]), numbers)
    assert set(trie.subscriptions()) == held


@pytest.mark.parametrize(
    "numbers", [[1 << 62, 1], [1, -(1 << 62) - 1], np.array([1, 1 << 63], np.uint64), pa.array([-(1 << 63), 1])]
)
def test_subscribers_out_of_range(trie, numbers):
    row = [int(each) for each in np.asarray(numbers).tolist()].index(1) ^ 1
    with pytest.raises(ValueError, match=f"row {row}: "):
        trie.subscribe_column(pa.array(["a", "b"]), numbers)
    assert len(trie) == 0


@pytest.mark.parametrize("kind", [list, np.array, pa.array, lambda each: pa.chunked_array([each[:1], each[1:]])])
def test_right_numbers_of_any_kind(trie, kind):
    numbers = trie.subscribe_column(["a", "b"], kind([(1 << 62) - 1, -(1 << 62)]))
    assert trie.match("a") == {(1 << 62) - 1}
    assert trie.match_many(["b"]).to_pylist() == [[-(1 << 62)]]
    forged = [int(each) + (1 << 63) for each in numbers]
    trie.unsubscribe_column(["a", "b"], np.array(forged, np.uint64))
    with pytest.raises(ValueError, match="row 0"):
        trie.unsubscribe_column(["a", "b"], [-1, 1])
    assert len(trie) == 2
    trie.unsubscribe_column(["a", "b"], kind(numbers.astype(np.int64).tolist()))
    assert len(trie) == 0


def test_forged_handles(trie):
    made = trie.subscribe("a", 1)
    for number in (made.number + (1 << 63), made.number - (1 << 64), -1, 0, "x", None, True, 1.0):
        with pytest.raises(LookupError):
            trie.unsubscribe(dataclasses.replace(made, number=number))
    trie.unsubscribe(made)


def test_an_arrow_array_whose_offsets_lead_nowhere(trie):
    offsets = pa.py_buffer(np.array([0, 1_000_000, 2], np.int32))
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    for call in (trie.match_many, trie.snapshot().match_many, trie.freeze().match_many):
        with pytest.raises(ValueError, match="broken"):
            call(broken)
    with pytest.raises(ValueError, match="broken"):
        trie.subscribe_column(broken, [1, 2])
    with pytest.raises(ValueError, match="broken"):
        MaskIndex.build(broken, [1, 2], "mqtt")


ENGINES = {
    "concurrent": ConcurrentTrie,
    "naive": NaiveMatcher,
    "locked": LockedTrie,
    "inverted": InvertedBitmap,
    "optimized": OptimizedInvertedBitmap,
    "cached": lambda dialect: CachedMatcher(ConcurrentTrie(dialect)),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_topic_longer_than_the_dialect_allows_is_refused(dialect, engine):
    rules = DIALECTS[dialect]
    matcher = ENGINES[engine](dialect)
    matcher.subscribe("a", 1)
    matcher.subscribe(rules.many, 2)
    for extra in (1, 2, 3, 1_000, 100_000):
        topics = ["a", "a" * (rules.longest + extra), "a"]
        for reader in (matcher, matcher.snapshot(), matcher.freeze()):
            with pytest.raises(InvalidTopic, match="row 1: ") as caught:
                reader.match_many(pa.array(topics))
            assert caught.value.row == 1
            with pytest.raises(InvalidTopic):
                reader.match(topics[1])
    words = min(rules.most_words, rules.longest // 2)
    longest = rules.separator.join(["a"] * words) + "b" * (rules.longest - 2 * words + 1)
    assert matcher.match_many(["a", longest]).to_pylist()[1] == [2]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dialect_of_your_own_has_its_rules_in_bulk_calls_too(engine):
    rules = dataclasses.replace(
        MQTT, name="mine", most_words=3, topic_defect=lambda text: ("no x", 0) if "x" in text else None
    )
    matcher = ENGINES[engine](rules)
    matcher.subscribe("#", 1)
    for topic in ("a/b/c/d", "x"):
        for reader in (matcher, matcher.snapshot(), matcher.freeze()):
            with pytest.raises(InvalidTopic, match="row 2: "):
                reader.match_many(["a", "", topic])
            with pytest.raises(InvalidTopic):
                reader.match(topic)
    assert matcher.match_many(["a/b", ""]).to_pylist() == [[1], [1]]


class Liar(str):
    """Text that says something else of itself."""

    def encode(self, *arguments):
        return b"x" * 10_000

    def split(self, *arguments):
        return ["x"] * 10_000

    def __len__(self):
        return 1 << 40


class LyingBytes(bytes):
    """Bytes that say something else of themselves."""

    def __len__(self):
        return 1 << 40

    def decode(self, *arguments):
        return "x" * 10_000

    def __radd__(self, other):
        return b""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("lie", [Liar("a/b"), LyingBytes(b"a/b")])
def test_texts_of_classes_that_lie_are_what_they_hold(engine, lie):
    matcher = ENGINES[engine]("mqtt")
    made = matcher.subscribe(lie, lie if engine == "concurrent" else 1)
    assert len(matcher.match("a/b")) == len(matcher.match(lie)) == 1
    assert made.pattern == "a/b"
    assert [each.pattern for each in matcher.matching(lie)] == ["a/b"]
    matcher.unsubscribe(made)
    shared = ConcurrentTrie.create(Arena.anonymous(8 << 20), "trie", "mqtt")
    shared.subscribe("a/b", lie)
    (found,) = shared.match(lie)
    assert found == str.__str__(lie) if isinstance(lie, str) else found == b"a/b"


WRONG_CALLS = {
    "prefix": lambda trie: trie.subscriptions(5),
    "bytes prefix": lambda trie: trie.subscriptions(b"a"),
    "queue": lambda trie: trie.subscribe("a", 1, queue=5),
    "bytes queue": lambda trie: trie.subscribe("a", 1, queue=b"q"),
    "unhashable": lambda trie: trie.subscribe("a", []),
    "pattern": lambda trie: trie.subscribe(5, 1),
    "topic": lambda trie: trie.match(None),
    "topics": lambda trie: trie.match_many(5),
    "one topic": lambda trie: trie.match_many("a"),
    "numbers": lambda trie: trie.match_many([1, 2]),
    "null topic": lambda trie: trie.match_many(["a", None]),
    "handle": lambda trie: trie.unsubscribe("a"),
    "arena": lambda trie: ConcurrentTrie("mqtt", arena="here"),
    "arena of create": lambda trie: ConcurrentTrie.create("here", "a"),
    "arena of open": lambda trie: ConcurrentTrie.open(None, "a"),
    "dialect": lambda trie: ConcurrentTrie(5),
    "no dialect": lambda trie: ConcurrentTrie("smtp"),
    "mask": lambda trie: ConcurrentTrie("mqtt", hash_mask=-1),
    "long queue": lambda trie: trie.subscribe("a", 1, queue="q" * 70_000),
    "surrogate queue": lambda trie: trie.subscribe("a", 1, queue="\ud800"),
    "matcher": lambda trie: CachedMatcher(5),
    "matcher of groups": lambda trie: QueueGroups(5),
    "criteria": lambda trie: FieldMatcher().subscribe(5, 1),
    "fields": lambda trie: FieldMatcher().match([1]),
    "key": lambda trie: RemoteInterest().apply("a"),
    "entries": lambda trie: CachedMatcher(trie, 1.5, 1),
    "characters": lambda trie: dataclasses.replace(MQTT, separator="//"),
    "longest": lambda trie: dataclasses.replace(MQTT, longest=1 << 40),
    "one text of subscribers": lambda trie: MaskIndex.build(["a", "b"], "ab", "mqtt"),
    "null subscribers": lambda trie: MaskIndex.build(["a"], pa.array([None], pa.int64()), "mqtt"),
    "fewer subscribers": lambda trie: MaskIndex.build(["a", "b"], [1], "mqtt"),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_wrong_calls_raise_and_change_nothing(trie, case):
    with pytest.raises((TypeError, ValueError, LookupError)):
        WRONG_CALLS[case](trie)
    assert len(trie) == 0


LAYOUTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.parametrize("layout", [*LAYOUTS, pa.dictionary(pa.int8(), pa.string()), pa.binary(3)])
def test_texts_in_every_layout(trie, layout):
    made = trie.subscribe_column(pa.array(["a/+", "x/+"]).cast(layout), [5, 6])
    topics = pa.array(["a/b", "b/c", "x/y"]).cast(layout)
    index = MaskIndex.build(pa.array(["a/+", "x/+"]).cast(layout), [5, 6], "mqtt")
    cached = CachedMatcher(trie)
    for call in (trie.match_many, index.match_many, cached.match_many, cached.match_many):
        assert call(topics).to_pylist() == [[5], [], [6]]
        assert call(topics[1:]).to_pylist() == [[], [6]]
    trie.unsubscribe_column(pa.array(["a/+", "x/+"]).cast(layout), made)
    assert len(trie) == 0


@pytest.mark.parametrize("layout", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3)])
def test_bytes_that_are_no_utf_8_are_refused_by_row(trie, layout):
    texts = pa.array([b"a/b", b"a/\xff"]).cast(layout)
    for call in (trie.match_many, trie.freeze().match_many, LockedTrie("mqtt").match_many):
        with pytest.raises(InvalidTopic, match="it must be UTF-8") as caught:
            call(texts)
        assert caught.value.row == 1
    builds = (lambda: MaskIndex.build(texts, [1, 2], "mqtt"), lambda: trie.subscribe_column(texts, [1, 2]))
    for call in builds:
        with pytest.raises(InvalidPattern, match="it must be UTF-8") as caught:
            call()
        assert caught.value.row == 1
    assert len(trie) == 0
