"""The random numbers of other libraries, from which the hashes of the rows of their Count-Min sketches come.

Example: ``java.util.Random(0)`` gives the factors 1569741360, 1785505948, ... of a `CountMinSketch` of Spark. Its bytes
have the factors and not the seed; `seed_of_factors` finds the seed again, which is all that is remembered here.

- `factors`: Spark's. The state has 48 bits and begins with the seed; each number is the upper 31 of them.
- `row_seeds`: those of DataSketches in C++, ``std::default_random_engine`` and ``std::uniform_int_distribution`` of
  64 bits. The standard leaves both to the compiler; these are those of GCC, and so of the wheels for Linux.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

_STATE: Final = (1 << 48) - 1
_TIMES: Final = 0x5DEECE66D
_PLUS: Final = 0xB
_BACK: Final = pow(_TIMES, -1, 1 << 48)
#: Numbers are below this.
_BOUND: Final = (1 << 31) - 1
_LOW_BITS: Final = 17

_WORD: Final = (1 << 64) - 1
#: Of the engine of GCC: x becomes 16,807 * x modulo this, and is from 1 to one less.
_MODULUS: Final = (1 << 31) - 1
_FACTOR: Final = 16_807


@lru_cache(maxsize=64)
def factors(seed: int, count: int) -> tuple[int, ...]:
    """Return the factors of the rows of a sketch of Spark; only the lower 48 bits of the seed count."""
    state, found = (seed ^ _TIMES) & _STATE, list[int]()
    while len(found) < count:
        state = (state * _TIMES + _PLUS) & _STATE
        if state >> _LOW_BITS != _BOUND:
            found.append(state >> _LOW_BITS)
    return tuple(found)


def seed_of_factors(given: tuple[int, ...]) -> int | None:
    """Return a seed of 32 bits with its sign, as a word, that gives the factors of some rows; None if there is none.

    The first factor leaves 17 bits of the state open, and a state tells the seed.
    """
    for upper in (given[0], _BOUND):  # the bound itself is no number: the next one is taken
        low = np.arange(1 << _LOW_BITS, dtype=np.uint64)
        states = ((np.uint64(upper << _LOW_BITS) | low) - np.uint64(_PLUS)) * np.uint64(_BACK)
        seeds = (states ^ np.uint64(_TIMES)) & np.uint64(_STATE)
        upper_bits = seeds >> np.uint64(31)
        for seed in seeds[(upper_bits == 0) | (upper_bits == _BOUND >> 14)].tolist():
            if factors(seed, len(given)) == given:
                return int(seed) if seed < 1 << 31 else int(seed) | (_WORD ^ _STATE)
    return None


def _engine(seed: int) -> Iterator[int]:
    """Yield the numbers of GCC's engine, less one."""
    state = seed % _MODULUS or 1
    while True:
        state = state * _FACTOR % _MODULUS
        yield state - 1


def _uniform(numbers: Iterator[int], most: int) -> int:
    """Return a number from 0 to `most`, as GCC makes it of the numbers of a smaller or larger range."""
    least_above = _MODULUS - 2
    if most < least_above:
        scale = least_above // (most + 1)
        while True:
            number = next(numbers)
            if number < (most + 1) * scale:
                return number // scale
    while True:
        upper = (_MODULUS - 1) * _uniform(numbers, most // (_MODULUS - 1)) & _WORD
        found = upper + next(numbers) & _WORD
        if upper <= found <= most:
            return found


@lru_cache(maxsize=64)
def row_seeds(seed: int, count: int) -> tuple[int, ...]:
    """Return the seeds of the rows of a sketch of DataSketches."""
    numbers = _engine(seed)
    return tuple((_uniform(numbers, _WORD) + seed) & _WORD for _ in range(count))
