"""Subscribe, unsubscribe and match one text for Python, keeping the interpreter lock from pin to unpin.

All threads share one participant for such calls, which cannot overlap. Its word is read here and not in Python, as
another thread, or a signal handler, may close the arena before the call begins.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import read_word
from latchfree.ctrie.kernels.nodes import NIL, ONE
from latchfree.jit import entry
from latchfree.kinds import Array, Handle, Word
from latchfree.topics.concurrent.kernels.collect import Buffers
from latchfree.topics.concurrent.kernels.digits import Grammar
from latchfree.topics.concurrent.kernels.rows import Descent, add_rows, drop_rows, match_rows

#: Outcomes: an array was too short, or the arena full; done; the arena has no participant for such calls (any more).
NO_ROOM, DONE, NOBODY = range(3)


@entry
def match_text(
    mem: Handle, trie: Word, root: Word, who: Word, grammar: Grammar, text: Word, places: Array, offsets: Array,
    out: Array, buffers: Buffers,
) -> Word:  # fmt: skip
    """Match a topic, see `match_rows`; `who` is the address of the word of the participant."""
    me = read_word(who)
    if me == NIL:
        return np.int64(NOBODY)
    return match_rows(mem, trie, root, me, grammar, ONE, text, places, 0, offsets, out, buffers)


@entry
def add_text(
    mem: Handle, trie: Word, who: Word, rules: Word, text: Word, places: Array, payload: Word, length: Word,
    numbers: Array, descent: Descent,
) -> Word:  # fmt: skip
    """Subscribe to a pattern, see `add_rows`."""
    me = read_word(who)
    if me == NIL:
        return np.int64(NOBODY)
    return add_rows(mem, trie, me, rules, text, places, payload, length, NIL, 0, numbers, descent)


@entry
def drop_text(
    mem: Handle, trie: Word, who: Word, rules: Word, text: Word, places: Array, numbers: Array, words: Array,
    descent: Descent,
) -> Word:  # fmt: skip
    """Unsubscribe from a pattern, see `drop_rows`."""
    me = read_word(who)
    if me == NIL:
        return np.int64(NOBODY)
    return drop_rows(mem, trie, me, rules, text, places, numbers, words, 0, descent)
