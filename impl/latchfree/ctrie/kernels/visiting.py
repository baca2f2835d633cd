"""What the garbage collector sees of a map of objects: the pairs of the live tree, each once.

Example: ``trie["self"] = trie``. The only reference to the map is in an S-node of the map. The collector visits the
map, and through it the pair, finds no reference from outside, and takes the map apart.

Rule: a reference may be shown only if it is owned by this map alone, for what is shown and not reached from outside is
cleared. While snapshots of the map are held they read the same S-nodes, so nothing is shown. Of a map that goes
on from a snapshot only the pairs born in it are shown: the others are its parent's. What waits to be let go of is not
shown. A cycle through something that is not shown is collected later.

Invariant: the collector runs with the interpreter lock held and between operations, so no update is pending in the
tree. It may not change the tree.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import peek, poke
from latchfree.border.objects import room
from latchfree.ctrie.kernels.context import BASE, CONTEXT, TRIE, participant, words_in
from latchfree.ctrie.kernels.nodes import MAIN, NIL, ONE, PENDING, PREV, ROOT_WORD, UNTAG, gen_of, is_child
from latchfree.ctrie.kernels.scan import next_slot
from latchfree.ctrie.kernels.shape import IDLE, REGISTERED
from latchfree.ctrie.kernels.snode import HELD_KEY, HELD_VALUE
from latchfree.jit import instruction, kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_TWO = np.uint64(2)
#: A C function returns an int, the lower half of a word.
_INT = np.uint64(0xFFFFFFFF)

_call_2 = instruction("latchfree.llvm", "call_2")


@kernel
def _visit(mem: Handle, snode: Word, visit: Word, argument: Word) -> Word:
    key = peek(mem, snode + HELD_KEY)
    if key != _0:
        answer = _call_2(visit, key, argument) & _INT
        if answer != _0:
            return answer
    return _call_2(visit, peek(mem, snode + HELD_VALUE), argument) & _INT


@kernel
def _enter(mem: Handle, i: Word, oldest: Word, path: Word, depth: Word) -> Flag:
    """Put the main of an I-node on the path, with the index of its next slot, unless all below is another map's."""
    m = peek(mem, i + MAIN)
    if gen_of(mem, m) < oldest or peek(mem, m + PREV) != NIL:
        return False
    poke(path, _TWO * depth, m)
    poke(path, _TWO * depth + ONE, _0)
    return True


def traverse(this: Word, visit: Word, argument: Word) -> Word:
    """Show the references that a map owns; 0, or what `visit` has returned if that is not 0."""
    context = words_in(peek(this, CONTEXT))
    if participant(context) == _0:
        return _0
    mem, trie = peek(context, BASE), peek(context, TRIE)
    root = peek(mem, trie + ROOT_WORD)
    idle = ONE if peek(mem, trie + IDLE) != NIL else NIL
    if peek(mem, trie + REGISTERED) > idle or root & PENDING != NIL:
        return _0
    oldest = gen_of(mem, trie)
    path = room(32)
    depth = ONE if _enter(mem, root, oldest, path, _0) else _0
    while depth != _0:
        at = _TWO * (depth - ONE)
        k = peek(path, at + ONE)
        slot = next_slot(mem, peek(path, at), k)
        poke(path, at + ONE, k + ONE)
        if slot == NIL:
            depth -= ONE
        elif is_child(slot):
            if _enter(mem, slot & UNTAG, oldest, path, depth):
                depth += ONE
        elif gen_of(mem, slot) >= oldest:
            answer = _visit(mem, slot, visit, argument)
            if answer != _0:
                return answer
    return _0
