"""Bytes that nobody has written as a sketch: cut, flipped, random, or forged with a checksum that fits.

Each is refused with a `SketchInvalid`, or is a sketch on which every call works. The trials run in a forked child, so
that a signal fails one test.
"""

import random
import struct
import tracemalloc
import zlib

import pytest
from children import in_child
from foreign_bytes import COUNTS, FILTERS, REGISTERS, integers, recorded, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    SketchInvalid,
    StableBloom,
    TopK,
    from_bytes,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

OURS = {
    "bloom": lambda: Bloom(50, 0.1),
    "bloom of spark": lambda: Bloom(50, 0.1, hash="spark-v2", seed=3),
    "hll": lambda: HyperLogLog(0.25),
    "hll of datasketches": lambda: HyperLogLog(0.25, hash="datasketches"),
    "counts": lambda: CountMin(0.5, 0.5),
    "conservative counts": lambda: CountMin(0.5, 0.5, conservative=True),
    "counts of spark": lambda: CountMin(0.5, 0.5, hash="spark"),
    "counts of datasketches": lambda: CountMin(0.5, 0.5, hash="datasketches"),
    "inverse": lambda: InverseBloom(8),
    "partitioned": lambda: PartitionedBloom(50, 0.1),
    "counting": lambda: CountingBloom(50, 0.1),
    "scalable": lambda: ScalableBloom(8, 0.1, most=50),
    "stable": lambda: StableBloom(640),
    "minhash": lambda: MinHash(16),
    "top": lambda: TopK(2, 0.5, 0.5),
    "kll": lambda: KLL(0.2, seed=1),
}
READERS = {
    HyperLogLog.from_datasketches: [
        recorded(f"HllSketch, {name}, {form}") for name in REGISTERS for form in ("compact", "updatable")
    ],
    CountMin.from_spark: [recorded(f"CountMinSketch, {name}") for name in COUNTS],
    Bloom.from_spark: [recorded(f"BloomFilter, {name}") for name in FILTERS],
    KLL.from_datasketches: [],
    CountMin.from_datasketches: [],
    TopK.from_datasketches: [
        bytes.fromhex(
            "04010a0403000000020000000000000005000000000000000000000000000000"
            "020000000000000003000000000000000000000003000000746561"
        )
    ],
}
#: Numbers that lead out of whatever they are taken for.
EDGES = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    255,
    256,
    257,
    258,
    260,
    2**31 - 1,
    2**32 - 1,
    2**40,
    2**63 - 1,
    2**63,
    2**64 - 2,
    2**64 - 1,
)
HEAD, FACTS = 24, 72


def use(sketch):
    """Make every call of a sketch; what it answers is any number, but an answer."""
    numbers = isinstance(sketch, KLL)
    items = [1.5, 2.0] if numbers else ["a", "b"]
    repr(sketch)
    sketch.add(items[0])
    sketch.add_many(items)
    for name in (
        "estimate",
        "top",
        "layers",
        "error",
        "expected",
        "false_positives",
        "count",
        "slots",
        "added",
        "hash",
    ):
        found = getattr(sketch, name, None)
        if callable(found) and name == "estimate" and isinstance(sketch, CountMin | TopK):
            assert 1 <= found("a") <= 2**64
        elif callable(found) and not (name == "count" and isinstance(sketch, CountingBloom)):
            found()
    if hasattr(sketch, "contains_many"):
        assert "a" in sketch or isinstance(sketch, InverseBloom | StableBloom)
        assert len(sketch.contains_many(items)) == 2
    if isinstance(sketch, CountMin):
        assert min(sketch.estimate_many(["a", "b"])) >= 1
    if isinstance(sketch, MinHash):
        assert 0 <= sketch.jaccard(sketch) <= 1
    if isinstance(sketch, KLL):
        sketch.ranks([1.0])
        sketch.quantile(0.5)
    if hasattr(sketch, "merge") and sketch.added <= 2**61:
        sketch.merge(sketch.copy())
    assert len(sketch.to_bytes()) >= FACTS


def with_crc(data):
    return data[:16] + struct.pack("<I", zlib.crc32(data[24:])) + data[20:]


def forged(rng, data):
    """Return bytes whose words were changed, with a checksum that fits."""
    words = list(struct.unpack_from(f"<{len(data) // 8}Q", data))
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        # The seed, the shape and the number of items as often as all the cells.
        at = rng.randrange(3, min(9, len(words))) if rng.random() < 0.5 else rng.randrange(3, len(words))
        words[at] = rng.choice((*EDGES, rng.getrandbits(64), words[at] ^ 1 << rng.randrange(64)))
    changed = struct.pack(f"<{len(words)}Q", *words)
    if rng.random() < 0.1:
        changed = changed[: 8 * rng.randrange(9, len(words) + 1)]
    return with_crc(changed)


