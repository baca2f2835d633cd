"""Values as they stand in a text, without an object for each: a token is where a value begins, and how long it is.

Example: the value "ab" at place 7 is the token ``7 << 16 | 4``, with its quotes. Only numbers without zeros before them
and texts without escapes are tokens. So two values are equal if and only if their tokens have the same bytes, and
whatever is written in another way, such as 1.0 or true for 1, is unusual. Only the result of an operation that answers
true or false may be 1 or 0 as well, as columns of numbers write it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.logs.lines import Bytes, number_at
from latchfree_lincheck.history.timeline import Ints

# In place of a token.
NO_TOKEN: Final = -1
NULL: Final = -2
TRUE: Final = -3
FALSE: Final = -4

BITS: Final = 16
LENGTH: Final = (1 << BITS) - 1
"""Of a token, the lowest bits are its length."""

_QUOTE: Final = 34
_BACKSLASH: Final = 92
_COLON: Final = 58
_MINUS: Final = 45
_0: Final = 48
_9: Final = 57
_BLANK: Final = 32
_LAST_PRINTED: Final = 126

_START: Final = np.uint64(0xCBF29CE484222325)
_PRIME: Final = np.uint64(0x100000001B3)
_SHIFT: Final = np.uint64(32)


@kernel
def text_token(text: Bytes, at: int, colons: bool) -> tuple[int, int]:
    """Return the token of a text in quotes, and where it ends; -1 if there is none, or it is unusual."""
    if at >= len(text) or text[at] != _QUOTE:
        return 0, -1
    end = at + 1
    while end < len(text) and text[end] != _QUOTE:
        byte = text[end]
        if not _BLANK <= byte <= _LAST_PRINTED or byte == _BACKSLASH or (byte == _COLON and not colons):
            return 0, -1
        end += 1
    if end >= len(text) or end + 1 - at > LENGTH:
        return 0, -1
    return (at << BITS) | (end + 1 - at), end + 1


@kernel
def number_token(text: Bytes, at: int) -> tuple[int, int]:
    """Return the token of a whole number, and where it ends; -1 if there is none, or it is unusual."""
    begin = at
    if at < len(text) and text[at] == _MINUS:
        begin = at + 1
        if begin < len(text) and text[begin] == _0:
            return 0, -1
    _, end = number_at(text, begin)
    if end < 0:
        return 0, -1
    return (at << BITS) | (end - at), end


@kernel
def scalar_token(text: Bytes, at: int, colons: bool) -> tuple[int, int]:
    """Return the token of a text or of a whole number, and where it ends; -1 if there is none, or it is unusual."""
    if at < len(text) and text[at] == _QUOTE:
        return text_token(text, at, colons)
    return number_token(text, at)


@kernel
def inside(token: int) -> int:
    """Return the token of a text without its quotes."""
    return token + (1 << BITS) - 2


@kernel
def is_text(text: Bytes, token: int) -> bool:
    """Return whether a token is a text in quotes."""
    return bool(token >= 0 and text[token >> BITS] == _QUOTE)


@kernel
def truth_of(text: Bytes, token: int) -> int:
    """Return 1 for true and for 1, 0 for false and for 0, which are equal; -1 for anything else."""
    if token in (TRUE, FALSE):
        return int(token == TRUE)
    if token < 0 or token & LENGTH != 1 or not _0 <= text[token >> BITS] <= _0 + 1:
        return -1
    return int(text[token >> BITS]) - _0


@kernel
def same_token(text: Bytes, one: int, other: int) -> bool:
    """Return whether two tokens have the same bytes."""
    size = one & LENGTH
    if one < 0 or other < 0 or size != other & LENGTH:
        return bool(one == other)
    first, second = one >> BITS, other >> BITS
    i = 0
    while i < size and text[first + i] == text[second + i]:
        i += 1
    return bool(i == size)


@kernel
def is_word(text: Bytes, token: int, words: Bytes, low: int, high: int) -> bool:
    """Return whether a token is the word from `low` to `high` of some words."""
    if token < 0 or token & LENGTH != high - low:
        return False
    at = token >> BITS
    i = 0
    while low + i < high and text[at + i] == words[low + i]:
        i += 1
    return low + i == high


@kernel
def number_of(text: Bytes, token: int, table: Ints, tokens: Ints, count: int) -> int:
    """Return the number of a token among `count` different ones; a new one is added, and its number is `count`."""
    mixed = _START
    at = token >> BITS
    for i in range(token & LENGTH):
        mixed = (mixed ^ np.uint64(text[at + i])) * _PRIME
    mask = np.uint64(len(table) - 1)
    slot = (mixed ^ (mixed >> _SHIFT)) & mask
    while table[slot] != 0:
        number = table[slot] - 1
        if same_token(text, tokens[number], token):
            return int(number)
        slot = (slot + np.uint64(1)) & mask
    table[slot] = count + 1
    tokens[count] = token
    return count


@kernel
def skip_blanks(text: Bytes, at: int) -> int:
    """Return where the next byte stands that is no blank."""
    while at < len(text) and text[at] == _BLANK:
        at += 1
    return at


def words(names: Any) -> tuple[Any, Any]:
    """Return some words as compiled code looks at them: their bytes, and where each begins."""
    texts = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8).copy(), ends
