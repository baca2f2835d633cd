"""Wrong ways to retire, each in place of one function: the right function, called wrongly."""

import numpy as np

from latchfree.arena.kernels.epochs import retire
from latchfree.arena.kernels.node import kind_of
from latchfree.ctrie.kernels.gcas import conclude as right_conclude
from latchfree.ctrie.kernels.retirement import begin_retiring as right_begin
from latchfree.ctrie.kernels.retirement import retire_node as right_retire_node
from latchfree.ctrie.kernels.retirement import retire_pair as right_retire_pair
from latchfree.ctrie.kernels.shape import I_NODE, T_NODE
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def forgets_tombs(mem: Handle, me: Word, node: Word) -> None:
    """Retire a node, unless it is a tomb."""
    if kind_of(mem, node) != T_NODE:
        right_retire_node(mem, me, node)


@kernel
def twice(mem: Handle, me: Word, node: Word) -> None:
    """Retire a node, and an I-node once more."""
    right_retire_node(mem, me, node)
    if kind_of(mem, node) == I_NODE:
        right_retire_node(mem, me, node)


@kernel
def too_old(mem: Handle, trie: Word, me: Word, death: Word, room: Word) -> None:
    """Begin to retire with the death of one generation before: a snapshot of that does not see the nodes."""
    right_begin(mem, trie, me, death - np.uint64(1), room)


@kernel
def too_early(mem: Handle, trie: Word, me: Word, i: Word, old: Word, new: Word) -> Word:
    """Retire the old main before the attempt to replace it."""
    retire(mem, me, old)
    return right_conclude(mem, trie, me, i, old, new)


@kernel
def half_a_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    """Retire the second node of a pair, and not the first: of a put the old value, and not the old main."""
    if b != np.uint64(0):
        right_retire_pair(mem, trie, me, death, b, np.uint64(0))


_RETIREMENT, _GCAS = "latchfree.ctrie.kernels.retirement", "latchfree.ctrie.kernels.gcas"
REPLACED = {
    "forgets_tombs": (_RETIREMENT, "retire_node"),
    "twice": (_RETIREMENT, "retire_node"),
    "too_old": (_RETIREMENT, "begin_retiring"),
    "too_early": (_GCAS, "conclude"),
    "half_a_pair": (_RETIREMENT, "retire_pair"),
}
"""Module and name of the function that each replaces."""
