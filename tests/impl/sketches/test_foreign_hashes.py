"""Hashes of other libraries: published vectors, a second implementation in plain Python, and one hash in every form."""

import ctypes

import numpy as np
import pyarrow as pa
import pytest
from foreign_bytes import integers, texts
from hypothesis import given
from hypothesis import strategies as st

from latchfree.jit import kernel
from latchfree.sketches import Bloom, CountMin, HyperLogLog
from latchfree.sketches.common.seeds import factors, row_seeds, seed_of_factors
from latchfree.sketches.kernels.foreign import murmur32, murmur128

U = np.uint64
WORD = (1 << 64) - 1


@kernel
def of_128(address, length, seed, out):
    out[0], out[1] = murmur128.hash_of_bytes(address, length, seed)


@kernel
def of_128_word(word, seed, out):
    out[0], out[1] = murmur128.hash_of_word(word, seed)


@kernel
def of_32(address, length, seed):
    return murmur32.hash_of_bytes(address, length, seed)


@kernel
def of_32_word(word, seed):
    return murmur32.hash_of_word(word, seed)


def hashed_128(data, seed=0):
    buffer, out = ctypes.create_string_buffer(data, len(data)), np.zeros(2, U)
    of_128(U(ctypes.addressof(buffer)), U(len(data)), U(seed), out)
    return tuple(out.tolist())


def hashed_32(data, seed=0):
    buffer = ctypes.create_string_buffer(data, len(data))
    return int(of_32(U(ctypes.addressof(buffer)), U(len(data)), U(seed)))


@pytest.mark.parametrize(
    ("text", "one", "two"),
    [
        (b"", 0, 0),
        (b"hello", 0xCBD8A7B341BD9B02, 0x5B1E906A48AE1D19),
        (b"hello, world", 0x342FAC623A5EBC8E, 0x4CDCBC079642414D),
        (b"19 Jan 2038 at 3:14:07 AM", 0xB89E5988B737AFFC, 0x664FC2950231B2CB),
        (b"The quick brown fox jumps over the lazy dog.", 0xCD99481F9EE902C9, 0x695DA1A38987B6E7),
    ],
)
def test_published_vectors_of_128_bits(text, one, two):
    assert hashed_128(text) == (one, two)


@pytest.mark.parametrize(
    ("text", "seed", "hashed"),
    [
        (b"", 1, 0x514E28B7),
        (b"test", 0, 0xBA6BD213),
        (b"aaaa", 0x9747B28C, 0x5A97808A),
        (b"abcd", 0x9747B28C, 0xF0478627),
    ],
)
def test_published_vectors_of_32_bits(text, seed, hashed):
    """Of whole words, of which Spark's hash is the published one."""
    assert hashed_32(text, seed) == hashed


def turned(x, bits, size):
    return (x << bits | x >> size - bits) & (1 << size) - 1


def plain_128(data, seed):
    """MurmurHash3 x64 128, byte by byte."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = seed
    whole = len(data) // 16 * 16
    for at in range(0, whole + 16, 16):
        part = data[at : at + 16]
        k1, k2 = (int.from_bytes(half, "little") for half in (part[:8], part[8:]))
        k1 = turned(k1 * c1 & WORD, 31, 64) * c2 & WORD
        k2 = turned(k2 * c2 & WORD, 33, 64) * c1 & WORD
        h1, h2 = h1 ^ k1, h2 ^ k2
        if at < whole:
            first = turned(h1, 27, 64) + (h2 ^ k2) & WORD
            h1 = first * 5 + 0x52DCE729 & WORD
            h2 = (turned(h2, 31, 64) + h1 & WORD) * 5 + 0x38495AB5 & WORD

    def final(k):
        k = (k ^ k >> 33) * 0xFF51AFD7ED558CCD & WORD
        k = (k ^ k >> 33) * 0xC4CEB9FE1A85EC53 & WORD
        return k ^ k >> 33

    h1, h2 = h1 ^ len(data), h2 ^ len(data)
    h1 = h1 + h2 & WORD
    h2 = h2 + h1 & WORD
    h1, h2 = final(h1), final(h2)
    h1 = h1 + h2 & WORD
    return h1, h2 + h1 & WORD


def plain_32(data, seed):
    """Spark's MurmurHash3: bytes behind the last whole word one by one, with their sign."""
    low = (1 << 32) - 1
    whole = len(data) // 4 * 4
    parts = [int.from_bytes(data[at : at + 4], "little") for at in range(0, whole, 4)]
    parts += [byte - 256 if byte > 127 else byte for byte in data[whole:]]
    h = seed
    for part in parts:
        k = turned(part * 0xCC9E2D51 & low, 15, 32) * 0x1B873593 & low
        h = turned(h ^ k, 13, 32) * 5 + 0xE6546B64 & low
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & low
    h = (h ^ h >> 13) * 0xC2B2AE35 & low
    return h ^ h >> 16


