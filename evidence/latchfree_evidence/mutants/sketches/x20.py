"""X20 (MinHash): a load and a store for the atomic maximum.

Shortest: A has read a cell and found it lower than its hash; B raises it further; A writes its hash over the greater
one.
"""

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def raise_cell(mem: Handle, at: Word, h: Word) -> None:
    """Raise a cell in two steps."""
    if load(mem, at) < h:
        store(mem, at, h)
