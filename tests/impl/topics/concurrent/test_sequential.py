"""One thread: the trie agrees with a list of subscriptions, keeps its shape, and gives all memory back."""

import pytest
from ctrie_exact import exact
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_walk import check_shape

from latchfree import Arena
from latchfree.errors import ArenaFull
from latchfree.topics import InvalidPattern, InvalidTopic, UnknownSubscription
from latchfree.topics.concurrent.trie import ConcurrentTrie
from latchfree_model.models.dialects import DIALECTS

#: All bits; none, so that all words are taken for one; few; none of the first twelve, so that chains are long.
MASKS = {"all": (1 << 64) - 1, "none": 0, "few": 0o3, "late": (1 << 62) | (1 << 20)}

WORDS = ["", "a", "b", "c", "ab", "$s", "abcdefgh", "abcdefghi", "a+", "ä"]


def texts(dialect, pattern):
    rules = DIALECTS[dialect]
    check = rules.check_pattern if pattern else rules.check_topic
    wild = [rules.one, rules.many] * 2 if pattern else []

    def valid(text):
        try:
            check(text)
        except ValueError:
            return False
        return True

    return st.lists(st.sampled_from(WORDS + wild), max_size=5).map(rules.separator.join).filter(valid)


def steps(dialect):
    return st.lists(
        st.one_of(
            st.tuples(st.just("subscribe"), texts(dialect, True), st.integers(0, 3)),
            st.tuples(st.just("unsubscribe"), st.integers(0, 1 << 20), st.none()),
            st.tuples(st.just("match"), texts(dialect, False), st.none()),
        ),
        max_size=40,
    )


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_agrees_with_a_list(dialect, mask):
    topics = list(map(DIALECTS[dialect].separator.join, (["a", "b"], ["$s", "a"], ["ab", "c", "a", "b"])))

    @settings(max_examples=100, deadline=None)
    @given(program=steps(dialect))
    def run(program):
        arena = Arena.anonymous(8 << 20)
        trie = ConcurrentTrie(dialect, arena=arena, hash_mask=MASKS[mask])
        live = []

        def expect(topic):
            matching = [each for each in live if DIALECTS[dialect].matches(each.pattern, topic)]
            assert trie.match(topic) == {each.subscriber for each in matching}
            assert sorted(trie.matching(topic), key=repr) == sorted(matching, key=repr)
            assert trie.has_interest(topic) == bool(matching)
            assert sorted(trie.match_many([topic]).to_pylist()[0]) == sorted({each.subscriber for each in matching})

        for what, argument, subscriber in program:
            if what == "subscribe":
                live.append(trie.subscribe(argument, subscriber))
            elif what == "match":
                expect(argument)
            elif live:
                gone = live.pop(argument % len(live))
                trie.unsubscribe(gone)
                with pytest.raises(UnknownSubscription):
                    trie.unsubscribe(gone)
        for topic in topics:
            expect(topic)
        assert check_shape(trie) == len(live) == len(trie)
        assert sorted(trie.subscriptions(), key=repr) == sorted(live, key=repr)
        exact(arena, [trie])
        for each in live:
            trie.unsubscribe(each)
        assert check_shape(trie) == 0

    run()


def nodes(trie):
    return exact(trie.arena, [trie]).nodes


@pytest.mark.parametrize("order", ["stack", "queue", "at once"])
def test_a_thousand_pairs_leave_nothing(order):
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))
    kept = [trie.subscribe(f"a/{k % 7}/+", k) for k in range(50)]
    before = nodes(trie)
    patterns = [f"{'/'.join('abcdefg'[: k % 8])}/x{k}/{'+' if k % 3 else '#'}" for k in range(1000)]
    if order == "at once":
        for pattern in patterns:
            trie.unsubscribe(trie.subscribe(pattern, 1))
    else:
        made = [trie.subscribe(pattern, 1) for pattern in patterns]
        for each in made if order == "queue" else reversed(made):
            trie.unsubscribe(each)
    assert nodes(trie) == before
    assert check_shape(trie) == len(kept)


def test_the_published_sequential_overflow():
    """Subscribe a, subscribe a.b, unsubscribe a.b, look up a.c: a tomb below a branch with subscribers (C2)."""
    trie = ConcurrentTrie("amqp")
    trie.subscribe("a", 1)
    trie.unsubscribe(trie.subscribe("a.b", 2))
    assert trie.match("a.c") == set()
    assert trie.match("a") == {1}
    trie.subscribe("a.c", 3)
    assert trie.match("a.c") == {3}


def test_subscribing_twice_and_unsubscribing_once_leaves_one():
    trie = ConcurrentTrie("nats")
    first, second = trie.subscribe("a.>", 5), trie.subscribe("a.>", 5)
    trie.unsubscribe(first)
    assert trie.match("a.b") == {5}
    trie.unsubscribe(second)
    assert trie.match("a.b") == set()