@given(st.binary(max_size=100), st.integers(0, WORD))
def test_bytes_as_in_plain_python(data, seed):
    assert hashed_128(data, seed) == plain_128(data, seed)
    assert hashed_32(data, seed & 0xFFFFFFFF) == plain_32(data, seed & 0xFFFFFFFF)


def test_every_length():
    for length in range(100):
        data = bytes(range(156, 156 + length))
        assert hashed_128(data, 9001) == plain_128(data, 9001)
        assert hashed_32(data, 7) == plain_32(data, 7)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, WORD))
def test_an_integer_is_its_8_bytes(number, seed):
    data, out = number.to_bytes(8, "little", signed=True), np.zeros(2, U)
    of_128_word(U(number & WORD), U(seed), out)
    assert tuple(out.tolist()) == plain_128(data, seed)
    assert int(of_32_word(U(number & WORD), U(seed & 0xFFFFFFFF))) == plain_32(data, seed & 0xFFFFFFFF)


MAKERS = [
    lambda: HyperLogLog(0.1, hash="datasketches"),
    lambda: CountMin(0.1, hash="datasketches"),
    lambda: CountMin(0.1, hash="spark"),
    lambda: Bloom(600, hash="spark-v1"),
    lambda: Bloom(600, hash="spark-v2", seed=-3),
]
FORMS = [
    list,
    tuple,
    iter,
    np.array,
    lambda items: np.array(items, object),
    pa.array,
    lambda items: pa.array(items).dictionary_encode(),
    lambda items: pa.array([items[0], *items])[1:],
]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("items", [texts, integers])
def test_one_hash_in_every_form(make, form, items):
    """One by one, many at once, through a buffer; and a string is its UTF-8 bytes."""
    single, many, buffered = make(), make(), make()
    with buffered.buffered(100) as buffer:
        for item in items():
            single.add(item)
            buffer.add(item)
    many.add_many(form(items()))
    assert many.to_bytes() == single.to_bytes() == buffered.to_bytes()
    assert many.added == len(items())
    if items is texts:
        blobs = make()
        blobs.add_many([text.encode() for text in items()])
        assert blobs.to_bytes() == single.to_bytes()


@pytest.mark.parametrize("make", MAKERS)
def test_more_items_than_one_call_takes(make):
    one, parts = make(), make()
    many = np.arange(70_000)
    one.add_many(many)
    for part in np.array_split(many, 9):
        parts.add_many(part)
    assert one.to_bytes() == parts.to_bytes()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("wrong", [None, 1.5, True, "\ud800", 2**63, -(2**63) - 1])
def test_an_item_that_is_refused_changes_nothing(make, wrong):
    sketch = make()
    sketch.add("a")
    before = sketch.to_bytes()
    with pytest.raises((TypeError, ValueError)):
        sketch.add(wrong)
    with pytest.raises((TypeError, ValueError)):
        sketch.add_many([5 if isinstance(wrong, int) else "b", wrong])
    assert sketch.to_bytes() == before


@pytest.mark.parametrize(
    ("seed", "numbers"),
    [
        (0, (1569741360, 1785505948, 516548029)),
        (42, (1562431130, 117392763, 1467211248)),
        (-7, (577934662, 1935951297, 1445645590)),
    ],
)
def test_javas_random_numbers(seed, numbers):
    """Printed by `java.util.Random.nextInt(Integer.MAX_VALUE)`."""
    assert factors(seed & WORD, 3) == numbers
    assert seed_of_factors(numbers) == seed & WORD


@given(st.integers(-(2**31), 2**31 - 1), st.integers(2, 9))
def test_a_seed_is_found_again(seed, rows):
    found = seed_of_factors(factors(seed & WORD, rows))
    assert found is not None
    assert factors(found, rows) == factors(seed & WORD, rows)
    if rows > 2:
        assert found == seed & WORD


@given(st.lists(st.integers(0, 2**31 - 2), min_size=3, max_size=5))
def test_factors_of_no_seed(numbers):
    """Three numbers at random are those of one seed of 2**32 with a chance of 2**-61."""
    assert seed_of_factors(tuple(numbers)) is None


def test_row_seeds_are_those_of_the_library():
    theirs = pytest.importorskip("datasketches")
    for seed in (0, 1, 2**31 - 1, 9001, 2**63 + 5, WORD):
        sketch = theirs.count_min_sketch(9, 64, seed)
        sketch.update("tea")
        assert CountMin.from_datasketches(sketch.serialize(), seed=seed).estimate("tea") == 1
        assert len(set(row_seeds(seed, 9))) == 9
