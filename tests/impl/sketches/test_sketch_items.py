"""What sketches take: strings, bytes and integers, one or many, in every form, with one hash for each item."""

import numpy as np
import pyarrow as pa
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
    StableBloom,
    TopK,
)
from latchfree.sketches.common.items import CHUNK, chunks, column_of, hash_of

KINDS = [
    Bloom,
    HyperLogLog,
    CountMin,
    InverseBloom,
    PartitionedBloom,
    CountingBloom,
    ScalableBloom,
    StableBloom,
    MinHash,
    TopK,
]
#: Whose size need not be given.
SIZELESS = (HyperLogLog, CountMin, ScalableBloom, MinHash, TopK)
TEXTS = ["", "a", "tea", "ü" * 9, "x" * 40, "seventeen letters"]
INTS = [0, 1, -1, 2**63 - 1, -(2**63), 12345]


def hashes(items, seed=0):
    return [h for _, part in chunks(column_of(items), seed) for h in part.tolist()]


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        iter,
        lambda items: np.array(items, object),
        lambda items: np.array(items),
        pa.array,
        lambda items: pa.array(items, pa.large_string()),
        lambda items: pa.array(items, pa.string_view()),
        lambda items: pa.array(items).dictionary_encode(),
        lambda items: pa.chunked_array([items[:2], items[2:]]),
        lambda items: pa.array(["cut off", *items])[1:],
        lambda items: [text.encode() for text in items],
        lambda items: [bytearray(text.encode()) for text in items],
        lambda items: pa.array([text.encode() for text in items], pa.binary_view()),
    ],
)
def test_a_string_has_one_hash_in_every_form(form):
    assert hashes(form(TEXTS), 7) == [hash_of(text, 7) for text in TEXTS]


@pytest.mark.parametrize("form", [list, lambda items: np.array(items), pa.array, lambda items: np.array(items, object)])
def test_an_integer_has_one_hash_in_every_form(form):
    assert hashes(form(INTS), 7) == [hash_of(item, 7) for item in INTS]
    assert hash_of(np.int8(5), 7) == hash_of(5, 7)


def test_the_hash_never_changes():
    """Stored sketches depend on it: with another hash, another HASH_VERSION."""
    found = [hash_of("tea", 0), hash_of(b"tea", 1), hash_of(0, 0), hash_of(-1, 5), hash_of("a" * 40, 2)]
    assert found == [
        16910747518219995676,
        9227911219695462803,
        10548849731981244889,
        5118378208838719015,
        8564251942367577087,
    ]


def test_bytes_of_one_length_are_items():
    assert hashes(pa.array([b"tea", b"oat"], pa.binary(3)), 7) == [hash_of("tea", 7), hash_of("oat", 7)]


def test_strings_and_integers_differ_and_seeds_matter():
    assert len({hash_of(item, seed) for item in ("4", 4, "", 0) for seed in (0, 1, 2**64 - 1)}) == 12


def test_more_items_than_one_call_takes():
    many = np.arange(2 * CHUNK + 5)
    assert len(set(hashes(many))) == len(many)
    filter_ = Bloom(len(many))
    filter_.add_many(many)
    assert filter_.contains_many(many).all()
    assert filter_.added == len(many)


BAD = [
    ("tea", TypeError, "for one item use add"),
    (5, TypeError, "got int"),
    ([1, "a"], TypeError, "element 1"),
    (["a", 1], TypeError, "element 1"),
    (["a", None], TypeError, "element 1"),
    ([None], TypeError, "str, bytes or int, got NoneType"),
    ([1.5], TypeError, "got float"),
    ([True], TypeError, "got bool"),
    ([1, True], TypeError, "element 1"),
    ([1, 2**63], ValueError, "element 1"),
    (["a", "\ud800"], ValueError, "element 1"),
    (np.array([1.0]), TypeError, "float64"),
    (np.array([[1]]), ValueError, "one-dimensional"),
    (np.array([2**63], np.uint64), ValueError, "element 0"),
    (np.ma.MaskedArray([1, 2], mask=[False, True]), ValueError, "element 1"),
    (pa.array(["a", None]), ValueError, "element 1"),
    (pa.array([1, None]), ValueError, "element 1"),
    (pa.array([1.5]), TypeError, "double"),
    (pa.array([[1]]), TypeError, "list"),
    (pa.array([True]), TypeError, "bool"),
    (np.array(1), TypeError, "for one item use add"),
    (memoryview(b"tea"), TypeError, "got memoryview; for one item use add"),
    (bytearray(b"tea"), TypeError, "got bytearray; for one item use add"),
]


@pytest.mark.parametrize(("items", "error", "text"), BAD)
@pytest.mark.parametrize("make", KINDS)
def test_items_that_are_refused_change_nothing(make, items, error, text):
    sketch = make() if make in SIZELESS else make(100)
    before = sketch.to_bytes()
    with pytest.raises(error, match=text):
        sketch.add_many(items)
    assert sketch.to_bytes() == before


