"""How large sketches are, and what that means for their errors: the same whoever makes them."""

from __future__ import annotations

from typing import Final

PRECISION: Final = 12
"""Binary logarithm of the registers of HLL: a standard error of 1.04 / sqrt(4096), 1.6 %."""
RANKS: Final = 200
"""KLL's k: ranks are off by at most 1.33 % with 99 % confidence."""
TRACKED: Final = 10_000
"""Frequent items: counts are exact up to so many topics; beyond, any topic of over 1 in 2,000 messages is named."""
SHARE, CONFIDENCE, SEED = 0.001, 0.99, 1
"""Count-Min: too large by at most this share of all messages, with this confidence."""
QUANTILES: Final = (0.5, 0.9, 0.99)
