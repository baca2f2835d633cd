"""The shapes of patterns: the mask of wildcards, the number of words, and whether a wildcard for many words is last.

Patterns of one shape form a group. A topic probes each group once, so only the shapes with the most patterns become
groups. All other patterns, and patterns that go on after a wildcard for many words, go to the trie.
"""

from __future__ import annotations

import numpy as np

from latchfree.atomics import read_byte
from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.topics.mask.kernels.texts import SUSPICIOUS, parse

MOST_WORDS = 64
"""The most words of a mask: one bit each."""
MOST_GROUPS = 48
"""The most probes for one topic."""


@kernel
def scan_patterns(
    address: Word, offsets: Array, classes: Word, separators: Word, one: Word, many: Word, masks: Array, depths: Array,
    suspicious: Array,
) -> None:  # fmt: skip
    """Find the shape of each pattern.

    Example: of ``a/+/#`` in MQTT the mask is 0b10 (word 1 is a wildcard) and the depth 5 (two words, and a last ``#``).

    `masks` gets a bit for each word that is the wildcard `one`. `depths` gets twice the number of words before a last
    `many`, plus one if there is a last `many`; -1 if the pattern fits no mask. `suspicious` gets whether the pattern
    may break a rule.
    """
    room = MOST_WORDS + 1
    scratch = np.empty((3, room), np.uint64)
    starts, ends = scratch[1], scratch[2]
    limit = address + np.uint64(offsets[-1])
    for i in range(len(masks)):
        text = address + np.uint64(offsets[i])
        words, suspects = parse(
            text, np.uint64(offsets[i + 1] - offsets[i]), limit, classes, separators, np.uint64(room),
            scratch[0].ctypes.data, starts.ctypes.data, ends.ctypes.data,
        )  # fmt: skip
        mask = np.uint64(0)
        depth = words
        ends_in_many = 0
        odd = words > room
        for j in range(min(words, room)):
            if ends[j] - starts[j] != np.uint64(1):
                continue
            byte = read_byte(text + starts[j])
            if byte != one and byte != many:
                continue
            if read_byte(classes + byte) == SUSPICIOUS:
                suspects -= 1
            if byte == one:
                if j < MOST_WORDS:
                    mask |= np.uint64(1) << np.uint64(j)
            elif j == words - 1:
                depth -= 1
                ends_in_many = 1
            else:
                odd = True
        odd = odd or depth > MOST_WORDS
        masks[i] = mask
        depths[i] = -1 if odd else 2 * depth + ends_in_many
        suspicious[i] = odd or words == 0 or suspects != 0
