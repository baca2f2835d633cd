"""Words of a structure's record, read out of an arena as plain numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.atomics import peek
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word


@kernel
def _read(mem: Handle, at: Word, out: Array) -> None:
    for k in range(len(out)):
        out[k] = peek(mem, at + np.uint64(k))


def words_at(base: int, at: int, count: int) -> list[int]:
    """Return so many words from an offset on, which the caller has found to be inside of the arena."""
    words: NDArray[np.uint64] = np.empty(count, np.uint64)
    _read(np.uint64(base), np.uint64(at), words)
    found: list[int] = words.tolist()
    return found
