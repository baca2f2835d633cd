"""Hashing and positions against plain arithmetic."""

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree.words import flag_of, hash_bytes, mix, position, tail_word

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


def _hash(data):
    h = 0x9E3779B97F4A7C15 ^ len(data) * 0xBF58476D1CE4E5B9 & MASK
    whole = len(data) & ~7
    for k in range(0, whole, 8):
        h = _mix(h ^ int.from_bytes(data[k : k + 8], "little")) + 0x9E3779B97F4A7C15 & MASK
    return _mix(h ^ int.from_bytes(data[whole:], "little"))


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
