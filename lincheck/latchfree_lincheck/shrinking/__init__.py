"""Make a violating history small, so that people can see what went wrong.

Every reduction keeps linearizability: had the larger history a linearization, the smaller one would have one too. So
the small history is a violation *because* the large one is, not because a write was left out that a read depends on.
The reductions, and why each is sound, are in `reductions` and `tokens`; a reduction is kept when what is left is still
a violation. Nothing is random: the same history gives the same small one.
"""

from latchfree_lincheck.shrinking.partials import Partial, longest_partials
from latchfree_lincheck.shrinking.shrink import shrink

__all__ = ["Partial", "longest_partials", "shrink"]
