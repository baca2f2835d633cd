"""How large a Bloom filter of blocks must be: the rate of false positives of a shape, exactly, and the inverse.

Example: for a million items and a rate of 1 %, blocks of 4 words with 2 bits in each need 11.2 bits an item. A filter
without blocks would need 9.6, and seven accesses to memory for an item instead of one.

The rate. Items fall into blocks at random: with an average of r items a block, n are in a block with the probability
of Poisson. Then each of the block's words has had b * n bits thrown into it, and another item is found there if the b
bits that it asks for, thrown again, all hit bits that are set.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_WORD: Final = 64
#: A shape for lower rates has blocks of a whole cache line. They spare bits, and cost twice the steps.
_WHOLE_LINE_PAYS: Final = 1.25


@cache
def _distinct(throws: int) -> tuple[float, ...]:
    """Return with which probability `throws` bits thrown into a word are 0, 1, 2, ... different ones."""
    found = [1.0]
    for _ in range(throws):
        more = [0.0] * (len(found) + 1)
        for d, p in enumerate(found):
            more[d] += p * d / _WORD
            more[d + 1] += p * (1 - d / _WORD)
        found = more
    return tuple(found)


def _all_hit(bits: int, items: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance that `bits` bits thrown into a word are all among those that a number of items have thrown."""
    total = np.zeros_like(items)
    for j in range(bits + 1):
        # Inclusion and exclusion over which j of the bits are not hit.
        missed = sum(p * (1 - d / _WORD) ** (bits * items) for d, p in enumerate(_distinct(j)))
        total += (-1) ** j * math.comb(bits, j) * missed
    return np.clip(total, 0.0, 1.0)


def rate(blocks: int, words: int, bits: int, items: float) -> float:
    """Return the rate of false positives of a filter with that many different items.

    Parameters
    ----------
    blocks : int
        Blocks of the filter.
    words : int
        Words of a block.
    bits : int
        Bits that an item sets in each word.
    items : float
        How many different items were added.
    """
    if items == 0:
        return 0.0
    mean = items / blocks
    spread = 12 * math.sqrt(mean) + 12
    n = np.arange(max(0, math.floor(mean - spread)), math.ceil(mean + spread) + 1, dtype=np.float64)
    logs = -mean + n * math.log(mean) - np.array([math.lgamma(k + 1) for k in n])
    return float(np.sum(np.exp(logs) * _all_hit(bits, n) ** words))


def _blocks_for(words: int, bits: int, items: int, wanted: float) -> int:
    """Return the fewest blocks with which the rate is not above `wanted`."""
    low, high = 0, max(1, items // words)
    while rate(high, words, bits, items) > wanted:
        low, high = high, 2 * high
    while high - low > 1 + high // 4096:
        middle = (low + high) // 2
        if rate(middle, words, bits, items) > wanted:
            low = middle
        else:
            high = middle
    return high


def shape_for(items: int, wanted: float) -> tuple[int, int, int]:
    """Return blocks, words of a block, and bits in each word, of the smallest filter for a rate; see the module."""
    best = {
        words: min((_blocks_for(words, bits, items, wanted) * words, bits) for bits in (1, 2, 3, 4)) for words in (4, 8)
    }
    words = 4 if best[4][0] <= _WHOLE_LINE_PAYS * best[8][0] else 8
    size, bits = best[words]
    return size // words, words, bits


def slices_for(items: int, wanted: float) -> tuple[float, int]:
    """Return bits of a slice, and slices, of the smallest partitioned filter for a rate.

    A bit of a slice is set with the probability 1 - (1 - 1/m)**items, and another item finds it so in each slice.
    """
    sizes = []
    for slices in range(1, 41):
        set_ = wanted ** (1 / slices)
        sizes.append((slices / -math.expm1(math.log1p(-set_) / items), slices))
    total, slices = min(sizes)
    return total / slices, slices


def sliced_rate(bits: int, slices: int, items: float) -> float:
    """Return the rate of false positives of a partitioned filter with that many different items."""
    return float(-math.expm1(items * math.log1p(-1 / bits))) ** slices if bits > 1 else 1.0


def items_in_slice(bits: int, ones: int) -> float:
    """Return how many different items a slice has most likely, of whose bits so many are ones; infinity if all are."""
    return math.inf if ones >= bits else math.log1p(-ones / bits) / math.log1p(-1 / bits)


def fading_for(slots: int, hashes: int, top: int, wanted: float) -> int:
    """Return how many cells of a stable filter each add must lower, so that its rate comes to rest at `wanted`.

    Deng and Rafiei (2006), formula 17, rounded up: rounded down, the rate is above the bound.
    """
    zero = float((1 - wanted ** (1 / hashes)) ** (1 / top))
    return math.ceil(1 / ((1 / zero - 1) * (1 / hashes - 1 / slots)))


def stable_rate(slots: int, hashes: int, top: int, fading: int) -> float:
    """Return the rate of false positives at which a stable filter comes to rest."""
    return float((1 - (1 / (1 + 1 / (fading * (1 / hashes - 1 / slots)))) ** top) ** hashes)


def items_for(blocks: int, words: int, bits: int, ones: int) -> float:
    """Return how many different items a filter has most likely, of whose bits so many are ones; infinity if all are."""
    total = blocks * words * _WORD
    if ones >= total:
        return math.inf
    return -blocks * math.log1p(-ones / total) / -math.expm1(bits * math.log1p(-1 / _WORD))
