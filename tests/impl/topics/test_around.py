"""Retained topics against a naive model; limits; notices of interest; the reasons of a match in every engine."""

import pickle
import threading

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, PLAIN, accepts, texts

from latchfree import Arena, ArenaFull
from latchfree.topics import (
    DIALECTS,
    ConcurrentTrie,
    InvalidPattern,
    InvalidTopic,
    LimitedMatcher,
    LimitReached,
    LockedTrie,
    MaskIndex,
    Matcher,
    NotifyingMatcher,
    RetainedTopics,
    UnknownSubscription,
    reasons,
)
from latchfree.topics.routing.around import Around
from latchfree_model.models import dialects as model


@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=80)
@given(data=st.data())
def test_retained_topics_are_those_that_the_pattern_matches(name, data):
    dialect, oracle = DIALECTS[name], model.DIALECTS[name]
    store, held = RetainedTopics(dialect), {}
    for n, topic in enumerate(data.draw(st.lists(texts(dialect, wild=False), max_size=16))):
        if not accepts(dialect.topic, topic):
            continue
        if data.draw(st.booleans()):
            store.put(topic, n)
            held[topic] = n
        else:
            assert store.remove(topic) == (topic in held)
            held.pop(topic, None)
        assert (topic in store, store.get(topic, "none")) == (topic in held, held.get(topic, "none"))
    assert len(store) == len(held)
    for pattern in data.draw(st.lists(texts(dialect, wild=True), max_size=8)):
        if accepts(dialect.pattern, pattern):
            expected = {topic: n for topic, n in held.items() if oracle.matches(pattern, topic)}
            assert store.match(pattern) == expected
    for topic in list(held):
        assert store.remove(topic.encode())
    assert not store._root.below  # an empty branch goes with its last topic


def test_a_pattern_visits_only_what_is_below_its_literals(monkeypatch):
    store = RetainedTopics("mqtt")
    for k in range(2_000):
        store.put(f"plant/{k}/state", k)
    many = RetainedTopics("amqp")
    many.put(".".join(["a"] * 40), 1)
    visits = []
    kind = type(store._root)
    below = kind.below
    monkeypatch.setattr(kind, "below", property(lambda node: visits.append(node) or below.__get__(node)), raising=True)
    assert store.match("plant/77/+") == {"plant/77/state": 77}
    assert len(visits) < 10
    visits.clear()
    assert many.match("#.a.#.a.#.a.#.b.#") == {}
    assert len(visits) < 1_000


def test_retained_topics_refuse_and_stay_as_they_were():
    store = RetainedTopics("mqtt", most=2)
    store.put("a", 1)
    store.put("a/b", None)
    with pytest.raises(LimitReached, match="topics retained: 2 at most; remove some") as caught:
        store.put("a/b/c", 3)
    assert (caught.value.limit, str(pickle.loads(pickle.dumps(caught.value)))) == (2, str(caught.value))
    store.put("a", 4)
    assert store.match("#") == {"a": 4, "a/b": None}
    assert store.get("a/b", 7) is None
    assert store.remove("x") is store.remove("a/b/c") is False
    for call in (lambda: store.put("+", 1), lambda: store.get(""), lambda: store.remove(5), lambda: "a/#" in store):
        with pytest.raises(InvalidTopic):
            call()
    with pytest.raises(InvalidPattern):
        store.match("#/a")
    with pytest.raises(ValueError, match="most must be 1 or more"):
        RetainedTopics(most=0)
    with pytest.raises(TypeError):
        RetainedTopics(most=1.5)
    store.clear()
    assert (len(store), store.match("#")) == (0, {})


def test_retained_topics_of_several_threads():
    store = RetainedTopics("mqtt")
    wrong = []

    def work(me):
        for k in range(300):
            store.put(f"{me}/{k % 7}", k)
            if f"{me}/{k % 7}" not in store.match(f"{me}/+"):
                wrong.append(me)
            store.remove(f"{me}/{(k + 3) % 7}")

    threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(store) == len(store.match("#"))


def test_limits_of_subscriptions():
    inner = LockedTrie("mqtt")
    inner.subscribe("a", "ann")
    matcher = LimitedMatcher(inner, each=2, in_all=3)
    assert isinstance(matcher, Matcher)
    with pytest.raises(LimitReached, match="subscriptions of 'ann': 2 at most; unsubscribe some first"):
        matcher.subscribe_many(["b", "c"], "ann")
    with pytest.raises(InvalidPattern):
        matcher.subscribe_many(["b", "#/b"], "bob")
    mine = matcher.subscribe("b", "ann")
    matcher.subscribe("b", "bob")
    with pytest.raises(LimitReached, match="subscriptions in all: 3 at most"):
        matcher.subscribe("c", "bob")
    assert len(matcher) == 3
    matcher.unsubscribe(mine)
    with pytest.raises(UnknownSubscription):
        matcher.unsubscribe(mine)
    assert len(matcher.unsubscribe_all("bob")) == 1
    assert len(matcher.subscribe_many(["x", "y"], "bob")) == 2
    for wrong in (-1, True - 2):
        with pytest.raises(ValueError, match="each must be 0 or more"):
            LimitedMatcher(inner, each=wrong)
    with pytest.raises(TypeError):
        LimitedMatcher(5)


