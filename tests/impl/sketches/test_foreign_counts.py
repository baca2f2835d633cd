"""Count-Min sketches as DataSketches and Spark store them, both ways."""

import struct

import numpy as np
import pytest
from foreign_bytes import COUNTS, integers, items, recorded, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import CountMin, SketchInvalid, SketchMismatch

ITEMS = st.one_of(st.text(max_size=70), st.integers(-(2**63), 2**63 - 1))


def filled(error=0.1, confidence=0.9, **more):
    sketch = CountMin(error, confidence, **more)
    sketch.add_many(texts())
    sketch.add_many(integers())
    return sketch


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("datasketches")


def made_there(theirs, error, confidence, seed):
    library = theirs.count_min_sketch
    return library(library.suggest_num_hashes(confidence), library.suggest_num_buckets(error), seed)


# Spark --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COUNTS)
def test_recorded_bytes_of_spark(name):
    error, confidence, seed = COUNTS[name]
    data = recorded(f"CountMinSketch, {name}")
    assert filled(error, confidence, hash="spark", seed=seed).to_spark() == data
    read = CountMin.from_spark(data)
    assert (read.to_spark(), read.seed, read.added, read.hash) == (data, seed, len(items()), "spark")
    assert CountMin.from_spark(data, seed=seed).seed == seed
    with pytest.raises(SketchInvalid, match="of another seed than the one that is given"):
        CountMin.from_spark(data, seed=seed + 1)
    for end in range(len(data)):
        with pytest.raises(SketchInvalid):
            CountMin.from_spark(data[:end])


def test_a_sketch_of_spark_goes_on():
    read, whole = CountMin.from_spark(recorded("CountMinSketch, 4 rows")), filled(hash="spark", seed=7)
    for sketch in (read, whole):
        sketch.add("tea", 5)
        sketch.add_many(["oat", "tea"], [2, 3])
    read.merge(whole)
    whole.merge(whole)
    assert read.to_spark() == whole.to_spark()
    assert read.estimate("tea") >= 16
    assert read.estimate_many(["tea", "oat"]) == [read.estimate("tea"), read.estimate("oat")]


def test_sizes_and_bounds_are_those_of_spark():
    sketch = CountMin(0.01, 0.99, hash="spark")
    assert sketch._place.shape[:2] == (200, 7)
    assert (sketch.error, round(sketch.confidence, 4)) == (0.01, 0.9922)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data[:10], "it has 10 bytes; give all bytes"),
        (lambda data: b"\0\0\0\2" + data[4:], r"of a version that we read \(1\)"),
        (lambda data: data[:4] + b"\xff" + data[5:], "it has counts below 0"),
        (lambda data: data[:11] + b"\xff" + data[12:], "a row counts 342 of"),
        (lambda data: data[:12] + b"\x7f" + data[13:], "we read up to 255 rows"),
        (lambda data: data[:12] + b"\xff" + data[13:], "rows of"),
        (lambda data: data[:16] + b"\x7f\xff\xff\xff" + data[20:], "it has 692 bytes, not 68,719,476,7"),
        (lambda data: data[:16] + b"\0\0\0\0" + data[20:], "rows of 0 counters"),
        (lambda data: data[:27] + bytes([data[27] ^ 1]) + data[28:], "the factors of its rows are those of no seed"),
        (lambda data: data[:20] + b"\xff" + data[21:], "the factors of its rows are those of no seed"),
        (lambda data: data[:-8] + b"\xff" + data[-7:], "it has counts below 0"),
        (lambda data: data + b"\0", "it has 693 bytes, not 692"),
    ],
)
def test_bytes_of_spark_that_are_refused(change, text):
    with pytest.raises(SketchInvalid, match=text):
        CountMin.from_spark(change(recorded("CountMinSketch, 4 rows")))


# DataSketches -------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(ITEMS, st.integers(1, 2**32 - 1))), st.integers(0, 2**64 - 1), st.integers(1, 6))
def test_the_same_counters_for_any_items(theirs, counted, seed, rows):
    """An empty string is none to DataSketches, so the sum is without it."""
    confidence = 1 - np.exp(0.5 - rows) if rows > 1 else 0.5
    other, sketch = made_there(theirs, 0.2, confidence, seed), CountMin(0.2, confidence, hash="datasketches", seed=seed)
    assert sketch.to_datasketches() == other.serialize()
    for item, count in counted:
        other.update(item, float(count))  # with an int, the Python package takes "0" for the number
        sketch.add(item, count)
    assert sketch.to_datasketches() == other.serialize()
    read = CountMin.from_datasketches(other.serialize(), seed=seed)
    assert read.to_bytes() == sketch.to_bytes()
    assert [read.estimate(item) for item, _ in counted] == [other.get_estimate(item) for item, _ in counted]


