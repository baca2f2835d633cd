"""HyperLogLog as Apache DataSketches stores it, both ways, beside the real library and bytes that were recorded."""

import math
import struct

import numpy as np
import pytest
from foreign_bytes import REGISTERS, integers, items, recorded, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import HyperLogLog, SketchInvalid, SketchMismatch

PRECISIONS = (4, 7, 12)


def ours(precision, given=()):
    sketch = HyperLogLog(1.04 / math.sqrt(1 << precision), hash="datasketches")
    for kind in (str, int):
        sketch.add_many([item for item in given if isinstance(item, kind)])
    return sketch


def registers(sketch):
    return sketch._place.cells.view(np.uint8)


@pytest.fixture(scope="module")
def theirs():
    return pytest.importorskip("datasketches")


@pytest.mark.parametrize("form", ["compact", "updatable"])
@pytest.mark.parametrize("name", REGISTERS)
def test_recorded_bytes(name, form):
    """Of DataSketches for Java: all modes and kinds."""
    precision, _, size = REGISTERS[name]
    data = recorded(f"HllSketch, {name}, {form}")
    read = HyperLogLog.from_datasketches(data)
    assert (registers(read) == registers(ours(precision, items()[:size]))).all()
    assert (read.hash, read.seed, read.added) == ("datasketches", 9001, 0)
    # A table of exceptions that has none is four entries of nothing, and its size is not written down.
    spare = 16 if (name, form) == ("4 bits", "updatable") else 0
    for end in range(len(data) - spare):
        with pytest.raises(SketchInvalid):
            HyperLogLog.from_datasketches(data[:end])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=70), st.integers(-(2**63), 2**63 - 1))),
    st.sampled_from(PRECISIONS),
    st.sampled_from([4, 6, 8]),
)
def test_the_same_registers_for_any_items(theirs, given, precision, kind):
    sketch, other = ours(precision, given), theirs.hll_sketch(precision, getattr(theirs, f"HLL_{kind}"))
    for item in given:
        other.update(item)
    assert sketch.added == sum(item != "" for item in given)
    for data in (other.serialize_compact(), other.serialize_updatable()):
        assert (registers(HyperLogLog.from_datasketches(data)) == registers(sketch)).all()


@pytest.mark.parametrize("size", [0, 1, 7, 8, 100, 3_000, 60_000])
@pytest.mark.parametrize("kind", [4, 6, 8])
@pytest.mark.parametrize("precision", [4, 11, 12])
def test_both_go_on_from_the_others_bytes(theirs, size, kind, precision):
    """The same items added on either side give the same registers, and estimates agree."""
    sketch, other = ours(precision), theirs.hll_sketch(precision, getattr(theirs, f"HLL_{kind}"))
    sketch.add_many(np.arange(size))
    for item in range(size):
        other.update(item)
    read, back = HyperLogLog.from_datasketches(other.serialize_compact()), sketch.to_datasketches()
    further = theirs.hll_sketch.deserialize(back)
    assert (further.lg_config_k, further.is_empty()) == (precision, size == 0)
    for item in ("more", -5, "\u20ac"):
        further.update(item)
        read.add(item)
        sketch.add(item)
    data = further.serialize_updatable()
    assert (registers(read) == registers(sketch)).all()
    assert (registers(HyperLogLog.from_datasketches(data)) == registers(sketch)).all()
    assert abs(further.get_estimate() - sketch.estimate()) <= 0.5 * sketch.error * sketch.estimate() + 1
    assert abs(sketch.estimate() - size - 3) <= 5 * sketch.error * (size + 3) + 1


def test_registers_that_4_bits_do_not_hold(theirs):
    other = theirs.hll_sketch(10, theirs.HLL_4)
    for item in range(40_000):
        other.update(item)
    data = other.serialize_compact()
    assert struct.unpack_from("<I", data, 36)[0] > 0, "no exceptions"
    assert data[6] > 0, "the least register is 0"
    sketch = ours(10)
    sketch.add_many(np.arange(40_000))
    for each in (data, other.serialize_updatable()):
        assert HyperLogLog.from_datasketches(each).to_datasketches() == sketch.to_datasketches()
    wrong = bytearray(data)
    wrong[-4:] = struct.pack("<I", 20 << 26 | 1_023)  # another register than the one that asks
    with pytest.raises(SketchInvalid, match="its exceptions are not those"):
        HyperLogLog.from_datasketches(bytes(wrong))


