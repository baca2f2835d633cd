"""Words of the directory: entries are read whole, and change their state by compare-and-swap.

Example: a reader copies the words of an entry while its structure is removed and another one takes the entry. The state
word that the reader finds at the end has a later version than the one at the beginning, so the reader copies again.

Invariant: the words of an entry are written only while its state is CREATING or REMOVED, with release, and read with
acquire. Whoever reads a word finds the state from then on at least as new as it was when the word was written. So if a
reader finds one state, PROPOSED or READY, before and after the words, they are the words of that state.
"""

import numpy as np

from latchfree.arena.layout import ENTRY_WORDS
from latchfree.atomics import cas, load, load_seq, peek, poke, store
from latchfree.jit import entry
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_WORDS = np.uint64(ENTRY_WORDS)


@entry
def read(mem: Handle, at: Word, count: Word, copy: Handle) -> None:
    """Copy `count` entries from `at` on, each as it was at one instant, to the words at address `copy`."""
    for k in range(count):
        source, target = at + np.uint64(k) * _WORDS, np.uint64(k) * _WORDS
        while True:
            # spec: Directory!ReadState -- seq_cst: a proposer must see whoever proposed before it did.
            state = load_seq(mem, source)
            for i in range(1, ENTRY_WORDS):
                # spec: Directory!ReadWord -- acquire: the look at the state below comes after it.
                poke(copy, target + np.uint64(i), load(mem, source + np.uint64(i)))
            # spec: Directory!ReadAgain -- acquire is enough, as said above. LP of a reading.
            if load(mem, source) == state:
                poke(copy, target, state)
                break


@entry
def take(mem: Handle, at: Word, old: Word, new: Word) -> Flag:
    """Make an entry the caller's, by a change of its state; False if the state is not `old`."""
    # spec: Directory!Claim, Directory!Remove, Directory!Adopt -- LP of removing.
    return cas(mem, at, old, new)


@entry
def change(mem: Handle, at: Word, old: Word, new: Word) -> Flag:
    """Change the state of an entry that is being created; False if the state is not `old`."""
    # spec: Directory!Propose, Directory!Kill, Directory!Publish, Directory!Withdraw -- seq_cst: a proposal comes before
    # the looks at the other entries. LP of creating (Publish).
    return cas(mem, at, old, new)


@entry
def fill(mem: Handle, at: Word, copy: Handle) -> None:
    """Write the words of an entry that the caller owns, all but its state; zeros if `copy` is 0."""
    for i in range(1, ENTRY_WORDS):
        word = _0 if copy == _0 else peek(copy, np.uint64(i))
        # spec: Directory!Fill, Directory!Empty -- release: after the change of the state that made it the caller's.
        store(mem, at + np.uint64(i), word)


@entry
def release(mem: Handle, at: Word, free: Word) -> None:
    """Give an entry up that the caller owns and has emptied."""
    # spec: Directory!Release -- release: whoever claims the entry finds it empty.
    store(mem, at, free)
