"""The wildcard masks of patterns: which words are wildcards, how many there are, and whether many words may follow.

Patterns of one shape form a group. A group is looked up with one probe, so only shapes with many patterns become
groups; the rest, and patterns that go on after a wildcard for many words, go to the trie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latchfree.atomics import read_byte
from latchfree.jit import kernel
from latchfree.kinds import Array, Word
from latchfree.topics.mask.kernels.records import IN_TRIE
from latchfree.topics.mask.kernels.texts import SUSPICIOUS, parse

MOST_WORDS = 64
"""Words of a mask at most: one bit each."""
MOST_GROUPS = 48
"""Probes for one topic at most."""


@kernel
def scan_patterns(
    address: Word, offsets: Array, classes: Word, separators: Word, one: Word, many: Word, masks: Array, depths: Array,
    suspicious: Array,
) -> None:  # fmt: skip
    """Find the shape of each pattern.

    `masks` gets a bit for each word that is the wildcard `one`; `depths` twice the number of words before a last
    `many`, plus one if there is one, or -1 if the pattern fits no mask; `suspicious` whether it may break a rule.
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


@dataclass(frozen=True)
class Groups:
    """The shapes that are probed: those without a last `many` by number of words, then those with one.

    Parameters
    ----------
    masks : array of uint64
    depths : array of int64
        Words without a last `many`.
    exact_at : array of int64
        Groups ``exact_at[n]`` to ``exact_at[n + 1]`` take topics of n words, n being at most 65.
    open_to : array of int64
        Groups ``exact_at[65]`` to ``open_to[n]`` take topics of n words, more than 64 counting as 65.
    """

    masks: NDArray[np.uint64]
    depths: NDArray[np.int64]
    exact_at: NDArray[np.int64]
    open_to: NDArray[np.int64]


def choose_groups(
    masks: NDArray[np.uint64], depths: NDArray[np.int64], least: int, most: int
) -> tuple[Groups, NDArray[np.int64]]:
    """Return the groups for the commonest shapes, at most `most`, and the group of each pattern, else `IN_TRIE`."""
    different, which = np.unique(masks, return_inverse=True)
    codes = which.astype(np.int64) * 256 + (depths + 1)
    shapes, shape_of, counts = np.unique(codes, return_inverse=True, return_counts=True)
    fits = shapes % 256 > 0
    commonest = np.argsort(-counts[fits], kind="stable")[:most]
    chosen = np.flatnonzero(fits)[np.sort(commonest)]
    depth = shapes[chosen] % 256 - 1
    order = np.lexsort((chosen, depth >> 1, depth & 1))
    chosen, depth = chosen[order], depth[order]
    number = np.full(len(shapes), IN_TRIE, np.int64)
    number[chosen] = np.arange(len(chosen))
    exact = depth[depth % 2 == 0] >> 1
    is_open = depth[depth % 2 == 1] >> 1
    groups = Groups(
        masks=different[shapes[chosen] // 256] if len(chosen) else np.empty(0, np.uint64),
        depths=depth >> 1,
        exact_at=np.searchsorted(exact, np.arange(MOST_WORDS + 3)).astype(np.int64),
        open_to=(len(exact) + np.searchsorted(is_open + least, np.arange(MOST_WORDS + 2), side="right")).astype(
            np.int64
        ),
    )
    return groups, number[shape_of] if len(shape_of) else np.empty(0, np.int64)
