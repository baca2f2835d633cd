"""Digits: the 64-bit words that patterns and topics are turned into.

Example: the pattern ``sport/+`` of MQTT becomes three digits: the hash of ``sport``, ANY_WORD, and END.

A word's digit is a hash of its bytes with the top bit clear. The reserved digits have the top bit set, so no word is
taken for a wildcard or for the end. Words of up to seven bytes have different digits if they differ.

Compiled code knows a dialect by one word, its *rules*: separator, wildcard for one word, wildcard for many words (a
byte each), flags, the longest text, and the most words.
"""

from typing import NamedTuple

import numpy as np

from latchfree.atomics import peek, poke, read_byte, read_word, trailing_zeros
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY, KEY_LENGTH
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.words import bits_below, low_bytes, mix, tail_word, zero_bytes

_0, _1, _2, _3, _7, _8, _16, _56, _64 = map(np.uint64, (0, 1, 2, 3, 7, 8, 16, 56, 64))
_BYTE = np.uint64(255)
_16_BITS = np.uint64(0xFFFF)
_SEED = np.uint64(0x243F6A8885A308D3)
_ALL = ~_0
_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_LAST = np.uint64(0x80)

#: Digits that no word has.
ANY_WORD = np.uint64(0x9216D5D98979FB1B)
ANY_WORDS = np.uint64(0xD1310BA698DFB5AC)
END = np.uint64(0xBA7C9045F12C7F99)

_WORD = np.uint64((1 << 63) - 1)

# Flags among the rules.
ANYWHERE = np.uint64(1 << 24)  # `many` may stand anywhere
LEAST = np.uint64(1 << 25)  # it stands for one word at least
HIDES = np.uint64(1 << 26)  # a leading wildcard does not match what starts with $
NO_EMPTY_WORD = np.uint64(1 << 27)
NO_EMPTY_TEXT = np.uint64(1 << 28)
LONGEST_SHIFT = np.uint64(32)
MOST_WORDS_SHIFT = np.uint64(48)  # behind it stands one less

_DOLLAR = np.uint64(ord("$"))

#: In place of a number of words: the text breaks a rule. TOO_SMALL, for an array that is too short, is another value.
INVALID = np.uint64((1 << 64) - 2)


class Grammar(NamedTuple):
    """A dialect as compiled code takes it.

    Attributes
    ----------
    rules : int
        See the module.
    forbidden : int
        The bytes below 64 that no topic has, a bit each.
    """

    rules: Word
    forbidden: Word


@kernel
def separator(rules: Word) -> Word:
    """Return the byte between words."""
    return rules & _BYTE


@kernel
def one_byte(rules: Word) -> Word:
    """Return the byte that stands for one word."""
    return (rules >> _8) & _BYTE


@kernel
def many_byte(rules: Word) -> Word:
    """Return the byte that stands for many words."""
    return (rules >> _16) & _BYTE


@kernel
def longest(rules: Word) -> Word:
    """Return the bytes of a text at most."""
    return (rules >> LONGEST_SHIFT) & _16_BITS


@kernel
def most_words(rules: Word) -> Word:
    """Return the words of a text at most."""
    return (rules >> MOST_WORDS_SHIFT) + _1


@kernel
def _finished(h: Word, tail: Word, length: Word) -> Word:
    """Return the digit of a word of `length` bytes whose last, incomplete eight are `tail`."""
    return mix(h ^ tail ^ (length << _56)) & _WORD


@kernel
def _as_wildcard(rules: Word, byte: Word) -> Word:
    """Return the digit of the wildcard that is this byte, or 0."""
    if byte == one_byte(rules):
        return ANY_WORD
    return ANY_WORDS if byte == many_byte(rules) else _0


@kernel
def _load(address: Word, length: Word, at: Word, size: Word) -> Word:
    """Read `size` bytes (0 to 8) of a text of `length` from `at` on, as a word; read nothing outside of the text."""
    if size == _0:
        return _0
    if at + _8 <= length:
        return read_word(address + at) & (_ALL >> (_64 - _8 * size))
    if at + size >= _8:
        return read_word(address + at + size - _8) >> (_64 - _8 * size)
    return tail_word(address + at, size)