@pytest.mark.parametrize("kind", OURS)
def test_forged_words_of_ours(kind, rng):
    sketch = OURS[kind]()
    sketch.add_many([0.5, 7.0] if kind == "kll" else ["tea", "oat"])
    data, seed = sketch.to_bytes(), rng.getrandbits(64)

    def trials():
        rng, kept = random.Random(seed), 0
        for _ in range(400):
            changed = forged(rng, data)
            try:
                made = from_bytes(changed)
            except SketchInvalid:
                continue
            kept += 1
            use(made)
        return kept > 10

    in_child(trials)


@pytest.mark.parametrize("kind", OURS)
def test_items_added_that_no_count_can_be(kind):
    """All bits in the place of the number of items mean to compiled code that the sketch is gone."""
    data = OURS[kind]().to_bytes()
    for added in (2**62 + 1, 2**63, 2**64 - 1):
        changed = with_crc(data[:64] + struct.pack("<Q", added) + data[72:])
        with pytest.raises(SketchInvalid, match=r"a damaged sketch: it says that .* items were added"):
            from_bytes(changed)


@pytest.mark.parametrize("kind", ["counts", "conservative counts", "counts of spark", "counts of datasketches", "top"])
def test_counters_that_no_count_can_be(kind):
    sketch = OURS[kind]()
    data = sketch.to_bytes()
    for count in (2**57, 2**63, 2**64 - 1):
        changed = with_crc(data[:72] + struct.pack("<Q", count) + data[80:])
        with pytest.raises(SketchInvalid, match=r"a damaged sketch: a counter holds .*, and 0 were added"):
            from_bytes(changed)


@pytest.mark.parametrize("kind", ["counts", "conservative counts", "counts of spark", "counts of datasketches", "top"])
def test_merges_do_not_overflow(kind):
    """Each merge of a sketch with itself doubles all counts; the one that would have no room for them is refused."""
    sketch = OURS[kind]()
    sketch.add("tea")
    for _ in range(62):
        sketch.merge(sketch)
    assert sketch.estimate("tea") == sketch.added == 2**62
    before = sketch.to_bytes()
    with pytest.raises(ValueError, match=r"9,223,372,036,854,775,808 items .* the most is 4,611,686,018,427,387,904"):
        sketch.merge(sketch)
    assert sketch.to_bytes() == before


# other libraries' bytes ---------------------------------------------------------------------------------------------


def examples(reader):
    if READERS[reader]:
        return READERS[reader]
    if reader == KLL.from_datasketches:
        sketch = KLL(0.2, seed=1)
        sketch.add_many(range(200))
    else:
        sketch = CountMin(0.2, hash="datasketches")
        sketch.add_many(texts())
        sketch.add_many(integers())
    return [sketch.to_datasketches()]


def tried(reader, data):
    """Read bytes, and use what was read; return whether they were taken."""
    tracemalloc.start()
    try:
        made = reader(data)
    except SketchInvalid:
        made = None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # 2**21 registers, and lists of the bits of as many: all that a few bytes may ask for; but for empty counters.
    # The counters of a `TopK` are as many as its arguments say.
    assert isinstance(made, TopK) or peak < 64 * len(data) + (24 << 20) or (made is not None and made.nbytes > 1 << 20)
    if made is not None and made.nbytes < 1 << 24:
        use(made)
    return made is not None


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.__self__.__name__}.{reader.__name__}")
def test_flipped_bits(reader):
    def trials():
        taken = [
            tried(reader, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
            for data in examples(reader)
            for at in range(min(len(data), 120))
            for bit in range(8)
        ]
        return any(taken) and not all(taken)

    in_child(trials)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.__self__.__name__}.{reader.__name__}")
def test_edges_in_every_place(reader, rng):
    seed = rng.getrandbits(64)

    def trials():
        rng = random.Random(seed)
        for data in examples(reader):
            for at in range(min(len(data), 48)):
                for size in (1, 2, 4, 8):
                    number = rng.choice(EDGES) & (1 << 8 * size) - 1
                    for order in ("little", "big"):
                        tried(reader, (data[:at] + number.to_bytes(size, order) + data[at + size :])[: len(data)])
        return True

    in_child(trials)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.__self__.__name__}.{reader.__name__}")
@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300))
def test_random_bytes(reader, data):
    head = examples(reader)[0][:8]
    for each in (data, head + data, head[:4] + data):
        tried(reader, each)


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: f"{reader.__self__.__name__}.{reader.__name__}")
def test_ours_and_theirs_are_not_mistaken(reader):
    """The bytes of one format are none of another."""
    for kind in OURS:
        with pytest.raises(SketchInvalid):
            reader(OURS[kind]().to_bytes())
    for other in READERS:
        for data in examples(other) if other != reader else ():
            with pytest.raises(SketchInvalid):
                reader(data)
    for data in examples(reader):
        with pytest.raises(SketchInvalid, match="no sketch: it has"):
            from_bytes(data)