@pytest.mark.parametrize("item", [None, 1.5, True, [1], 2**63, "\ud800", np.float64(1)])
@pytest.mark.parametrize("make", KINDS)
def test_one_item_that_is_refused(make, item):
    sketch = make() if make in SIZELESS else make(100)
    before = sketch.to_bytes()
    with pytest.raises((TypeError, ValueError)):
        sketch.add(item)
    assert sketch.to_bytes() == before


@pytest.mark.parametrize("nothing", [[], (), np.array([]).astype(int), pa.array([], pa.string()), pa.array([]), set()])
def test_no_items(nothing):
    sketch = Bloom(10)
    sketch.add_many(nothing)
    assert sketch.added == 0
    assert len(sketch.contains_many(nothing)) == 0


def test_answers_come_in_kind():
    sketch = Bloom(10)
    sketch.add_many(["a"])
    assert sketch.contains_many(["a", "b"]) == [True, False]
    assert sketch.contains_many(pa.array(["a", "b"])).to_pylist() == [True, False]
    assert sketch.contains_many(np.array(["a", "b"])).tolist() == [True, False]
    assert CountMin().estimate_many(np.array([1])).dtype == np.int64


def test_a_subclass_that_lies_about_its_length():
    class Long(bytes):
        def __len__(self):
            return 1 << 40

    class Text(str):
        __slots__ = ()

        def encode(self, *arguments):
            return b"other"

    assert hash_of(Long(b"tea"), 0) == hash_of("tea", 0) == hash_of(Text("tea"), 0)
    assert hashes([Long(b"tea")]) == hashes([Text("tea")]) == [hash_of("tea", 0)]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Bloom(0), "expected must be from 1"),
        (lambda: Bloom(-5), "expected must be from 1"),
        (lambda: Bloom(10, 0.0), "false_positives must be from 1e-09 to 0.5"),
        (lambda: Bloom(10, float("nan")), "false_positives must be from"),
        (lambda: Bloom(10, 0.7), "false_positives must be from"),
        (lambda: Bloom(2**40, 0.01), "expected must be from 1"),
        (lambda: Bloom(2**31, 0.001), "bytes, the most is 536,870,"),
        (lambda: Bloom(10, seed=-1), "seed must be from 0"),
        (lambda: Bloom(10, seed=2**64), "seed must be from 0"),
        (lambda: HyperLogLog(0.5), "error must be from"),
        (lambda: HyperLogLog(float("inf")), "error must be from"),
        (lambda: CountMin(0), "error must be from"),
        (lambda: CountMin(1e-7, 0.999999), "bytes, the most is"),
        (lambda: CountMin(0.1, 1.0), "confidence must be from 0.5 to 0.999999"),
        (lambda: CountMin().add("a", 0), "count must be from 1 to 4,294,967,295"),
        (lambda: CountMin().add("a", -1), "count must be from 1"),
        (lambda: CountMin().add_many(["a"], [0]), "element 0 is 0"),
        (lambda: CountMin().add_many(["a"], [1, 2]), "1 items and 2 counts"),
        (lambda: InverseBloom(1), "slots must be from 2"),
        (lambda: InverseBloom(2**60), "slots must be from 2"),
        (lambda: PartitionedBloom(0), "expected must be from 1"),
        (lambda: CountingBloom(2**29, 0.001), "bytes, the most is 536,870,"),
        (lambda: ScalableBloom(0), "initial must be from 1"),
        (lambda: ScalableBloom(10, most=9), "most must be from 10"),
        (lambda: ScalableBloom(1, most=2**30), "from 1 to 1,073,741,824 items takes 31 layers, the most is 24"),
        (lambda: ScalableBloom(10, 1e-7), "false_positives must be from 1e-06 to 0.5"),
        (lambda: ScalableBloom(2**20, 1e-6, most=2**30), "bytes, the most is 536,870,"),
        (lambda: StableBloom(63), "slots must be from 64"),
        (lambda: StableBloom(100, 1.0), "false_positives must be from 1e-06"),
        (lambda: MinHash(0), "hashes must be from 1 to 65,536"),
        (lambda: TopK(0), "items must be from 1 to 65,536"),
        (lambda: TopK().add("x" * 97), "has at most 96 bytes, got 97"),
        (lambda: TopK().add_many(["a", "x" * 97]), "has at most 96 bytes, got 97"),
        (lambda: TopK(2).top(3), "items must be from 1 to 2"),
    ],
)
def test_sizes_that_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bloom("10"),
        lambda: Bloom(10.0),
        lambda: Bloom(True),
        lambda: Bloom(10, "0.1"),
        lambda: Bloom(10, None),
        lambda: Bloom(10, 0.1, seed=1.5),
        lambda: HyperLogLog(None),
        lambda: CountMin(conservative=1),
        lambda: CountMin().add("a", 1.0),
        lambda: CountMin().add_many(["a"], ["b"]),
        lambda: InverseBloom(None),
    ],
)
def test_arguments_of_another_kind(make):
    with pytest.raises(TypeError):
        make()
