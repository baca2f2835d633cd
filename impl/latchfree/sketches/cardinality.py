"""How many different items: from the heights of a HyperLogLog's registers.

The improved estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches" (2017), algorithm 6.
It needs no tables of corrections and holds from no item to far beyond 2**64 / registers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def _sigma(x: float) -> float:
    """Return x plus the sum over k >= 1 of x**(2**k) * 2**(k - 1)."""
    if x == 1.0:
        return math.inf
    y, z = 1.0, x
    while True:
        x *= x
        before = z
        z += x * y
        if z == before:
            return z
        y += y


def _tau(x: float) -> float:
    """Return a third of 1 - x minus the sum over k >= 1 of (1 - x**(2**-k))**2 * 2**-k."""
    if x in (0.0, 1.0):
        return 0.0
    y, z = 1.0, 1 - x
    while True:
        x = math.sqrt(x)
        before = z
        y *= 0.5
        z -= (1 - x) ** 2 * y
        if z == before:
            return z / 3


def estimate(counts: Sequence[int], precision: int, most: int | None = None) -> float:
    """Return the number of different items; infinity if all registers are as high as can be.

    Parameters
    ----------
    counts : sequence of int
        How many registers have each height, from 0 to the highest.
    precision : int
        There are 2**precision registers.
    most : int, optional
        How high a register can be; by default 65 - `precision`, as of a hash of 64 bits.
    """
    registers, highest = 1 << precision, 64 - precision if most is None else most - 1
    z = registers * _tau(1 - counts[highest + 1] / registers)
    for k in range(highest, 0, -1):
        z = 0.5 * (z + counts[k])
    z += registers * _sigma(counts[0] / registers)
    return registers / (2 * math.log(2)) * registers / z if z else math.inf
