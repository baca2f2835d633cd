"""`TopK` of the frequent strings of Apache DataSketches, beside the real library and bytes that it has written."""

import random
import struct
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import SketchInvalid, TopK

#: Two strings with 3 and 2, and an empty sketch, as the package 5.2.0 for Python writes them.
WRITTEN = bytes.fromhex(
    "04010a04030000000200000000000000050000000000000000000000000000000200000000000000030000000000000000000000"
    "03000000746561"
)
EMPTY = bytes.fromhex("01010a0303050000")


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("datasketches")


def test_bytes_that_were_written():
    read = TopK.from_datasketches(WRITTEN, 2)
    assert read.top() == [("tea", 3), ("", 2)]
    assert (read.added, read.estimate("oat")) == (5, 0)
    assert TopK.from_datasketches(EMPTY).top() == []


def test_they_are_what_is_written_today(theirs):
    sketch = theirs.frequent_strings_sketch(4)
    assert TopK.from_datasketches(sketch.serialize()).added == 0
    sketch.update("tea", 3)
    sketch.update("", 2)
    assert sketch.serialize() == WRITTEN


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=24), st.integers(1, 2**40), max_size=40), st.integers(3, 8))
def test_no_count_is_too_low(theirs, counts, size):
    """Whatever the other sketch has thrown out; and a count is too high by its offset and by what shares counters."""
    sketch = theirs.frequent_strings_sketch(size)
    for text, count in counts.items():
        sketch.update(text, count)
    read = TopK.from_datasketches(sketch.serialize(), 64, 1e-5, 0.9999)
    assert read.added == sum(counts.values())
    for text, count in counts.items():
        assert count <= read.estimate(text)
        assert read.estimate(text) == sketch.get_upper_bound(text)
    assert read.estimate("none of them, and longer") == sketch.get_upper_bound("none of them, and longer")


def test_it_goes_on_and_merges(theirs):
    rng = random.Random(20260103)
    true = Counter(f"word {min(int(rng.paretovariate(0.9)), 3_000)}" for _ in range(30_000))
    sketch, ours = theirs.frequent_strings_sketch(9), TopK(8)
    for text, count in list(true.items())[::2]:
        sketch.update(text, count)
    for text, count in list(true.items())[1::2]:
        ours.add(text, count)
    read = TopK.from_datasketches(sketch.serialize(), 8)
    read.merge(ours)
    assert read.added == 30_000
    heaviest = [text for text, _ in true.most_common(5)]
    assert [text for text, _ in read.top(5)] == heaviest
    slack = sketch.serialize() and sketch.get_upper_bound("not there") + 0.002 * 30_000
    assert all(true[text] <= count <= true[text] + slack for text, count in read.top())
    read.add("one more", 7)
    assert read.estimate("one more") >= 7


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data[:6], "it has 6 bytes; give all bytes"),
        (lambda data: data[:1] + b"\2" + data[2:], r"of a version that we read \(1\)"),
        (lambda data: data[:2] + b"\x0f" + data[3:], "not the bytes of a sketch of frequent strings"),
        (lambda data: data[:3] + b"\x20" + data[4:], "not the bytes of a sketch of frequent strings"),
        (lambda data: EMPTY + b"\0", "it is empty and has 9 bytes"),
        (lambda data: data[:20], "it is cut short"),
        (lambda data: data[:8] + b"\xff\xff\xff\xff" + data[12:], "4,294,967,295 strings need more than 59 bytes"),
        (lambda data: data[:-1], "it is cut short"),
        (lambda data: data + b"\0", "1 bytes follow its strings"),
        (lambda data: data[:-1] + b"\xff", "a string is no UTF-8"),
        (lambda data: data[:16] + b"\4" + data[17:], "its counts are more than the sum of all, 4"),
        (lambda data: data[:24] + b"\6" + data[25:], "its counts are more than the sum of all, 5"),
        (lambda data: data[:32] + b"\0" + data[33:], "a string is there twice, or with the count 0"),
        (lambda data: data[:23] + b"\x7f" + data[24:], "or that is above 4,611,686,018,427,387,904"),
        (
            lambda data: b"".join([data[:8], struct.pack("<Q", 1), data[16:40], struct.pack("<I", 97), b"a" * 97]),
            "a string of 97 bytes; leave it out: a TopK remembers items of at most 96",
        ),
    ],
)
def test_bytes_that_are_refused(change, text):
    with pytest.raises(SketchInvalid, match=text):
        TopK.from_datasketches(change(WRITTEN))


def test_what_is_no_bytes():
    with pytest.raises(TypeError, match="data must be bytes for from_datasketches, got dict"):
        TopK.from_datasketches({})
