"""The elements of columns, as compiled loops take them.

Example: element 2 of ``[5, 7, 9]`` is 9; element 1 of the strings "tea" and "oat" is the pair (address of "oat", 3).

A column is an int64 array of words, or a pair (address of the bytes, int64 offsets) of blobs.
"""

from typing import Any

import numpy as np

from latchfree.ctrie.kernels.snode import is_blob
from latchfree.jit import overload
from latchfree.kinds import Array, Word


def element(column: Array, k: Word) -> Word:
    """Return element `k` of a column: an integer, or address and length of bytes."""
    raise NotImplementedError  # compiled: see the overload below


@overload(element)
def _element(column: Any, k: Any) -> Any:
    if is_blob(column):

        def blob(column: Any, k: Any) -> Any:
            start = np.uint64(column[1][k])
            return (column[0] + start, np.uint64(column[1][k + 1]) - start)

        return blob

    def word(column: Any, k: Any) -> Any:
        return column[k]

    return word
