"""Spark's Count-Min sketches, read here and by Spark: the same estimates, never too small."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree_spark.sketch import CountMin
from latchfree_spark.sketch.count_min import murmur3


@pytest.fixture(scope="module")
def jvm(spark):
    return spark._jvm.org.apache.spark.util.sketch.CountMinSketch


def sketched(spark, items, kind, share=0.05, confidence=0.95, seed=7):
    from pyspark.sql import functions as F

    frame = spark.createDataFrame([(item,) for item in items], f"item {kind}")
    return bytes(frame.agg(F.count_min_sketch("item", share, confidence, seed)).first()[0])


@pytest.mark.parametrize("kind", ["string", "bigint"])
def test_estimates_are_those_of_spark(spark, jvm, rng, kind):
    drawn = [int(rng.paretovariate(0.7)) for _ in range(3000)]
    drawn = [n * rng.choice((-1, 1, 2**40)) % 2**62 for n in drawn] if kind == "bigint" else drawn
    items = [f"tøpic/{n}" + "/x" * (n % 7) for n in drawn] if kind == "string" else drawn
    data = sketched(spark, items, kind)
    ours, theirs = CountMin.of(data), jvm.readFrom(data)
    exact = Counter(items)
    asked = [*exact, *(["", "unseen"] if kind == "string" else [0, -1, -(2**63), 2**63 - 1])]
    assert [ours.estimate(item) for item in asked] == [theirs.estimateCount(item) for item in asked]
    assert all(ours.estimate(item) >= count for item, count in exact.items())
    assert ours.total == len(items)
    assert bytes(ours) == data
    too_large = sum(ours.estimate(item) > exact[item] + ours.relative_error * ours.total for item in exact)
    assert too_large <= (1 - ours.confidence) * len(exact)


def test_merging_counts_both(spark):
    one, other = (CountMin.of(sketched(spark, items, "string")) for items in (["a", "b"], ["b", "c", "c"]))
    both = CountMin.of(sketched(spark, ["a", "b", "b", "c", "c"], "string"))
    assert bytes(one.merge(other)) == bytes(both)
    with pytest.raises(ValueError, match="seed are the same"):
        one.merge(CountMin.of(sketched(spark, ["a"], "string", seed=8)))


def test_what_is_no_sketch(spark):
    data = sketched(spark, ["a"], "string")
    for wrong, says in (
        (b"", "0 bytes"),
        (b"\1" + data[1:], "no Count-Min sketch of version 1"),
        (data[:-1], "does not have"),
    ):
        with pytest.raises(ValueError, match=says):
            CountMin.of(wrong)


@given(st.binary(max_size=20).filter(lambda data: len(data) % 4 == 0), st.integers(0, 2**32 - 1))
def test_whole_words_hash_as_published(data, seed):
    """Appleby's MurmurHash3_x86_32 has no tail then, where alone Spark differs from it."""

    def mixed(h, k):
        k = k * 0xCC9E2D51 % 2**32
        k = (k * 2**15 + k // 2**17) % 2**32 * 0x1B873593 % 2**32
        h = h ^ k
        return ((h * 2**13 + h // 2**19) % 2**32 * 5 + 0xE6546B64) % 2**32

    h = seed
    for at in range(0, len(data), 4):
        h = mixed(h, int.from_bytes(data[at : at + 4], "little"))
    h ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        h = (h ^ h // 2**shift) * factor % 2**32
    assert murmur3(data, seed) == h ^ h // 2**16
