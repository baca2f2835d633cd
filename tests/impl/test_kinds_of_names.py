"""A name in an arena is opened and unlinked by the class that made it, and by no other."""

import pytest

from latchfree import Arena, ConcurrentTrie, Ctrie, MessageRing, RateLimiter, RingBuffer, RingGone, sketches
from latchfree.sketches.common.errors import SketchGone
from latchfree.structures import STRUCTURES

MAKERS = {
    Ctrie: lambda arena, name: Ctrie.create(arena, name, keys=int, values=int),
    ConcurrentTrie: ConcurrentTrie.create,
    RingBuffer: lambda arena, name: RingBuffer.create(arena, name, 8),
    MessageRing: lambda arena, name: MessageRing.create(arena, name, 8),
    RateLimiter: lambda arena, name: RateLimiter.create(arena, name, 1.0),
    sketches.Bloom: lambda arena, name: sketches.Bloom.create(arena, name, 100),
    sketches.HyperLogLog: sketches.HyperLogLog.create,
    sketches.CountMin: lambda arena, name: sketches.CountMin.create(arena, name, 0.1),
    sketches.InverseBloom: lambda arena, name: sketches.InverseBloom.create(arena, name, 8),
    sketches.PartitionedBloom: lambda arena, name: sketches.PartitionedBloom.create(arena, name, 100),
    sketches.CountingBloom: lambda arena, name: sketches.CountingBloom.create(arena, name, 100),
    sketches.ScalableBloom: lambda arena, name: sketches.ScalableBloom.create(arena, name, 2, most=20),
    sketches.StableBloom: lambda arena, name: sketches.StableBloom.create(arena, name, 640),
    sketches.TopK: lambda arena, name: sketches.TopK.create(arena, name, 2, 0.1),
    sketches.MinHash: lambda arena, name: sketches.MinHash.create(arena, name, 8),
    sketches.KLL: lambda arena, name: sketches.KLL.create(arena, name, 0.1),
}


@pytest.fixture
def arena(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=8 << 20) as made:
        yield made


def test_every_kind_is_here():
    assert {kind.__name__ for kind in MAKERS} == {structure.name for structure in STRUCTURES} | {"MessageRing"}


@pytest.mark.parametrize("other", MAKERS, ids=lambda kind: kind.__name__)
def test_no_class_takes_away_what_another_has_made(arena, other):
    for kind, make in MAKERS.items():
        make(arena, kind.__name__)
    names = set(arena.structures())
    for kind in MAKERS:
        if kind is not other:
            mine, its = other.__name__, kind.__name__
            for call in ("unlink", "open"):
                text = rf"'{its}' is a {its}, not a {mine}; {call} it with {its}\.{call}"
                with pytest.raises(ValueError, match=text):
                    getattr(other, call)(arena, its)
    assert set(arena.structures()) == names
    other.unlink(arena, other.__name__)
    assert set(arena.structures()) == names - {other.__name__}


@pytest.mark.parametrize("kind", [RingBuffer, MessageRing])
def test_a_ring_that_is_unlinked_is_gone_whatever_was_closed_here(arena, kind):
    ring = MAKERS[kind](arena, "jobs")
    other = kind.open(arena, "jobs")
    other.close()
    with pytest.raises(RingGone, match=f"was closed here; use another one, open it again with {kind.__name__}.open"):
        other.try_get()
    ring.close()
    kind.unlink(arena, "jobs")
    for call in (ring.try_get, ring.get, lambda: ring.get_many(1), ring.counts, other.try_get):
        with pytest.raises(RingGone, match=r"'jobs' .* is gone: it was unlinked; make it anew with create"):
            call()
    MAKERS[kind](arena, "jobs")  # another ring, which the first is not
    with pytest.raises(RingGone, match="it was unlinked"):
        ring.try_get()


def test_a_trie_of_a_closed_arena_can_be_shown(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=8 << 20) as arena:
        trie = ConcurrentTrie.create(arena, "t")
        assert repr(trie) == "<ConcurrentTrie of amqp with 0 subscriptions>"
    assert repr(trie) == "<ConcurrentTrie of amqp, closed>"


def test_a_sketch_that_is_unlinked_is_gone(arena):
    seen = sketches.Bloom.create(arena, "seen", 10)
    sketches.Bloom.unlink(arena, "seen")
    with pytest.raises(SketchGone, match=r"'seen' .* is gone: it was unlinked"):
        seen.add("a")
