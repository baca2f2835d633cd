"""Hashing and positions against plain arithmetic."""

import ctypes
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree.words import flag_of, hash_bytes, last_word, mix, position, tail_word

WORD = st.integers(0, (1 << 64) - 1)
MASK = (1 << 64) - 1
U = np.uint64


def _mix(word):
    word = (word ^ word >> 32) * 0xBF58476D1CE4E5B9 & MASK
    word = (word ^ word >> 29) * 0x94D049BB133111EB & MASK
    return word ^ word >> 32


def _unmix(word):
    def unshift(word, by):
        out = word
        for _ in range(64 // by):
            out = word ^ out >> by
        return out

    word = unshift(word, 32) * pow(0x94D049BB133111EB, -1, 1 << 64) & MASK
    word = unshift(word, 29) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & MASK
    return unshift(word, 32)


def _folded(a, b):
    return a * b >> 64 ^ a * b & MASK


def _hash(data):
    one, two, seed = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15
    h, at = seed ^ len(data), 0
    while len(data) - at > 16:
        first, second = (int.from_bytes(data[at + k : at + k + 8], "little") for k in (0, 8))
        h = _folded(first ^ one, second ^ h)
        at += 16
    if at:
        first, second = (int.from_bytes(part, "little") for part in (data[-16:-8], data[-8:]))
        h ^= _folded(first ^ two, second ^ seed)
        return h ^ h >> 32
    size = 8 if len(data) >= 8 else 4
    a, b = (int.from_bytes(part, "little") for part in ((data[:size], data[-size:]) if len(data) >= 4 else (data, b"")))
    product = (a ^ one) * (b ^ h)
    return _folded(product & MASK ^ len(data) ^ two, product >> 64 ^ seed)


def _compiled_hash(data, shift=0):
    buffer = ctypes.create_string_buffer(b"\xaa" * shift + data + b"\xaa" * 8)
    return int(hash_bytes(U(ctypes.addressof(buffer) + shift), U(len(data))))


@given(word=WORD)
def test_mix_is_a_bijection(word):
    assert int(mix(U(word))) == _mix(word)
    assert _unmix(_mix(word)) == word


def test_mix_changes_about_half_the_bits_for_any_one_bit(rng):
    flips = np.zeros((64, 64))
    rounds = 500
    for _ in range(rounds):
        word = rng.getrandbits(64)
        h = _mix(word)
        for bit in range(64):
            change = h ^ _mix(word ^ 1 << bit)
            flips[bit] += [change >> k & 1 for k in range(64)]
    assert flips.min() > rounds * 0.3
    assert flips.max() < rounds * 0.7


def test_the_hash_changes_about_half_of_its_bits_for_any_one_bit():
    rounds, rng = 300, random.Random(20120225)
    for length in (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33):
        flips = np.zeros((8 * length, 64))
        for _ in range(rounds):
            data = rng.randbytes(length)
            h = _hash(data)
            for bit in range(8 * length):
                change = h ^ _hash((int.from_bytes(data, "little") ^ 1 << bit).to_bytes(length, "little"))
                flips[bit] += np.unpackbits(np.frombuffer(change.to_bytes(8, "little"), np.uint8))
        assert flips.min() > rounds * 0.25, length
        assert flips.max() < rounds * 0.75, length


COUNTED = range(20_000)
#: Keys as people make them, by name.
KEYS = {
    "mixed": [f"user/{n}/name" for n in COUNTED]
    + [str(n) for n in COUNTED]
    + [letter * n for letter in "abc\0" for n in range(1, 200)],
    "addresses": [f"https://example.org/items/{n}" for n in COUNTED],
    "numbers in front": [f"{n:020d}-of-a-key" for n in COUNTED],
    "numbers at the end": [f"key-{n:020d}" for n in COUNTED],
    "thousands": [f"{n * 1000:032d}" for n in COUNTED],
    "two numbers": [f"{n % 150:016x}{n // 150:016x}" for n in COUNTED],
    "two small words": [chr(n % 128) + "\0" * 15 + chr(n // 128) + "\0" * 15 for n in range(128 * 128)],
    "one number in high bytes": ["\0" * 22 + chr(n % 128) + chr(n // 128) for n in range(128 * 128)],
    "four letters": ["".join("abcd"[n >> 2 * k & 3] for k in range(20)) for n in COUNTED],
    "the same thrice": [f"{n:08d}" * 3 for n in COUNTED],
    "long": ["/".join(f"{(7 * n + k) % 99_991:05d}" for k in range(9)) for n in COUNTED],
}


@pytest.mark.parametrize("name", KEYS)
def test_keys_as_people_make_them_do_not_collide(name):
    texts = KEYS[name]
    hashes = {_hash(text.encode()) for text in texts}
    assert len(hashes) == len(set(texts))
    for low in (12, 18, 24):  # the bits that place a key in the first levels
        used = len({h & (1 << low) - 1 for h in hashes})
        assert used > 0.98 * (1 << low) * (1 - 2.718 ** (-len(hashes) / (1 << low)))


@pytest.mark.parametrize("shift", range(8))
def test_the_hash_and_the_last_word_read_nothing_outside(shift):
    """The bytes around are of other values each time."""
    for length in range(1, 41):
        data = bytes(range(length))
        seen, rest = set(), set()
        for around in (b"\0", b"\xff", b"\xa5"):
            buffer = ctypes.create_string_buffer(around * (8 + shift) + data + around * 8)
            at = U(ctypes.addressof(buffer) + 8 + shift)
            seen.add(int(hash_bytes(at, U(length))))
            if length % 8:
                rest.add(int(last_word(at, U(length))))
        assert seen == {_hash(data)}
        assert rest <= {int.from_bytes(data[length & ~7 :], "little")}


@given(data=st.binary(max_size=40), shift=st.integers(0, 7))
def test_the_hash_depends_on_the_bytes_alone(data, shift):
    assert _compiled_hash(data, shift) == _hash(data)


def test_zero_bytes_at_the_end_count():
    hashes = {_compiled_hash(bytes(n)) for n in range(40)}
    assert len(hashes) == 40


@pytest.mark.parametrize("count", range(8))
def test_the_tail_is_padded_with_zeros(count):
    buffer = ctypes.create_string_buffer(b"\xff" * 16)
    assert int(tail_word(U(ctypes.addressof(buffer)), U(count))) == (1 << 8 * count) - 1


@given(h=WORD, level=st.sampled_from(range(0, 61, 6)))
def test_a_flag_is_the_bit_of_a_hash_slice(h, level):
    assert int(flag_of(U(h), U(level))) == 1 << (h >> level & 63)


@given(bitmap=WORD, bit=st.integers(0, 63))
def test_a_position_counts_the_slots_before(bitmap, bit):
    assert int(position(U(bitmap), U(1 << bit))) == sum(bitmap >> k & 1 for k in range(bit))
