"""Splitting a text into words, eight bytes at a time, against the definition, byte by byte."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree.topics import DIALECTS
from latchfree.topics.concurrent.kernels import digits as d
from latchfree.topics.concurrent.packed_dialect import forbidden_in, rules_of
from latchfree.words import bits_below, mix

LOW = (1 << 63) - 1


def digit(word):
    """A word's digit, as it is defined."""
    h = int(d._SEED)
    full = len(word) // 8 * 8
    for at in range(0, full, 8):
        h = int(mix(np.uint64(h ^ int.from_bytes(word[at : at + 8], "little"))))
    tail = int.from_bytes(word[full:], "little")
    return int(mix(np.uint64(h ^ tail ^ (len(word) % 256) << 56))) & LOW


def parsed(text, rules, forbidden, wild):
    """What `parse` makes of a text that has nothing readable around it."""
    data = np.frombuffer(b"\xff" * 16 + text + b"\xff" * 16, np.uint8)
    starts, digits = np.zeros(len(text) + 2, np.uint64), np.zeros(len(text) + 2, np.uint64)
    count = int(
        d.parse(
            np.uint64(data.ctypes.data + 16), np.uint64(len(text)), np.uint64(rules), np.uint64(forbidden),
            ~np.uint64(0), wild, np.uint64(starts.ctypes.data), np.uint64(digits.ctypes.data),
        )
    )  # fmt: skip
    if count == int(d.INVALID):
        return None
    return [int(n) for n in starts[: count + 1]], [int(n) for n in digits[: count + 1]]


def expected(text, dialect, forbidden, wild):
    gap = dialect.separator.encode()
    words = text.split(gap) if text else []
    if (not text and dialect.name in ("mqtt", "nats")) or (dialect.name == "nats" and b"" in words):
        return None
    if any(byte < 64 and forbidden >> byte & 1 for byte in text):
        return None
    wildcards = {dialect.one.encode(): int(d.ANY_WORD), dialect.many.encode(): int(d.ANY_WORDS)} if wild else {}
    starts = [sum(len(word) + 1 for word in words[:k]) for k in range(len(words) + 1)]
    return starts, [*(wildcards.get(word, digit(word)) for word in words), int(d.END)]


@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_words_and_digits(dialect, wild, data):
    rules = DIALECTS[dialect]
    some = st.sampled_from(
        [*b"abc012", *f"{rules.separator}{rules.one}{rules.many}".encode(), 0, 32, 62, 127, 128, 255]
    )
    text = bytes(data.draw(st.lists(some, max_size=40)))
    if data.draw(st.booleans()):
        text = text.replace(rules.separator.encode(), b"") + text
    forbidden = 0 if wild else forbidden_in(rules)
    assert parsed(text, rules_of(rules), forbidden, wild) == expected(text, rules, forbidden, wild)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_forbidden_byte_is_found_wherever_it_is(dialect):
    rules = DIALECTS[dialect]
    forbidden = forbidden_in(rules)
    for length in range(1, 26):
        for at in range(length):
            for byte in range(128):
                text = bytearray(b"x" * length)
                text[at] = byte
                bad = forbidden >> byte & 1 if byte < 64 else 0
                lone = byte == ord(rules.separator) and (at in (0, length - 1)) and dialect == "nats"
                assert (parsed(bytes(text), rules_of(rules), forbidden, False) is None) == bool(bad or lone)


@given(st.integers(0, (1 << 64) - 1))
def test_bits_below(word):
    assert int(bits_below(np.uint64(word))) == word.bit_length()
