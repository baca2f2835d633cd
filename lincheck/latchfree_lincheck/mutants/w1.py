"""W1: a snapshot takes the root that is current after its RDCSS instead of the one the RDCSS retired.

That root is live: writes that come after the snapshot show up in it.
"""

from latchfree.atomics import peek, poke
from latchfree.ctrie.burial import bury_pair
from latchfree.ctrie.gcas import read_root
from latchfree.ctrie.insert import FULL
from latchfree.ctrie.nodes import NIL, gen_of
from latchfree.ctrie.registry import FROZEN, GEN, NO_ROOM, drop, register
from latchfree.ctrie.snapshot import _try_replace
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    slot = NIL
    while True:
        r = read_root(mem, trie)
        gen = gen_of(mem, r)
        if slot == NIL or peek(mem, slot + GEN) != gen:
            if slot != NIL:
                drop(mem, trie, me, slot)
            slot = register(mem, trie, me, r, gen)
            if slot == NO_ROOM:
                return FULL
        death = _try_replace(mem, trie, me, r, False)
        if death == FULL:
            drop(mem, trie, me, slot)
            return FULL
        if death != NIL:
            bury_pair(mem, trie, me, death, r, NIL)
            poke(mem, slot + FROZEN, read_root(mem, trie))  # the real one is read from r
            return slot
