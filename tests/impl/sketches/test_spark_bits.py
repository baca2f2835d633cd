"""Bloom filters as Spark stores them, both ways, beside bytes that Spark has written."""

import pytest
from foreign_bytes import FILTERS, integers, items, recorded, texts

from latchfree.sketches import Bloom, SketchInvalid, SketchMismatch


@pytest.mark.parametrize("name", FILTERS)
def test_recorded_bytes(name):
    version, size, rate, seed = FILTERS[name]
    data = recorded(f"BloomFilter, {name}")
    sketch = Bloom(size, rate, hash=f"spark-v{version}", seed=seed)
    sketch.add_many(texts())
    sketch.add_many(integers())
    assert sketch.to_spark() == data
    read = Bloom.from_spark(data)
    assert (read.to_spark(), read.seed, read.added, read.hash) == (data, seed, 0, f"spark-v{version}")
    assert read.contains_many(texts()) == [True] * len(texts())
    assert all(number in read for number in integers())
    assert abs(read.estimate() - len(items())) < 20
    assert abs(read.expected - size) < 0.05 * size
    for end in range(len(data)):
        with pytest.raises(SketchInvalid):
            Bloom.from_spark(data[:end])


def test_a_filter_of_spark_goes_on():
    read, other = Bloom.from_spark(recorded("BloomFilter, version 2")), Bloom(1_000, 0.01, hash="spark-v2")
    other.add_many([f"user {k}" for k in range(300)])
    read.merge(other)
    assert read.contains_many([f"user {k}" for k in range(300)]) == [True] * 300
    assert read.added == 300
    read.add("one more")
    assert "one more" in read
    assert Bloom.from_spark(read.to_spark()).to_spark() == read.to_spark()


@pytest.mark.parametrize("name", ["spark-v1", "spark-v2"])
def test_the_rate_is_the_one_that_was_asked_for(name):
    sketch = Bloom(20_000, 0.01, hash=name)
    sketch.add_many(range(20_000))
    wrong = sum(sketch.contains_many(range(100_000, 200_000)))
    assert abs(sketch.false_positives - 0.01) < 0.003  # for about as many items
    assert 800 < wrong < 1_200
    assert abs(sketch.estimate() - 20_000) < 400


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: b"", r"of a version that we read \(1, 2\)"),
        (lambda data: b"\0\0\0\3" + data[4:], r"of a version that we read \(1, 2\)"),
        (lambda data: data[:9], "it has 9 bytes"),
        (lambda data: data[:4] + b"\0\0\0\0" + data[8:], "an item has 0 bits; we read up to 255"),
        (lambda data: data[:4] + b"\xff" + data[5:], "an item has -"),
        (lambda data: data[:6] + b"\1" + data[7:], "we read up to 255"),
        (lambda data: data[:12] + b"\x7f\xff\xff\xff" + data[16:], "it has 1,216 bytes, not 17,179,869,192"),
        (lambda data: data[:12] + b"\xff" + data[13:], "it has 1,216 bytes, not 16"),
        (lambda data: data + b"\0", "it has 1,217 bytes"),
        (lambda data: data[:12] + b"\0\0\0\0", "it has 16 bytes, not 16"),
    ],
)
def test_bytes_that_are_refused(change, text):
    with pytest.raises(SketchInvalid, match=text):
        Bloom.from_spark(change(recorded("BloomFilter, version 2")))


def test_what_is_refused_says_how():
    with pytest.raises(SketchMismatch, match="make the sketch with hash='spark-v1' or hash='spark-v2'"):
        Bloom(10).to_spark()
    with pytest.raises(SketchMismatch, match="one by 'spark-v1', the other by 'spark-v2'"):
        Bloom(10, hash="spark-v1").merge(Bloom(10, hash="spark-v2"))
    with pytest.raises(SketchMismatch, match="one by 'latchfree', the other by 'spark-v2'"):
        Bloom(10).merge(Bloom(10, hash="spark-v2"))
    with pytest.raises(SketchMismatch, match="different shapes"):
        Bloom(10, hash="spark-v2").merge(Bloom(1_000, hash="spark-v2"))
    with pytest.raises(ValueError, match="hash must be one of 'latchfree', 'spark-v1', 'spark-v2', got 'spark'"):
        Bloom(10, hash="spark")
    with pytest.raises(ValueError, match="seed of hash 'spark-v1' must be from 0 to 0, got 1"):
        Bloom(10, hash="spark-v1", seed=1)
    with pytest.raises(TypeError, match="data must be bytes for from_spark, got None"):
        Bloom.from_spark(None)