def test_a_limit_of_fan_out():
    matcher = LimitedMatcher(LockedTrie("mqtt"), fan_out=2)
    for k in range(3):
        matcher.subscribe("a/#", k)
    matcher.subscribe("b", 1)
    assert matcher.match("b") == {1}
    assert matcher.match_many(["b", "c"]).to_pylist() == [[1], []]
    assert matcher.match_many(pa.array([], pa.string())).to_pylist() == []
    with pytest.raises(LimitReached, match="subscribers of 'a/x': 2 at most; there are 3"):
        matcher.match("a/x")
    with pytest.raises(LimitReached, match="topic in row 1: 2 at most; there are 3"):
        matcher.match_many(["b", "a/x"])
    assert len(matcher.matching("a/x")) == 3


def test_subscribing_threads_do_not_pass_a_limit():
    matcher = LimitedMatcher(LockedTrie("mqtt"), in_all=50)
    refused = []

    def work(me):
        for k in range(30):
            try:
                matcher.subscribe(f"t/{k}", me)
            except LimitReached:
                refused.append(me)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(matcher), len(refused)) == (50, 40)


def test_notices_of_interest():
    inner = LockedTrie("mqtt")
    old = inner.subscribe("old", 0)
    told = []
    matcher = NotifyingMatcher(inner, told.append)
    first, second = matcher.subscribe("a/+", 1), matcher.subscribe("a/+", 2)
    assert [(each.subscription, each.came, each.left, each.first, each.last) for each in told] == [
        (first, True, 1, True, False),
        (second, True, 2, False, False),
    ]
    told.clear()
    matcher.unsubscribe(first)
    matcher.unsubscribe_all(2)
    matcher.unsubscribe(old)
    assert [(each.subscription, each.left, each.first, each.last) for each in told] == [
        (first, 1, False, False),
        (second, 0, False, True),
        (old, 0, False, True),
    ]
    told.clear()
    with pytest.raises(InvalidPattern):
        matcher.subscribe_many(["a", "#/"], 1)
    with pytest.raises(UnknownSubscription):
        matcher.unsubscribe(old)
    assert told == []
    with pytest.raises(TypeError, match="tell must be a function"):
        NotifyingMatcher(inner, None)


def test_who_is_told_may_change_the_matcher_and_may_fail():
    seen = []

    def tell(change):
        seen.append((change.subscription.pattern, change.came))
        if change.first and change.subscription.pattern == "a":
            matcher.subscribe("b", "also")
        if change.subscription.pattern == "bad":
            raise RuntimeError("no bridge")

    matcher = NotifyingMatcher(LockedTrie("mqtt"), tell)
    matcher.subscribe("a", 1)
    assert seen == [("a", True), ("b", True)]
    with pytest.raises(RuntimeError, match="no bridge"):
        matcher.subscribe("bad", 1)
    assert matcher.match("bad") == {1}
    assert sorted(each.pattern for each in matcher.unsubscribe_all("also")) == ["b"]


def test_what_took_effect_before_an_error_is_counted():
    told = []
    with Arena.anonymous(1 << 22) as arena:
        notifying = NotifyingMatcher(ConcurrentTrie("mqtt", arena=arena), told.append)
        notifying.subscribe("a/b", 1)
        patterns = [f"a/{k % 20_000}" for k in range(100_000)]
        with pytest.raises(ArenaFull) as raised:
            notifying.subscribe_many(patterns, 2)
        assert raised.value.done > 20_000
        assert len(notifying) == len(told) == raised.value.done + 1
        assert sum(each.first for each in told) == 20_001
        assert {each.subscription for each in told} == set(notifying.subscriptions())
        told.clear()
        for subscription in notifying.unsubscribe_all(2):
            assert subscription.subscriber == 2
        assert sum(each.last for each in told) == 20_000
        assert min(each.left for each in told) == 0
        limited = LimitedMatcher(ConcurrentTrie("mqtt", arena=arena), each=raised.value.done + 1_000)
        with pytest.raises(ArenaFull):
            limited.subscribe_many(patterns[: raised.value.done + 1_000], 2)
        held = len(limited)
        limited.unsubscribe(next(limited.subscriptions()))
        with pytest.raises(LimitReached):
            limited.subscribe_many(["a"] * (raised.value.done + 1_000 - held + 2), 2)


class Breaking(Around):
    """Takes one subscription away and fails."""

    def unsubscribe_all(self, subscriber):
        self.unsubscribe(next(each for each in self.subscriptions() if each.subscriber == subscriber))
        raise RuntimeError("broken")


def test_what_went_before_an_error_is_counted():
    told = []
    notifying = NotifyingMatcher(Breaking(LockedTrie("mqtt")), told.append)
    limited = LimitedMatcher(Breaking(LockedTrie("mqtt")), each=2)
    for matcher in (notifying, limited):
        matcher.subscribe_many(["a", "a"], 1)
        with pytest.raises(RuntimeError, match="broken"):
            matcher.unsubscribe_all(1)
    told.clear()
    notifying.unsubscribe(next(notifying.subscriptions()))
    assert [(each.left, each.last) for each in told] == [(0, True)]
    limited.subscribe("b", 1)
    with pytest.raises(LimitReached):
        limited.subscribe("b", 1)


@pytest.mark.parametrize("make", [*PLAIN, "frozen"])
def test_reasons_in_every_engine(make):
    matcher = LockedTrie("mqtt") if make == "frozen" else make("mqtt")
    for k, pattern in enumerate(["a/+/c", "a/#", "x", "$share/g/+/b/#"]):
        matcher.subscribe(pattern, k)
    matcher = MaskIndex.of(matcher.subscriptions(), "mqtt") if make == "frozen" else matcher
    found = {each.subscriber: said for each, said in reasons(matcher, "a/b/c").items()}
    assert found == {0: [("+", ("b",))], 1: [("#", ("b", "c"))], 3: [("+", ("a",)), ("#", ("c",))]}
    with pytest.raises(InvalidTopic):
        reasons(matcher, "+")
