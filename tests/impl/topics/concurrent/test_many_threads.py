"""More threads than slots: every operation of one topic trie, from a thousand threads at once."""

from functools import partial

import pyarrow as pa
import pytest
from ctrie_exact import exact
from threads_together import together

from latchfree import Arena, ConcurrentTrie
from latchfree_fsck import fsck

THREADS = 1_000


def every_operation(trie, n):
    """Call everything, on patterns that begin with the number of the thread; others change theirs meanwhile."""
    own = [f"{n}.{k}" for k in range(3)]
    numbers = trie.subscribe_column(pa.array(own), pa.array([n] * 3))
    kept = trie.subscribe(f"{n}.#", n + THREADS)
    assert trie.match(own[0]) == {n, n + THREADS}
    assert {each.number for each in trie.matching(own[1])} == {int(numbers[1]), kept.number}
    assert trie.has_interest(own[2])
    assert not trie.has_interest("nobody")
    assert [sorted(row) for row in trie.match_many(pa.array(own)).to_pylist()] == [[n, n + THREADS]] * 3
    snapshot = trie.snapshot()
    trie.unsubscribe(kept)
    assert snapshot.match(own[0]) == {n, n + THREADS}
    assert trie.match(own[0]) == {n}
    trie.unsubscribe_column(pa.array(own), numbers)
    assert trie.match(own[0]) == set()
    if n % 100 == 0:  # these look at all subscriptions
        assert len(trie) <= 4 * THREADS
        assert trie.unsubscribe_all(n) == []
        assert {each.subscriber % THREADS for each in trie.subscriptions()} <= set(range(THREADS)) - {n}


@pytest.mark.parametrize("place", ["private", "shared"])
def test_a_thousand_threads_call_every_operation_of_one_trie(tmp_path, place):
    if place == "private":
        trie = ConcurrentTrie("amqp", arena=Arena.anonymous(64 << 20))
        every_operation(trie, 0)  # compiled before the threads meet
        together(*[partial(every_operation, trie, n) for n in range(THREADS)])
        assert len(trie) == 0
        exact(trie.arena, [trie])
        return
    with Arena.create(path=tmp_path / "main", capacity=64 << 20) as arena:
        trie = ConcurrentTrie.create(arena, "topics")
        together(*[partial(every_operation, trie, n) for n in range(THREADS)])
        assert len(trie) == 0
    assert fsck(path=tmp_path / "main").clean