def test_both_go_on_from_the_others_bytes(theirs):
    other, sketch = made_there(theirs, 0.01, 0.99, 9001), CountMin(0.01, 0.99, hash="datasketches")
    for item in texts():
        other.update(item)
    read = CountMin.from_datasketches(other.serialize())
    sketch.add_many(texts())
    further = theirs.count_min_sketch.deserialize(sketch.to_datasketches())
    for item in integers():
        further.update(item)
    read.add_many(integers())
    assert read.to_datasketches() == further.serialize()
    other.merge(further)
    read.merge(sketch)
    assert read.to_datasketches() == other.serialize()


def damaged(change):
    data = bytearray(filled(hash="datasketches").to_datasketches())
    change(data)
    return bytes(data)


def put(at, new):
    def change(data):
        data[at : at + len(new)] = new

    return change


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data.__delitem__(slice(7, None)), "it has 7 bytes; give all bytes"),
        (put(1, b"\2"), r"of a version that we read \(1\)"),
        (put(2, b"\x07"), "not the bytes of a Count-Min sketch of DataSketches"),
        (put(3, b"\1"), "it is empty and has"),
        (put(8, b"\xff\xff\xff\xff"), "bytes, not 103,079,215,"),
        (put(8, b"\0\0\0\0"), "rows of 0 counters"),
        (put(12, b"\0"), "0 rows"),
        (put(13, b"\0"), "of another seed than 9001; give its seed="),
        (put(16, struct.pack("<d", 1e9)), "a row counts 342 of 1,000,000,000"),
        (put(24, struct.pack("<d", -1)), "not whole numbers from 0 to"),
        (put(24, struct.pack("<d", 0.5)), "not whole numbers from 0 to"),
        (put(24, struct.pack("<d", np.nan)), "not whole numbers from 0 to"),
        (put(24, struct.pack("<d", np.inf)), "not whole numbers from 0 to"),
        (lambda data: data.append(0), "it has 697 bytes, not 696"),
    ],
)
def test_bytes_of_datasketches_that_are_refused(change, text):
    with pytest.raises(SketchInvalid, match=text):
        CountMin.from_datasketches(damaged(change))


def test_an_empty_one_that_is_too_large():
    """Its bytes are 16, and its counters would be 8 TB."""
    data = bytearray(CountMin(0.1, hash="datasketches").to_datasketches())
    data[8:13] = b"\xff\xff\xff\xff\xff"
    with pytest.raises(SketchInvalid, match="the most is"):
        CountMin.from_datasketches(bytes(data))


def test_counts_that_a_float_does_not_hold():
    sketch = CountMin(0.5, 0.5, hash="datasketches")
    data = bytearray(sketch.to_datasketches())
    data[3] = 0
    data += np.full(1 + sketch._place.shape[0] * sketch._place.shape[1], 2.0**53).tobytes()
    read = CountMin.from_datasketches(bytes(data))
    assert read.to_datasketches() == bytes(data)
    read.add("a")
    with pytest.raises(ValueError, match="exactly up to 9,007,199,254,740,992; this sketch has 9,007,199,254,740,993"):
        read.to_datasketches()


# both ---------------------------------------------------------------------------------------------------------------


def test_what_is_refused_says_how():
    with pytest.raises(SketchMismatch, match=r"by the hash 'spark', which .* make the sketch with hash='datasketches'"):
        CountMin(hash="spark").to_datasketches()
    with pytest.raises(SketchMismatch, match="make the sketch with hash='spark'"):
        CountMin().to_spark()
    with pytest.raises(
        SketchMismatch, match="one by 'spark', the other by 'datasketches'; make both with the same hash"
    ):
        CountMin(hash="spark").merge(CountMin(hash="datasketches"))
    with pytest.raises(SketchMismatch, match="the seeds are -1 and 0; make both with the same seed"):
        CountMin(hash="spark", seed=-1).merge(CountMin(hash="spark"))
    with pytest.raises(ValueError, match="a conservative sketch is of our own hash"):
        CountMin(hash="spark", conservative=True)
    with pytest.raises(ValueError, match="seed of hash 'spark' must be from -2,147,483,648 to 2,147,483,647"):
        CountMin(hash="spark", seed=2**31)
    with pytest.raises(ValueError, match="seed must be from 0 to"):
        CountMin(seed=-1)
    for read in (CountMin.from_spark, CountMin.from_datasketches):
        with pytest.raises(TypeError, match=r"must be bytes for from_\w+, got list"):
            read([])
    with pytest.raises(ValueError, match="counts must be from 1"):
        CountMin(hash="spark").add_many(["a"], [0])
    with pytest.raises(ValueError, match="1 items and 2 counts"):
        CountMin(hash="spark").add_many(["a"], [1, 2])
