"""The header word of a node: what the arena knows of a node, whichever structure it belongs to.

Example: a node of 5 words, of kind 2, born in generation 7, begins with the word ``2 << 60 | 5 << 40 | 7``.

The header has the kind (4 bits), the size in words (20) and the birth generation (40). The arena reads the size alone,
to free the node. Kinds are numbers of the structures, except `BLOCK`, a node of the arena's own. A node of kind
`HOLDER` or above holds what is outside of the arena: in due time its structure lets go of that, and frees the node.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word

#: The kind of the arena's own nodes, see `latchfree.arena.kernels.blocks`. No structure may use this number.
BLOCK = np.uint64(8)

#: The lowest kind of nodes that hold what is outside of the arena: the two upper bits of such a kind are set.
HOLDER = np.uint64(12)

KIND_SHIFT = np.uint64(60)
SIZE_SHIFT = np.uint64(40)
SIZE_MASK = np.uint64((1 << 20) - 1)
BIRTH_MASK = np.uint64((1 << 40) - 1)


@kernel
def header(kind: Word, words: Word, birth: Word) -> Word:
    """Return the header word of a node."""
    return (kind << KIND_SHIFT) | (words << SIZE_SHIFT) | birth


@kernel
def kind_of(mem: Handle, node: Word) -> Word:
    """Return the kind of a node in use."""
    return peek(mem, node) >> KIND_SHIFT


@kernel
def size_of(mem: Handle, node: Word) -> Word:
    """Return the words of a node in use."""
    return (peek(mem, node) >> SIZE_SHIFT) & SIZE_MASK


@kernel
def gen_of(mem: Handle, node: Word) -> Word:
    """Return the birth generation of a node."""
    return peek(mem, node) & BIRTH_MASK
