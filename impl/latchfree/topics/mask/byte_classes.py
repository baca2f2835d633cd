"""A dialect as the mask kernels take it: the class of each byte, and a word of eight separators."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.dialects import Dialect
from latchfree.topics.mask.kernels.texts import EMPTY_WORD, FLOOR, SEPARATOR, SUSPICIOUS


def class_table(dialect: Dialect, *, patterns: bool) -> NDArray[np.uint8]:
    """Return the classes of bytes in patterns or topics, found by asking the dialect about each of them."""
    defect = dialect.pattern_defect if patterns else dialect.topic_defect
    table = np.zeros(258, np.uint8)
    for code in range(128):
        if defect(f"a{chr(code)}b") is not None:
            table[code] = SUSPICIOUS
            table[FLOOR] = code + 1
    table[ord(dialect.separator)] = SEPARATOR
    if defect(f"a{dialect.separator * 2}b") is not None:
        table[EMPTY_WORD] = SUSPICIOUS
    return table


def eight(separator: str) -> np.uint64:
    """Return a word of eight separators."""
    return np.uint64(ord(separator) * 0x0101010101010101)
