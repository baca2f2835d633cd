"""The subscriptions of a subscriber, and those below a prefix: the same as by reading all, and no others are read."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import DIALECT_NAMES, accepts, texts

from latchfree import Arena
from latchfree.topics import DIALECTS, ConcurrentTrie, LockedTrie

WHO = [0, 7, -7, 1 << 61, "ann", "ann ", "bea", "", b"ann", b"", "é" * 9]
ARENA = Arena.anonymous(64 << 20)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Arena.create(path=tmp_path_factory.mktemp("arena") / "arena", capacity=64 << 20) as arena:
        yield arena


@pytest.mark.parametrize("kind", ["private", "shared"])
@pytest.mark.parametrize("name", DIALECT_NAMES)
@settings(max_examples=12)
@given(data=st.data())
def test_the_same_as_by_reading_all(name, kind, shared, data):
    dialect = DIALECTS[name]
    if kind == "private":
        trie = ConcurrentTrie(dialect, arena=ARENA)
    else:
        trie = ConcurrentTrie.create(shared, "trie", dialect)
    try:
        plain = LockedTrie(dialect)
        for pattern in data.draw(st.lists(texts(dialect, wild=True), max_size=16)):
            if accepts(dialect.pattern, pattern):
                who, queue = data.draw(st.sampled_from(WHO)), data.draw(st.sampled_from([None, "q", "queue-12"]))
                if not pattern.startswith("$share"):
                    trie.subscribe(pattern, who, queue=queue)
                    plain.subscribe(pattern, who, queue=queue)
        for prefix in [None, *data.draw(st.lists(texts(dialect, wild=True), max_size=6))]:
            expected = [(each.pattern, repr(each.subscriber), each.queue) for each in plain.subscriptions(prefix)]
            found = [(each.pattern, repr(each.subscriber), each.queue) for each in trie.subscriptions(prefix)]
            assert sorted(found, key=repr) == sorted(expected, key=repr)
        for who in WHO:
            gone = [(each.pattern, each.subscriber, each.queue) for each in trie.unsubscribe_all(who)]
            also = [(each.pattern, each.subscriber, each.queue) for each in plain.unsubscribe_all(who)]
            assert sorted(gone, key=repr) == sorted(also, key=repr)
            assert len(trie) == len(plain)
        assert len(trie) == 0
    finally:
        if kind == "shared":
            ConcurrentTrie.unlink(shared, "trie")


def test_equal_objects_are_one_subscriber_and_only_what_is_asked_for_is_read(monkeypatch):
    trie = ConcurrentTrie("mqtt", arena=ARENA)
    for k in range(500):
        trie.subscribe(f"plant/{k % 50}/pump", k)
    mine = [trie.subscribe("plant/7/+", ("me", 1)), trie.subscribe("$share/g/plant/7", ("me", 1))]
    read, reads = trie._store.read, []
    monkeypatch.setattr(type(trie._store), "read", lambda _, node: reads.append(node) or read(node))
    with trie.snapshot() as snapshot:
        assert set(snapshot.subscriptions_of(("me", 1))) == set(mine)
        assert len(reads) == 2
        assert len(list(snapshot.subscriptions("plant/7"))) == len(reads) - 2 == 12
    assert set(trie.unsubscribe_all(("me", 1))) == set(mine)
    assert trie.unsubscribe_all(7.0)[0].subscriber == 7
    assert trie.unsubscribe_all("nobody") == []
    assert len(trie) == 499
