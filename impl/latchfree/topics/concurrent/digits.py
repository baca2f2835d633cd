"""Digits: what a pattern and a topic are made of, and where they fall.

A word's digit is a hash of its bytes with the top bit clear; the reserved digits have it set, so no word is taken for a
wildcard or for the end. A word of up to seven bytes shares its digit with no other of that kind.

What a dialect means for compiled code is one word, its *rules*: separator, wildcard for one word, wildcard for many (a
byte each), flags, and the longest text.
"""

import numpy as np

from latchfree.atomics import peek, read_byte
from latchfree.ctrie.entries import BLOB_KEY_WORDS, KEY, KEY_LENGTH
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.words import mix

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_7 = np.uint64(7)
_8 = np.uint64(8)
_16 = np.uint64(16)
_56 = np.uint64(56)
_64 = np.uint64(64)
_BYTE = np.uint64(255)
_SEED = np.uint64(0x243F6A8885A308D3)

#: Digits that no word has.
ONE = np.uint64(0x9216D5D98979FB1B)
MANY = np.uint64(0xD1310BA698DFB5AC)
END = np.uint64(0xBA7C9045F12C7F99)

_WORD = np.uint64((1 << 63) - 1)

# Flags among the rules.
ANYWHERE = np.uint64(1 << 24)  # `many` may stand anywhere
LEAST = np.uint64(1 << 25)  # it stands for one word at least
HIDES = np.uint64(1 << 26)  # a leading wildcard does not match what starts with $
NO_EMPTY_WORD = np.uint64(1 << 27)
NO_EMPTY_TEXT = np.uint64(1 << 28)
LONGEST_SHIFT = np.uint64(32)

_DOLLAR = np.uint64(ord("$"))

#: In place of a number of words: the text breaks a rule. It is not what says that an array is too short.
INVALID = np.uint64((1 << 64) - 2)


@kernel
def separator(rules: Word) -> Word:
    return rules & _BYTE


@kernel
def one_byte(rules: Word) -> Word:
    return (rules >> _8) & _BYTE


@kernel
def many_byte(rules: Word) -> Word:
    return (rules >> _16) & _BYTE


@kernel
def _finished(h: Word, tail: Word, length: Word) -> Word:
    """Digit of a word of `length` bytes whose last, incomplete eight are `tail`."""
    return mix(h ^ tail ^ (length << _56)) & _WORD


@kernel
def _as_wildcard(rules: Word, byte: Word) -> Word:
    """Digit of the wildcard that is this byte, or 0."""
    if byte == one_byte(rules):
        return ONE
    return MANY if byte == many_byte(rules) else _0


@kernel
def parse(
    address: Word, length: Word, rules: Word, forbidden: Word, mask: Word, wild: Flag, starts: Array, digits: Array
) -> Word:
    """Split a text into words: where each starts, and its digit, of which `mask` says which bits count.

    `wild` says whether wildcards are meant, as in patterns. `forbidden` has a bit for each byte below 64 that must not
    occur. After the words, `starts` has where one more would start, and `digits` has END. Returns the number of words,
    or INVALID. The arrays need room for `length` + 2 elements.
    """
    if length > rules >> LONGEST_SHIFT:
        return INVALID
    if length == _0:
        starts[0] = 0
        digits[0] = END
        return INVALID if rules & NO_EMPTY_TEXT != _0 else _0
    gap = separator(rules)
    count = 0
    start = _0
    h = _SEED
    tail = _0
    byte = _0
    at = _0
    while at <= length:
        last = byte
        byte = gap if at == length else read_byte(address + at)
        if byte == gap:
            size = at - start
            if size == _0 and rules & NO_EMPTY_WORD != _0:
                return INVALID
            digit = _finished(h, tail, size) & mask
            if wild and size == _1 and _as_wildcard(rules, last) != _0:
                digit = _as_wildcard(rules, last)
            starts[count] = start
            digits[count] = digit
            count += 1
            start = at + _1
            h = _SEED
            tail = _0
        else:
            if byte < _64 and (forbidden >> byte) & _1 != _0:
                return INVALID
            place = (at - start) & _7
            tail |= byte << (_8 * place)
            if place == _7:
                h = mix(h ^ tail)
                tail = _0
        at += _1
    starts[count] = start
    digits[count] = END
    return np.uint64(count)


@kernel
def stored_byte(mem: Handle, s: Word, at: Word) -> Word:
    """A byte of the pattern of S-node `s`."""
    return (peek(mem, s + BLOB_KEY_WORDS + (at >> _3)) >> (_8 * (at & _7))) & _BYTE


@kernel
def first_word(mem: Handle, s: Word) -> Word:
    """Where the first word of a stored pattern starts; past the pattern, as after the last word, if it has none."""
    return _1 if peek(mem, s + KEY_LENGTH) == _0 else _0


@kernel
def word_after(mem: Handle, s: Word, rules: Word, at: Word) -> Word:
    """Where the word after the one at `at` starts; past the pattern after the last one."""
    length = peek(mem, s + KEY_LENGTH)
    while at < length and stored_byte(mem, s, at) != separator(rules):
        at += _1
    return at + _1


@kernel
def stored_digit(mem: Handle, s: Word, rules: Word, mask: Word, at: Word) -> Word:
    """Digit of the word at `at` of a stored pattern, of END past the pattern, of the number past END."""
    length = peek(mem, s + KEY_LENGTH)
    if at > length:
        return END if at == length + _1 else mix(peek(mem, s + KEY))
    end = word_after(mem, s, rules, at) - _1
    if end - at == _1 and _as_wildcard(rules, stored_byte(mem, s, at)) != _0:
        return _as_wildcard(rules, stored_byte(mem, s, at))
    h = _SEED
    tail = _0
    for k in range(end - at):
        place = np.uint64(k) & _7
        tail |= stored_byte(mem, s, at + np.uint64(k)) << (_8 * place)
        if place == _7:
            h = mix(h ^ tail)
            tail = _0
    return _finished(h, tail, end - at) & mask


@kernel
def is_hidden(address: Word, length: Word, rules: Word) -> Flag:
    """Whether a leading wildcard does not match the topic at `address`."""
    return rules & HIDES != _0 and length > _0 and read_byte(address) == _DOLLAR