@kernel
def _digit(address: Word, length: Word, at: Word, size: Word) -> Word:
    """Return the digit of the word of `size` bytes at `at` of a text of `length`."""
    h = _SEED
    end = at + size
    while at + _8 <= end:
        h = mix(h ^ read_word(address + at))
        at += _8
    return _finished(h, _load(address, length, at, end - at), size)


@kernel
def _has_forbidden(address: Word, length: Word, forbidden: Word) -> Flag:
    for at in range(length):
        byte = read_byte(address + at)
        if byte < _64 and (forbidden >> byte) & _1 != _0:
            return True
    return False


@kernel
def parse(
    address: Word, length: Word, rules: Word, forbidden: Word, mask: Word, wild: Flag, starts: Word, digits: Word
) -> Word:
    """Split a text into words; write where each word starts, and its digit, and return the number of words or INVALID.

    After the words, `starts` gets the place where one more word would start, and `digits` gets END. Eight bytes are
    looked at together.

    Parameters
    ----------
    address, length : int
        The text.
    rules, forbidden : int
        See `Grammar`; `forbidden` has no bit for the separator.
    mask : int
        The bits of a digit that count.
    wild : bool
        Whether the wildcard characters are wildcards, as in a pattern.
    starts, digits : address
        Room for `length` + 2 words each.
    """
    if length > longest(rules):
        return INVALID
    if length == _0:
        poke(starts, _0, _0)
        poke(digits, _0, END)
        return INVALID if rules & NO_EMPTY_TEXT != _0 else _0
    gaps = separator(rules) * _ONES
    floors = bits_below(forbidden) * _ONES
    low = _0
    count = _0
    start = _0
    at = _0
    while at <= length:
        left = length - at
        chunk = _load(address, length, at, min(left, _8))
        closing = _0
        if left < _8:
            chunk |= _HIGHS << (_8 * left)
            closing = _LAST << (_8 * left)
        low |= low_bytes(chunk, floors)
        found = zero_bytes(chunk ^ gaps) | closing
        while found != _0:
            end = at + (trailing_zeros(found) >> _3)
            found &= found - _1
            size = end - start
            if size == _0 and rules & NO_EMPTY_WORD != _0:
                return INVALID
            digit = _digit(address, length, start, size) & mask
            if wild and size == _1:
                wildcard = _as_wildcard(rules, read_byte(address + start))
                digit = digit if wildcard == _0 else wildcard
            poke(starts, count, start)
            poke(digits, count, digit)
            count += _1
            start = end + _1
        at += _8
    if count > most_words(rules) or (low != _0 and _has_forbidden(address, length, forbidden)):
        return INVALID
    poke(starts, count, start)
    poke(digits, count, END)
    return count


@kernel
def stored_byte(mem: Handle, s: Word, at: Word) -> Word:
    """Return a byte of the pattern of S-node `s`."""
    return (peek(mem, s + BLOB_KEY_WORDS + (at >> _3)) >> (_8 * (at & _7))) & _BYTE


@kernel
def first_word(mem: Handle, s: Word) -> Word:
    """Return where the first word of a stored pattern starts; past the pattern if the pattern has no word."""
    return _1 if peek(mem, s + KEY_LENGTH) == _0 else _0


@kernel
def word_after(mem: Handle, s: Word, rules: Word, at: Word) -> Word:
    """Return where the word after the one at `at` starts; past the pattern after the last one."""
    length = peek(mem, s + KEY_LENGTH)
    while at < length and stored_byte(mem, s, at) != separator(rules):
        at += _1
    return at + _1


@kernel
def stored_digit(mem: Handle, s: Word, rules: Word, mask: Word, at: Word) -> Word:
    """Return the digit of the word at `at` of a stored pattern; past the pattern END, past END the mixed number."""
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
    """Return whether a leading wildcard does not match the topic at `address`."""
    return rules & HIDES != _0 and length > _0 and read_byte(address) == _DOLLAR
