"""Copy the S-nodes that a match has found, for Python to read when nothing keeps the nodes any more.

Example: two topics matched S-nodes 900 and 700, and 900. The row of offsets ``900 700 900`` is followed by room for
the same offsets sorted, and by the records of 700 and 900.

A *record* has the words of the S-node, but for the header, in whose place the S-node's offset stands.
"""

import numpy as np

from latchfree.atomics import peek
from latchfree.ctrie.kernels.snode import BLOB_KEY_WORDS, KEY_LENGTH, VALUE, words_for
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sorting import sort


@kernel
def copy_nodes(mem: Handle, out: Array, count: Word) -> Word:
    """Copy the S-nodes at the offsets in ``out[:count]``, each once; return where the records end, -1 without room.

    The records begin at ``out[2 * count]``. The caller is pinned.
    """
    end = 2 * count
    if end > len(out):
        return np.int64(-1)
    for k in range(count):
        out[count + k] = out[k]
    sort(out, count, end)
    for k in range(count, 2 * count):
        if k > count and out[k] == out[k - 1]:
            continue
        s = np.uint64(out[k])
        words = np.int64(BLOB_KEY_WORDS + words_for(peek(mem, s + KEY_LENGTH)) + words_for(peek(mem, s + VALUE)))
        if end + words > len(out):
            return np.int64(-1)
        out[end] = out[k]
        for j in range(1, words):
            out[end + j] = np.int64(peek(mem, s + np.uint64(j)))
        end += words
    return end
