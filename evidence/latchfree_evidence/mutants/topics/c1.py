"""C1 (the published subscription trie): a tomb is detached by a CAS that expects a main read after the copy was made.

So the CAS succeeds although the parent has changed since. Shortest: A has taken one of two subscriptions of a pattern
away and copied a parent to pull the other one up; B subscribes in that parent; A reads the parent's main again and puts
its copy in its place, without B's subscription.
"""

from latchfree.arena.kernels.allocator import URGENT, failed, undo
from latchfree.atomics import peek
from latchfree.ctrie.kernels.gcas import LOST, gcas, gcas_read
from latchfree.ctrie.kernels.nodes import C_NODE, ONE, T_NODE, TOMBED, gen_of, is_child, kind_of, slot_for
from latchfree.ctrie.kernels.shape import PLAIN
from latchfree.ctrie.kernels.trees import begin
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.topics.concurrent.kernels.change import LEVEL, SHIFT, TWO
from latchfree.topics.concurrent.kernels.levels import place_of, resolved
from latchfree.words import flag_of


@kernel
def clean(mem: Handle, trie: Word, me: Word, path: Array, depth: Word, digits: Array, startgen: Word) -> Flag:
    """Detach a tomb by a CAS that expects a main read after the copy was made."""
    i = path[TWO * depth]
    parent = path[TWO * (depth - ONE)]
    where = path[TWO * (depth - ONE) + ONE]
    level = where & LEVEL
    digit = digits[where >> SHIFT]
    tomb = gcas_read(mem, trie, i)
    m = gcas_read(mem, trie, parent)
    if kind_of(mem, tomb) != T_NODE or kind_of(mem, m) != C_NODE:
        return True
    slot = slot_for(mem, m, digit, level)
    if not is_child(slot) or slot & PLAIN != i:
        return True
    if not begin(mem, me, URGENT):
        return False
    content = peek(mem, tomb + TOMBED)
    gen = gen_of(mem, parent)
    new = resolved(mem, me, m, flag_of(digit, level), content, place_of(depth - ONE, level), gen)
    if failed(mem, me):
        return False
    # The real one expects `m`.
    if gcas(mem, trie, parent, gcas_read(mem, trie, parent), new) == LOST:
        undo(mem, me)
    return True
