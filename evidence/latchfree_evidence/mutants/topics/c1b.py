"""C1b (the published subscription trie): an I-node leaves the trie without a tomb.

A C-node that is left with one subscription stays as it is, and the remover moves that one up by itself. Shortest: A has
taken one of two subscriptions of a pattern away and is about to put the other in the place of their I-node; B
subscribes below that I-node; A's CAS succeeds, and B's subscription is gone.
"""

from latchfree.arena.kernels.allocator import URGENT, failed, undo
from latchfree.atomics import peek, popcount
from latchfree.ctrie.kernels.gcas import LOST, gcas, gcas_read, read_root
from latchfree.ctrie.kernels.mains import removed_contracted, updated
from latchfree.ctrie.kernels.nodes import BITMAP, C_NODE, NIL, ONE, SLOTS, STRIDE, gen_of, is_child, kind_of, slot_for
from latchfree.ctrie.kernels.shape import BRANCH, DIGIT, PLAIN
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.kernels.change import unsubscribe as unsubscribe_right
from latchfree.words import flag_of


@kernel
def without(mem: Handle, me: Word, c: Word, flag: Word, place: Word, gen: Word) -> Word:
    """Leave a lone subscription in its C-node instead of making a tomb of it."""
    return removed_contracted(mem, me, c, flag, NIL, gen)  # the real one makes a tomb of what is left alone


@kernel
def _contract(mem: Handle, trie: Word, me: Word, digits: Array) -> None:
    """If a C-node on the path of a string holds a lone subscription, try to put that in the place of its I-node."""
    i = read_root(mem, trie)
    gen = gen_of(mem, i)
    k = NIL
    level = NIL
    while True:
        m = gcas_read(mem, trie, i)
        slot = slot_for(mem, m, digits[k], level) if kind_of(mem, m) == C_NODE else NIL
        child = slot & PLAIN
        if not is_child(slot) or gen_of(mem, child) != gen:
            return
        if slot & BRANCH != NIL and peek(mem, child + DIGIT) != digits[k]:
            return
        below = gcas_read(mem, trie, child)
        if kind_of(mem, below) == C_NODE and popcount(peek(mem, below + BITMAP)) == ONE:
            lone = peek(mem, below + SLOTS)
            if not is_child(lone):
                break
        i = child
        if slot & BRANCH != NIL:
            k += ONE
            level = NIL
        else:
            level += STRIDE
    if begin(mem, me, URGENT):
        new = updated(mem, me, m, flag_of(digits[k], level), lone, gen)
        if not failed(mem, me) and gcas(mem, trie, i, m, new) == LOST:
            undo(mem, me)


@kernel
def unsubscribe(mem: Handle, trie: Word, me: Word, digits: Array, path: Array, name: Word) -> Word:
    """Unsubscribe, then put a lone subscription in the place of its I-node without a tomb."""
    s = unsubscribe_right(mem, trie, me, digits, path, name)
    _contract(mem, trie, me, digits)
    return s