def test_theirs_unite_ours(theirs):
    one, two, union = ours(12, texts()), ours(12, integers()), theirs.hll_union(12)
    for each in (one, two):
        union.update(theirs.hll_sketch.deserialize(each.to_datasketches()))
    one.merge(two)
    united = HyperLogLog.from_datasketches(union.get_result(theirs.HLL_8).serialize_compact())
    assert (registers(united) == registers(one)).all()


def test_an_empty_string_is_no_item(theirs):
    other = theirs.hll_sketch(12)
    other.update("")
    assert other.is_empty()
    sketch = ours(12, ["", "a", ""])
    sketch.add("")
    assert (sketch.added, round(sketch.estimate())) == (1, 1)


def test_the_estimate_holds_for_the_highest_registers():
    """As high as 63, where a hash of 64 bits ends at 53."""
    sketch = ours(12)
    data = bytearray(sketch.to_datasketches() + bytes(32 + 4_096))
    data[0], data[5], data[7] = 10, 8, 10
    data[40:] = bytes([63]) * 4_096
    assert HyperLogLog.from_datasketches(bytes(data)).estimate() == math.inf
    data[40:] = bytes([62]) * 4_096
    read = HyperLogLog.from_datasketches(bytes(data))
    assert 2**70 < read.estimate() < math.inf
    assert HyperLogLog.from_bytes(read.to_bytes()).to_bytes() == read.to_bytes()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda data: data[:5], "it has 5 bytes; give all bytes"),
        (lambda data: data[:1] + b"\2" + data[2:], r"of a version that we read \(1\)"),
        (lambda data: data[:2] + b"\x12" + data[3:], "not the bytes of an HLL sketch"),
        (lambda data: data[:3] + b"\x16" + data[4:], r"2\*\*22 registers; we read 4 to 21"),
        (lambda data: data[:3] + b"\x03" + data[4:], r"2\*\*3 registers"),
        (lambda data: data[:3] + b"\x15" + data[4:], "its registers alone need 2,097,192"),
        (lambda data: data[:7] + b"\x0e" + data[8:], "not the bytes of an HLL sketch"),
        (lambda data: data[:7] + b"\x0f" + data[8:], "not the bytes of an HLL sketch"),
        (lambda data: data[:-1] + b"\x40", "a register holds 64, the most is 63"),
        (lambda data: data + b"\0", "it has 105 bytes, not 104"),
        (lambda data: data[:36] + b"\1" + data[37:], "it has 104 bytes"),
    ],
)
def test_bytes_that_are_refused(change, text):
    data = ours(6, items()).to_datasketches()
    HyperLogLog.from_datasketches(data)
    with pytest.raises(SketchInvalid, match=text):
        HyperLogLog.from_datasketches(change(data))


def test_coupons_that_are_refused():
    data = recorded("HllSketch, list, compact")
    with pytest.raises(SketchInvalid, match="a coupon has no rank"):
        HyperLogLog.from_datasketches(data[:-1] + b"\0")
    with pytest.raises(SketchInvalid, match="6 coupons after byte 8 need other room"):
        HyperLogLog.from_datasketches(data[:6] + b"\6" + data[7:])
    with pytest.raises(SketchInvalid, match="coupons, not 5"):
        HyperLogLog.from_datasketches(data[:-4] + bytes(4))


def test_what_is_no_sketch_of_theirs():
    with pytest.raises(
        SketchMismatch, match=r"HyperLogLog places items by the hash 'latchfree', .* make the sketch with hash="
    ):
        HyperLogLog().to_datasketches()
    with pytest.raises(TypeError, match="data must be bytes for from_datasketches, got str"):
        HyperLogLog.from_datasketches("abc")
    with pytest.raises(ValueError, match="hash must be one of 'latchfree', 'datasketches', got 'spark'"):
        HyperLogLog(hash="spark")
    with pytest.raises(TypeError, match="hash must be a string, got int"):
        HyperLogLog(hash=1)
    with pytest.raises(ValueError, match="seed of hash 'datasketches' must be from 9,001 to 9,001, got 1"):
        HyperLogLog(hash="datasketches", seed=1)
