"""Strings and words that have one hash.

Example: the hash of a long string multiplies two words of the text, mixed with what it has so far. If one of the two is
0, so is the product, whatever the other is: so the other one may be any eight letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, Final

import numpy as np

from latchfree.topics.mask.kernels.texts import GOLDEN
from latchfree.words import MIX_1, MIX_2

_ALL: Final = (1 << 64) - 1
#: With what hashing begins: of `latchfree.words`, and of `latchfree.topics.concurrent.kernels.digits`.
_BYTES, _DIGIT = 0x9E3779B97F4A7C15, np.uint64(0x243F6A8885A308D3)
_LENGTH: Final = 40
_BLOCK: Final = 1 << 18
#: What words of topics can have: no blank, no separator, no wildcard.
_LETTERS: Final = np.array([byte in set(range(33, 127)) - set(b"/+#$") for byte in range(256)])


def strings(wanted: int) -> list[str]:
    """Return strings of 40 letters of one hash, as maps and sketches hash them."""
    for k in count():
        first = f"{k:016d}".encode()
        low, high = (int.from_bytes(first[at : at + 8], "little") for at in (0, 8))
        product = (low ^ int(MIX_1)) * (high ^ _BYTES ^ _LENGTH)
        second = ((product & _ALL) ^ (product >> 64)).to_bytes(8, "little")
        if all(32 <= byte < 127 for byte in second):
            return [f"{first.decode()}{each:08d}{second.decode()}same end" for each in range(wanted)]
    raise AssertionError


def _mixed(word: Any) -> Any:
    word = (word ^ (word >> np.uint64(32))) * MIX_1
    word = (word ^ (word >> np.uint64(29))) * MIX_2
    return word ^ (word >> np.uint64(32))


def words(wanted: int, hashed: Callable[[Any], Any]) -> list[str]:
    """Return words of 16 letters of one hash, in which the second eight letters are added to `hashed` of the first."""
    found: list[str] = []
    target = np.frombuffer(b"elevenjs", np.uint64)[0]
    for first in _numbered():
        second = (hashed(first.view(np.uint64)[:, 0]) ^ target)[:, None].view(np.uint8)
        fits = _LETTERS[second].all(axis=1)
        both = np.concatenate([first[fits], second[fits]], axis=1)
        found.extend(bytes(row).decode() for row in both)
        if len(found) >= wanted:
            return found[:wanted]
    raise AssertionError


def _numbered() -> Iterator[Any]:
    """Yield numbers as eight letters each, of which there are 64."""
    shifts = np.arange(0, 48, 6)
    for low in count(0, _BLOCK):
        yield (48 + (np.arange(low, low + _BLOCK)[:, None] >> shifts & 63)).astype(np.uint8)


def of_trie(wanted: int) -> list[str]:
    """Return words of one hash, as `ConcurrentTrie` hashes them."""
    return words(wanted, lambda first: _mixed(first ^ _DIGIT))


def of_index(wanted: int) -> list[str]:
    """Return words of one hash, as `MaskIndex` hashes them."""
    return words(wanted, lambda first: first * GOLDEN)


def spread(keys: list[str]) -> list[str]:
    """Return keys of the same letters that nobody has chosen to have one hash."""
    half = len(keys[0]) // 2
    return [f"{key[:half][::-1]}{key[half:]}" for key in keys]
