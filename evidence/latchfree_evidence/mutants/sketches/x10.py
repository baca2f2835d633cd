"""X10 (scalable Bloom filter): a search looks at the last layer only.

Alone: an item fills the first layer. The second one is in use now, and has no item.
"""

from latchfree.atomics import load
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels.scalable import LAST, in_layer, layer_at


@kernel
def contains(mem: Handle, record: Word, h: Word) -> Flag:
    """Look at the layer that takes what is new."""
    return in_layer(mem, record, layer_at(record, load(mem, record + LAST)), h)
