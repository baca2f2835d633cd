"""Single words of an arena's header, for Python code that opens and closes arenas.

Example: ``swap(base, H_STATE, sealed, in_use)`` marks an arena as in use, unless somebody was faster.
"""

from latchfree.atomics import cas, load_seq
from latchfree.jit import entry
from latchfree.kinds import Flag, Handle, Word


@entry
def read(mem: Handle, at: Word) -> Word:
    """Return a word, in one total order with all changes by `swap`."""
    return load_seq(mem, at)


@entry
def swap(mem: Handle, at: Word, old: Word, new: Word) -> Flag:
    """Write `new` if the word is `old`; return whether it was."""
    return cas(mem, at, old, new)
