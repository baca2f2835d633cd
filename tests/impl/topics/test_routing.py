"""Queue groups, the result cache, remote interest, and matching on fields."""

import gc
import random
import threading
import tracemalloc
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threads_together import together

from latchfree.topics import (
    PRESENT,
    CachedMatcher,
    FieldMatcher,
    FrozenMatcher,
    InvalidPattern,
    InvalidTopic,
    LockedTrie,
    Matcher,
    QueueGroups,
    Random,
    RemoteInterest,
    RoundRobin,
    RoutedSubKey,
    Sticky,
    UnknownSubscription,
)


def test_nats_groups_are_known_by_name():
    trie = LockedTrie("nats")
    plain = trie.subscribe("a.b", "all")
    members = [trie.subscribe(pattern, n, queue="workers") for n, pattern in enumerate(["a.*", "a.b", "a.>"])]
    groups = QueueGroups(trie)
    for turn in range(6):
        assert groups.route("a.b") == [plain, members[turn % 3]]
    assert trie.match("a.b") == {"all", 0, 1, 2}


def test_mqtt_groups_are_known_by_name_and_filter():
    trie = LockedTrie("mqtt")
    first = [trie.subscribe("$share/g/a/+", n) for n in range(2)]
    other = trie.subscribe("$share/g/a/b", 2)
    groups = QueueGroups(trie)
    assert groups.route("a/b") == [first[0], other]
    assert groups.route("a/b") == [first[1], other]
    assert {each.queue for each in first} == {"g"}


def test_in_turn_nobody_starves_who_matches_only_some_messages():
    """A counter of the group gave all 2,000 to A; nats-server 2.9.10, at random, gave 1,479 and 521."""
    trie = LockedTrie("nats")
    trie.subscribe("jobs.*", "A", queue="w")
    trie.subscribe("jobs.new", "B", queue="w")
    groups = QueueGroups(trie)
    seen = Counter(groups.route(topic)[0].subscriber for topic in ["jobs.new", "jobs.old"] * 1_000)
    assert seen == {"A": 1_001, "B": 999}  # the first goes to A, who subscribed first


@given(
    asked=st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=6),
    published=st.lists(st.integers(0, 4), max_size=60),
)
def test_in_turn_a_member_gets_one_of_any_m_messages_that_match(asked, published):
    trie = LockedTrie("nats")
    for member, topics in enumerate(asked):
        for topic in topics:
            trie.subscribe(f"t.{topic}", member, queue="q")
    groups, members = QueueGroups(trie), sum(map(len, asked))
    waited = Counter()
    for topic in published:
        matching = {each.number for each in trie.matching(f"t.{topic}")}
        for chosen in groups.route(f"t.{topic}"):
            waited.update(matching - {chosen.number})
            waited[chosen.number] = 0
    assert max(waited.values(), default=0) < members


def test_the_turns_of_members_that_have_gone_are_forgotten():
    matcher, turns = LockedTrie("nats"), RoundRobin()
    groups = QueueGroups(matcher, turns)
    for k in range(1_000):
        guest = matcher.subscribe("a", k, queue="one group")
        assert groups.route("a") == [guest]
        matcher.unsubscribe(guest)
    assert len(turns) < 100


@pytest.mark.parametrize(
    ("pick", "different"), [(Random(1), 12), (Sticky(), 12), (lambda group, members, topic: members[-1], 3)]
)
def test_exactly_one_of_each_group(pick, different):
    trie = LockedTrie("nats")
    for n in range(12):
        trie.subscribe("a.>", n, queue=f"q{n % 3}")
    groups = QueueGroups(trie, pick)
    seen = Counter()
    for n in range(300):
        routed = groups.route(f"a.{n}")
        assert sorted(each.queue for each in routed) == ["q0", "q1", "q2"]
        seen.update(each.subscriber for each in routed)
    assert len(seen) == different


def test_sticky_moves_only_what_it_must():
    trie = LockedTrie("nats")
    members = [trie.subscribe("a.>", n, queue="q") for n in range(5)]
    groups = QueueGroups(trie, Sticky())
    topics = [f"a.{n}" for n in range(200)]
    before = {topic: groups.route(topic)[0] for topic in topics}
    assert before == {topic: groups.route(topic)[0] for topic in topics}
    trie.unsubscribe(members[2])
    for topic in topics:
        assert (groups.route(topic)[0] == before[topic]) == (before[topic] != members[2])