def test_long_patterns_that_share_all_but_the_end():
    arena = Arena.anonymous(256 << 20)
    trie = ConcurrentTrie("mqtt", arena=arena)
    text = "/" * 199
    made = [trie.subscribe(text + end, k) for k, end in enumerate(["a", "b", "+", "#", "a"])]
    assert trie.match(text + "a") == {0, 2, 3, 4}
    assert check_shape(trie) == 5
    for each in made:
        trie.unsubscribe(each)
    assert check_shape(trie) == 0
    exact(arena, [trie])


def test_many_subscribers_of_one_pattern_are_split_and_not_copied():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))
    made = [trie.subscribe("a/b", k) for k in range(3000)]
    assert trie.match("a/b") == set(range(3000))
    assert sorted(trie.match_many(["a/b", "a", "a/b"]).to_pylist()[2]) == list(range(3000))
    assert check_shape(trie) == 3000
    for each in made[1:]:
        trie.unsubscribe(each)
    assert trie.match("a/b") == {0}
    assert check_shape(trie) == 1


def test_a_word_of_many_bytes_and_one_with_nul():
    trie = ConcurrentTrie("amqp")
    long = "x" * 200
    trie.subscribe(f"{long}.*", 1)
    trie.subscribe("a\0.b", 2)
    trie.subscribe("a.b", 3)
    assert trie.match(f"{long}.") == {1}
    assert trie.match("a\0.b") == {2}
    assert trie.match("a.b") == {3}


def test_queue_groups_and_other_subscribers_come_back_as_they_were():
    trie = ConcurrentTrie("mqtt")
    shared = trie.subscribe("$share/g/a/+", "me")
    queued = trie.subscribe("a/b", (1, 2), queue="q")
    assert trie.match("a/b") == {"me", (1, 2)}
    assert set(trie.matching("a/b")) == {shared, queued}
    assert set(trie.subscriptions()) == {shared, queued}
    assert set(trie.subscriptions("a")) == {shared, queued}
    assert set(trie.subscriptions("a/b")) == {queued}
    trie.unsubscribe(shared)
    assert trie.match("a/b") == {(1, 2)}


def test_six_many_against_forty_words():
    trie = ConcurrentTrie("amqp")
    trie.subscribe("#.a.#.b.#.c.#.d.#.e.#.z", 1)
    trie.subscribe("#.a.#.b.#.c.#.d.#.e.#.y", 2)
    key = ".".join("abcde" * 8)
    assert trie.match(key) == set()
    assert trie.match(key + ".y") == {2}


def test_a_snapshot_and_a_frozen_index_stay_as_they_were():
    trie = ConcurrentTrie("mqtt")
    kept = trie.subscribe("a/+", 1)
    gone = trie.subscribe("a/#", "two")
    before, index = trie.snapshot(), trie.freeze()
    trie.unsubscribe(gone)
    added = trie.subscribe("#", 3)
    assert set(before) == {kept, gone}
    assert index.match("a/b") == before.match("a/b") == {1, "two"}
    difference = trie.snapshot().since(before)
    assert (difference.added, difference.removed) == ({added}, {gone})


def test_a_queue_name_too_long_is_refused_and_nothing_changes():
    trie = ConcurrentTrie("nats")
    with pytest.raises(ValueError, match=r"has 70,000 bytes, and 65,535 are allowed"):
        trie.subscribe("a", 1, queue="q" * 70_000)
    assert len(trie) == 0


def test_an_invalid_row_is_named_and_nothing_changes():
    trie = ConcurrentTrie("mqtt")
    with pytest.raises(InvalidPattern, match="row 1: "):
        trie.subscribe_column(["a/b", "a#"], [1, 2])
    assert len(trie) == 0
    for bad in ("a/+", "", "x" * 65_536, "a\0"):
        with pytest.raises(InvalidTopic, match="row 2: "):
            trie.match_many(["a", "b", bad])


def fill(trie, made):
    """Subscribe until the arena is full."""
    while True:
        made.append(trie.subscribe(f"{len(made)}/{'x' * 300}", len(made)))


def test_a_full_arena_in_the_midst_of_many_says_how_many_are_there():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(4 << 20))
    patterns = [f"{number}/{'x' * 300}" for number in range(20_000)]
    with pytest.raises(ArenaFull) as caught:
        trie.subscribe_many(patterns, 1)
    assert "nothing changed" not in str(caught.value)
    assert 100 < caught.value.done == len(trie)
    assert {each.pattern for each in trie.subscriptions()} == {*patterns[: caught.value.done]}


def test_a_full_arena_is_an_error_and_changes_nothing():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(4 << 20))
    made = []
    with pytest.raises(ArenaFull, match="nothing changed"):
        fill(trie, made)
    assert len(made) > 100
    assert sorted(each.number for each in trie.subscriptions()) == [each.number for each in made]
    for each in made:
        trie.unsubscribe(each)
    assert check_shape(trie) == 0
