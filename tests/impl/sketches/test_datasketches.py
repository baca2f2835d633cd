"""KLL sketches as Apache DataSketches stores them, both ways, beside the real library."""

import os
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import KLL, SketchInvalid
from latchfree.sketches.datasketches import rooms

theirs = pytest.importorskip("datasketches")

SIZES = st.one_of(st.integers(0, 3), st.integers(0, 300), st.integers(300, 20_000))


def items_of(size, seed):
    return np.random.default_rng(seed).normal(size=size)


def ours(items, k=None):
    sketch = KLL(3**0.5 / (k or 20), seed=1)
    sketch.add_many(items)
    return sketch


@settings(max_examples=40, deadline=None)
@given(SIZES, st.integers(0, 2**32), st.sampled_from([8, 20, 200]))
def test_theirs_read_ours(size, seed, k):
    """As many items, the same bounds; and all their ranks are within the error of both."""
    items = items_of(size, seed)
    sketch = ours(items, k)
    read = theirs.kll_doubles_sketch.deserialize(sketch.to_datasketches())
    assert (read.n, read.k, read.is_empty()) == (size, k, size == 0)
    if size:
        assert (read.get_min_value(), read.get_max_value()) == (items.min(), items.max())
        asked = np.quantile(items, [0.1, 0.5, 0.9])
        assert np.abs(np.array([read.get_rank(x, True) for x in asked]) - sketch.ranks(asked)).max() <= 6 / k
    read.update(items_of(500, seed + 1))  # it goes on from there
    assert read.n == size + 500


@settings(max_examples=40, deadline=None)
@given(SIZES, st.integers(0, 2**32), st.sampled_from([8, 20, 200]))
def test_ours_reads_theirs(size, seed, k):
    items, written = items_of(size, seed), theirs.kll_doubles_sketch(k)
    written.update(items)
    sketch = KLL.from_datasketches(written.serialize())
    assert sketch.count == sketch.added == size
    if size:
        assert (sketch.least, sketch.greatest) == (items.min(), items.max())
        asked = np.quantile(items, [0.1, 0.5, 0.9])
        assert np.abs(np.array([written.get_rank(x, True) for x in asked]) - sketch.ranks(asked)).max() <= 6 / k
    other = ours(items, k)
    other.merge(sketch)
    assert other.count == 2 * size


def test_there_and_back():
    """Nothing is lost while all fits."""
    for size in (0, 1, 2, 19):
        sketch = ours(range(size))
        again = KLL.from_datasketches(sketch.to_datasketches(), seed=1)
        assert again.to_datasketches() == sketch.to_datasketches()
        assert again.to_bytes() == sketch.to_bytes()


def test_all_lanes_are_there():
    sketch = ours(range(10))
    sketch._place.cells[0] = os.getpid() << 32 | 1  # somebody is adding in the first lane
    sketch.add_many(range(10, 20))
    assert len(sketch._lanes()) == 2
    assert theirs.kll_doubles_sketch.deserialize(sketch.to_datasketches()).n == 20


def test_rooms_are_those_of_the_library():
    """What a sketch of theirs has room for, by where its levels begin."""
    for k in (8, 35, 200):
        sketch = theirs.kll_doubles_sketch(k)
        sketch.update(items_of(50_000, 1))
        data = sketch.serialize()
        levels, start = data[18], struct.unpack_from("<I", data, 20)[0]
        assert sum(rooms(k, levels)) - start == sketch.num_retained
    assert rooms(200, 40)[0] == 8


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data[:5], "it has 5 bytes"),
        (lambda data: data[:2] + b"\x07" + data[3:], "not the bytes of a KLL sketch"),
        (lambda data: data[:1] + b"\x09" + data[2:], "not the bytes of a KLL sketch"),
        (lambda data: data[:6] + b"\x04" + data[7:], "have room for 4 items at least"),
        (lambda data: data[:12], "cut short"),
        (lambda data: data[:-8], "of other items than 64-bit floats"),
        (lambda data: data[:18] + b"\xff" + data[19:], "255 levels"),
        (lambda data: data[:20] + b"\xff\xff\x00\x00" + data[24:], "do not follow each other"),
        (lambda data: data[:8] + b"\x01" + data[9:], "not as many as it says"),
        (lambda data: data[:-8] + struct.pack("<d", np.nan), "no numbers"),
        (lambda data: data[:-8] + struct.pack("<d", 1e9), "beyond their bounds"),
    ],
)
def test_bytes_that_are_refused(change, text):
    with pytest.raises(SketchInvalid, match=text):
        KLL.from_datasketches(change(ours(range(1_000)).to_datasketches()))


def test_floats_of_32_bits_are_refused():
    sketch = theirs.kll_floats_sketch(20)
    sketch.update(np.arange(100, dtype=np.float32))
    with pytest.raises(SketchInvalid, match="of other items than 64-bit floats"):
        KLL.from_datasketches(sketch.serialize())
    with pytest.raises(TypeError, match="data must be bytes of a kll_doubles_sketch, got str"):
        KLL.from_datasketches("abc")
