"""Q5 (the bounded queue of D. Vyukov as published): what seems empty is said to be.

Shortest: A claims the first position and stops, B puts at the second, which returns, and gets: at the first position
there is nothing yet, so it says "empty". It is what a weak ring does on purpose.
"""

from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word


@kernel
def finds_empty(mem: Handle, ring: Word, position: Word) -> Flag:
    """Say that the ring is empty without a look at the positions of the puts."""
    return True