def test_the_cache_never_answers_with_the_past(rng):
    cached, plain = CachedMatcher(LockedTrie("mqtt"), entries=8, sweep=3), LockedTrie("mqtt")
    assert isinstance(cached, Matcher)
    topics = [f"a/{n}" for n in range(12)]
    held = []
    for _ in range(600):
        step = rng.random()
        if step < 0.1:
            pattern = rng.choice(["a/+", "a/#", *topics])
            held.append((cached.subscribe(pattern, len(held)), plain.subscribe(pattern, len(held))))
        elif step < 0.18 and held:
            mine, theirs = held.pop(rng.randrange(len(held)))
            cached.unsubscribe(mine)
            plain.unsubscribe(theirs)
        elif step < 0.7:
            topic = rng.choice(topics)
            assert cached.match(topic, cached=step < 0.6) == plain.match(topic)
            assert cached.has_interest(topic) == plain.has_interest(topic)
        else:
            many = rng.choices(topics, k=rng.randint(0, 20))
            rows = cached.match_many(many, cached=step < 0.95).to_pylist()
            assert [sorted(row) for row in rows] == [sorted(plain.match(topic)) for topic in many]
        details = cached.stats().details
        assert details["cache entries"] <= 16
    assert details["cache hits"] > 100
    assert details["cache misses"] > 100
    assert 0 < details["cache hit rate"] < 1
    assert len(cached) == len(held)
    assert cached.snapshot().pairs() == cached.freeze().snapshot().pairs()


def test_many_changes_go_through_the_cache():
    cached = CachedMatcher(LockedTrie("mqtt"))
    assert cached.match("a") == cached.match("b") == frozenset()
    made = cached.subscribe_many(["a", "b"], 1, queue="q")
    assert cached.match("a") == cached.match("b") == {1}
    with pytest.raises(InvalidPattern, match="row 1"):
        cached.subscribe_many(["c", "#/c"], 2)
    assert cached.unsubscribe_all(1) == made
    assert cached.match("a") == cached.match("b") == frozenset()
    frozen = CachedMatcher(cached.freeze())
    for call in (frozen.subscribe_many, frozen.subscribe):
        with pytest.raises(FrozenMatcher):
            call(["a"], 1)
    with pytest.raises(FrozenMatcher):
        frozen.unsubscribe_all(1)


def test_a_change_during_a_match_makes_its_result_stale():
    class Slow(LockedTrie):
        def match(self, topic):
            found = super().match(topic)
            if not len(self):
                cached.subscribe("a", 1)  # after the lookup, before its result is kept
            return found

    cached = CachedMatcher(Slow("mqtt"))
    assert cached.match("a") == frozenset()
    assert cached.match("a") == {1}


def test_the_cache_names_rows_and_limits():
    cached = CachedMatcher(LockedTrie("mqtt"))
    cached.match_many(["a", "b"])
    with pytest.raises(InvalidTopic) as caught:
        cached.match_many(pa.array(["a", "b", "a", "c", "a/+"]))
    assert caught.value.row == 4
    with pytest.raises(ValueError, match=r"sweep must be from 1 to 4, got 5"):
        CachedMatcher(LockedTrie("mqtt"), entries=4, sweep=5)


