"""Sketches as bytes: they come back as they were, and nothing else is taken for a sketch."""

import copy
import pickle
import struct
import zlib

import numpy as np
import pytest

from latchfree.sketches import (
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    Sketch,
    SketchInvalid,
    SketchMismatch,
    StableBloom,
    TopK,
    from_bytes,
)
from latchfree.sketches.common.items import CHUNK

MAKERS = {
    "bloom": lambda **more: Bloom(50, 0.1, **more),
    "hll": lambda **more: HyperLogLog(0.25, **more),
    "count": lambda **more: CountMin(0.5, 0.5, **more),
    "inverse": lambda **more: InverseBloom(8, **more),
    "partitioned": lambda **more: PartitionedBloom(50, 0.1, **more),
    "counting": lambda **more: CountingBloom(50, 0.1, **more),
    "scalable": lambda **more: ScalableBloom(8, 0.1, most=50, **more),
    "stable": lambda **more: StableBloom(640, **more),
    "minhash": lambda **more: MinHash(16, **more),
    "top": lambda **more: TopK(2, 0.5, 0.5, **more),
}
MERGED = ["bloom", "hll", "count", "partitioned", "counting", "minhash", "top"]
#: Whose cells do not depend on the order in which items are added.
ORDERLESS = [kind for kind in MERGED if kind != "top"]


@pytest.fixture(params=MAKERS)
def sketch(request):
    made = MAKERS[request.param](seed=9)
    made.add_many(range(40))
    return made


def with_crc(data):
    return data[:16] + struct.pack("<I", zlib.crc32(data[24:])) + data[20:]


@pytest.mark.parametrize("again", [lambda s: from_bytes(s.to_bytes()), copy.copy, copy.deepcopy, Sketch.copy])
def test_a_sketch_comes_back(sketch, again):
    made = again(sketch)
    assert type(made) is type(sketch)
    assert made.to_bytes() == sketch.to_bytes()
    assert (made.seed, made.added, repr(made)) == (9, 40, repr(sketch))
    made.add("more")
    assert made.added == sketch.added + 1
    assert pickle.loads(pickle.dumps(sketch)).to_bytes() == sketch.to_bytes()


def test_every_byte_is_checked(sketch):
    data = sketch.to_bytes()
    for at in range(len(data)):
        with pytest.raises(SketchInvalid):
            from_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
    for end in range(len(data)):
        with pytest.raises(SketchInvalid):
            from_bytes(data[:end])
    with pytest.raises(SketchInvalid):
        from_bytes(data + b"\0")


def test_what_is_refused_is_named(sketch):
    data = sketch.to_bytes()
    with pytest.raises(SketchInvalid, match="format 2; this latchfree reads 1"):
        from_bytes(data[:8] + b"\2" + data[9:])
    with pytest.raises(SketchInvalid, match="of hash 7; this latchfree hashes items by 2"):
        from_bytes(data[:12] + b"\7" + data[13:])
    with pytest.raises(SketchInvalid, match="of hash 1; this"):  # which hashed long strings otherwise
        from_bytes(data[:12] + b"\1" + data[13:])
    with pytest.raises(SketchInvalid, match="kind 3"):
        from_bytes(data[:10] + b"\3" + data[11:])
    with pytest.raises(SketchInvalid, match="has the shape"):
        from_bytes(with_crc(data[:32] + b"\0" * 8 + data[40:]))
    with pytest.raises(SketchInvalid, match=r"its shape needs|the most is|has the shape|its layers are not"):
        from_bytes(with_crc(data[:32] + b"\x09" + data[33:]))
    for wrong in ("text", None, 5):
        with pytest.raises(TypeError, match="data must be bytes for from_bytes, got"):
            from_bytes(wrong)


def test_another_kind_is_named():
    with pytest.raises(SketchInvalid, match="these are the bytes of a HyperLogLog, not of a Bloom"):
        Bloom.from_bytes(HyperLogLog().to_bytes())


