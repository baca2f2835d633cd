"""Which thread goes next: one file per strategy, each a `choose` and an `advance` from schedule to schedule."""

from typing import Final

DPOR: Final = 0
BOUNDED: Final = 1
RANDOM: Final = 2
PCT: Final = 3
DIRECTED: Final = 4
SOLO: Final = 5

NAMES: Final = {"dpor": DPOR, "bounded": BOUNDED, "random": RANDOM, "pct": PCT, "directed": DIRECTED}