def test_the_cache_in_several_threads():
    cached = CachedMatcher(LockedTrie("mqtt"), entries=16, sweep=8)
    kept = cached.subscribe("t/#", "kept")
    wrong = []

    def look(seed):
        rng = random.Random(seed)
        for _ in range(2000):
            if "kept" not in cached.match(f"t/{rng.randrange(40)}"):
                wrong.append(seed)

    threads = [threading.Thread(target=look, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for n in range(300):
        cached.unsubscribe(cached.subscribe(f"t/{n % 40}", n))
    for thread in threads:
        thread.join()
    assert not wrong
    assert cached.match("t/1") == {kept.subscriber}


def test_remote_interest():
    remote = RemoteInterest("nats")
    one = RoutedSubKey("r1", "A", "a.*")
    queue = RoutedSubKey("r1", "A", "a.>", "workers")
    other = RoutedSubKey("r2", "B", "a.b")
    for key, weight in ((one, 1), (queue, 3), (other, 1)):
        remote.apply(key, weight)
    assert remote.match("A", "a.b") == {one: 1, queue: 3}
    assert remote.match("B", "a.b") == {other: 1}
    assert remote.match("C", "a.b") == {}
    remote.update_weight(queue, 5)
    assert remote.match("A", "a.b") == {one: 1, queue: 5}
    remote.apply(one, 0)
    remote.apply(one, 0)
    assert remote.match("A", "a.b") == {queue: 5}
    assert remote.has_interest("B", "a.b")
    assert remote.remove_route("r2", "A") == 0
    assert remote.remove_route("r2", "B") == 1
    assert not remote.has_interest("B", "a.b")
    remote.apply(RoutedSubKey("r1", "C", "x"))
    assert remote.remove_route("r1") == 2
    assert len(remote) == 0


def test_remote_interest_refuses():
    remote = RemoteInterest("nats")
    with pytest.raises(InvalidPattern):
        remote.apply(RoutedSubKey("r", "A", "a..b"))
    with pytest.raises(ValueError, match="weight must be 0 or more, got -1"):
        remote.apply(RoutedSubKey("r", "A", "a"), -1)
    for wrong in (float("nan"), 1.0, True, "1", None):
        with pytest.raises(TypeError, match="weight must be an integer, 0 or more"):
            remote.apply(RoutedSubKey("r", "A", "a"), wrong)
    with pytest.raises(KeyError, match="apply it first"):
        remote.update_weight(RoutedSubKey("r", "A", "a"), 2)
    with pytest.raises(InvalidTopic):
        remote.match("A", "a..b")
    assert len(remote) == 0


criteria = st.dictionaries(st.sampled_from("xyz"), st.sampled_from([1, 2, "EUR", PRESENT]), min_size=1)


@given(
    asked=st.lists(st.tuples(criteria, st.booleans()), max_size=12),
    gone=st.sets(st.integers(0, 11)),
    fields=st.dictionaries(st.sampled_from("wxyz"), st.sampled_from([1, 2, "EUR"])),
)
def test_fields_agree_with_their_meaning(asked, gone, fields):
    matcher = FieldMatcher()
    held = [matcher.subscribe(wanted, n, every=every) for n, (wanted, every) in enumerate(asked)]
    for n in gone & set(range(len(held))):
        matcher.unsubscribe(held[n])
    again = [matcher.subscribe({"x": PRESENT}, ("again", n)) for n in range(2)]
    expected = {each.subscriber for each in again if "x" in fields}
    for n, (wanted, every) in enumerate(asked):
        holds = [name in fields and value in (PRESENT, fields[name]) for name, value in wanted.items()]
        if n not in gone and (all(holds) if every else any(holds)):
            expected.add(n)
    assert matcher.match(fields) == expected
    assert len(matcher) == len(held) - len(gone & set(range(len(held)))) + 2


values = st.one_of(st.sampled_from([1, 2]), st.lists(st.sampled_from([1, 2, 3]), max_size=3), st.sets(st.just(2)))


@given(
    asked=st.lists(st.tuples(st.dictionaries(st.sampled_from("xy"), values, min_size=1), st.booleans()), max_size=6),
    fields=st.dictionaries(st.sampled_from("xyz"), values),
)
def test_fields_that_hold_several_values(asked, fields):
    def values_of(value):
        return set(value) if isinstance(value, list | set) else {value}

    matcher = FieldMatcher()
    expected = set()
    for n, (wanted, every) in enumerate(asked):
        holds = [each in values_of(fields.get(name, [])) for name, many in wanted.items() for each in values_of(many)]
        if not holds:
            with pytest.raises(ValueError, match="at least one criterion"):
                matcher.subscribe(wanted, n, every=every)
            continue
        matcher.subscribe(wanted, n, every=every)
        if all(holds) if every else any(holds):
            expected.add(n)
    assert matcher.match(fields) == expected
    assert [set(row) for row in matcher.match_many([fields, {}]).to_pylist()] == [expected, set()]


def test_fields_in_bulk_and_what_is_refused():
    matcher = FieldMatcher()
    matcher.subscribe({"tags": ["new", "paid"]}, "both")
    present = matcher.subscribe({"price": PRESENT}, "priced")
    table = pa.table({"tags": [["new", "paid"], ["new"], None], "price": [None, 5, 6]})
    assert matcher.match_many(table).to_pylist() == [["both"], ["priced"], ["priced"]]
    assert matcher.match({"price": []}) == {"priced"}
    assert matcher.hits({"price": PRESENT}) == {present: 1}
    for call in (lambda each: matcher.subscribe(each, 1), matcher.match):
        with pytest.raises(TypeError, match="the field 'tags' has a value that is not hashable, a dict"):
            call({"tags": [{}]})
    with pytest.raises(TypeError, match="row 1: fields must be a mapping"):
        matcher.match_many([{}, 5])
    with pytest.raises(UnknownSubscription):
        matcher.unsubscribe([])
    assert len(matcher) == 2


def test_the_example_of_openamq():
    matcher = FieldMatcher()
    held = [
        matcher.subscribe({"currency": "USD", "urgent": PRESENT}, 0),
        matcher.subscribe({"currency": "EUR"}, 1),
        matcher.subscribe({"market": "forex", "currency": "EUR"}, 2),
        matcher.subscribe({"urgent": PRESENT}, 3),
    ]
    assert matcher.hits({"market": "forex", "currency": "EUR"}) == {held[1]: 1, held[2]: 2}
    assert matcher.match({"currency": "JPY", "urgent": "yes"}) == {3}
    with pytest.raises(ValueError, match="at least one criterion"):
        matcher.subscribe({}, 4)
    matcher.unsubscribe(held[0])
    with pytest.raises(UnknownSubscription):
        matcher.unsubscribe(held[0])


def test_the_results_of_a_cache_take_no_more_bytes_than_allowed():
    matcher = LockedTrie("mqtt")
    matcher.subscribe_many(["#"], "everybody")
    for k in range(3_000):
        matcher.subscribe("big/#", k)
    cached = CachedMatcher(matcher, most_bytes=1 << 20)
    gc.collect()
    tracemalloc.start()
    try:
        for k in range(1_024):
            assert len(cached.match(f"big/{k}")) == 3_001
        assert tracemalloc.get_traced_memory()[0] < 1.5 * (1 << 20)
        assert 0 < cached.stats().details["cache entries"] < 20
        cached.invalidate()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 0.1 * (1 << 20)
    finally:
        tracemalloc.stop()
    before = pa.total_allocated_bytes()
    rows = cached.match_many(pa.array([f"small/{k}" for k in range(200_000)]))
    assert len(rows) == 200_000
    del rows
    assert pa.total_allocated_bytes() - before < 1 << 20
    assert cached.stats().details["cache entries"] == 1_024
    assert cached.match_many(["small/5", "other"]).to_pylist() == [["everybody"], ["everybody"]]


def test_a_result_matched_before_a_change_is_not_kept_after_it():
    """The subscription comes while the matcher is matching: from the code of another subscriber."""
    matcher = LockedTrie("mqtt")
    cached = CachedMatcher(matcher)

    class Late:
        def __hash__(self):
            if late and not matcher.stats().subscriptions > 1:
                cached.subscribe("a", "second")
            return 5

    late = False
    cached.subscribe("a", Late())
    late = True
    cached.match("a")
    assert "second" in cached.match("a")


def test_the_turns_of_groups_that_have_gone_are_forgotten():
    matcher = LockedTrie("nats")
    turns = RoundRobin()
    groups = QueueGroups(matcher, turns)
    stay = [matcher.subscribe("a.*", k, queue="stay") for k in range(3)]
    for k in range(2_000):
        guest = matcher.subscribe("a.*", "guest", queue=f"group {k}")
        chosen = groups.route("a.b")
        assert chosen[0] is stay[k % 3]
        assert chosen[1] is guest
        matcher.unsubscribe(guest)
    assert len(turns) < 100


def test_fields_in_threads():
    """Subscriptions of each thread come and go; those that stay are found all the time."""
    matcher = FieldMatcher()
    staying = [matcher.subscribe({"currency": "EUR", "n": k}, k, every=False) for k in range(50)]
    wrong = []

    def change(thread):
        for k in range(200):
            held = matcher.subscribe({"currency": ["EUR", "USD"], "thread": thread}, 1000 * thread + 1000 + k)
            if matcher.match({"currency": "EUR", "n": k % 50}) & set(range(50)) != set(range(50)):
                wrong.append((thread, k))
            matcher.unsubscribe(held)

    def match():
        table = pa.table({"currency": ["EUR", "USD", "EUR"], "n": [1, 2, 60]})
        for _ in range(200):
            found = [set(row) & set(range(50)) for row in matcher.match_many(table).to_pylist()]
            if found != [set(range(50)), {2}, set(range(50))]:
                wrong.append(found)

    together(*(lambda t=t: change(t) for t in range(3)), match)
    assert wrong == []
    assert matcher.match({"n": 7}) == {7}
    for each in staying:
        matcher.unsubscribe(each)
    assert matcher.match({"currency": "EUR"}) == frozenset()