def test_a_register_that_is_too_high():
    data = HyperLogLog(0.25).to_bytes()
    with pytest.raises(SketchInvalid, match="a register holds 200"):
        HyperLogLog.from_bytes(with_crc(data[:72] + b"\xc8" + data[73:]))


@pytest.mark.parametrize("kind", MERGED)
def test_another_seed_or_shape_is_not_merged(kind):
    make = MAKERS[kind]
    other = {
        "bloom": Bloom(51, 0.1),
        "hll": HyperLogLog(0.1),
        "count": CountMin(0.4, 0.5),
        "partitioned": PartitionedBloom(51, 0.1),
        "counting": CountingBloom(51, 0.1),
        "minhash": MinHash(17),
        "top": TopK(3, 0.5, 0.5),
    }[kind]
    mine = make()
    mine.add_many(range(5))
    before = mine.to_bytes()
    with pytest.raises(SketchMismatch, match="the seeds are 0 and 1"):
        mine.merge(make(seed=1))
    with pytest.raises(SketchMismatch, match="different shapes"):
        mine.merge(other)
    for wrong in (None, 5, InverseBloom(3), mine.to_bytes()):
        with pytest.raises(TypeError, match="is merged with another one"):
            mine.merge(wrong)
    assert mine.to_bytes() == before


def test_a_merge_of_unequal_hashes_would_lose_and_count_twice(monkeypatch):
    """A mutant of the Python face: without the comparison of seeds, no compiled code notices."""
    monkeypatch.setattr(Sketch, "_check_like", lambda self, other: None)
    items = range(400)
    for make in (Bloom, PartitionedBloom, CountingBloom):
        one, other = make(1_000), make(1_000, seed=1)
        other.add_many(items)
        one.merge(other)
        assert sum(one.contains_many(items)) < 100, "what was added is not there"
    counts = CountMin(0.0001, seed=1)
    counts.add_many(items)
    merged = CountMin(0.0001)
    merged.merge(counts)
    assert sum(estimate < 1 for estimate in merged.estimate_many(items)) > 300, "too low"
    one, other = HyperLogLog(), HyperLogLog(seed=1)
    for each in (one, other):
        each.add_many(range(10_000))
    one.merge(other)
    assert one.estimate() > 18_000, "each item twice"


@pytest.mark.parametrize("kind", ORDERLESS)
def test_parts_merged_are_the_whole(kind):
    make, whole = MAKERS[kind], MAKERS[kind]()
    parts = [make() for _ in range(3)]
    items = np.arange(CHUNK + 100)
    for number, part in enumerate(parts):
        part.add_many(items[number::3])
        if number:
            parts[0].merge(part)
    whole.add_many(items)
    assert parts[0].to_bytes() == whole.to_bytes()


def test_a_filter_that_says_it_is_for_more_items_than_it_has_bits():
    """Its rate of errors would take minutes to compute."""
    data = Bloom(20).to_bytes()
    with pytest.raises(SketchInvalid, match="no Bloom has the shape"):
        Bloom.from_bytes(with_crc(data[:56] + struct.pack("<Q", 1 << 40) + data[64:]))


def test_layers_that_are_not_those_of_the_shape():
    """Compiled code takes them on trust: a changed offset would lead out of the filter."""
    data = ScalableBloom(8, 0.1, most=50).to_bytes()
    for word in (0, 8, 9, 10, 11, 12, 14):
        at = 72 + 8 * word
        with pytest.raises(SketchInvalid, match="its layers are not those of its shape"):
            ScalableBloom.from_bytes(with_crc(data[:at] + b"\xff\xff" + data[at + 2 :]))


def test_a_slot_that_was_changed_is_not_read():
    sketch = TopK(1, 0.5, 0.5)
    sketch.add("tea")
    data = sketch.to_bytes()
    at = data.index(b"tea")
    assert TopK.from_bytes(with_crc(data[:at] + b"oat" + data[at + 3 :])).top() == []
    assert TopK.from_bytes(data).top() == [("tea", 1)]
