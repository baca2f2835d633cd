"""Groups: the wildcard masks that are probed for, and their table as compiled code reads it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latchfree.topics.mask.kernels.group_keys import NOWHERE, SIZE
from latchfree.topics.mask.kernels.records import IN_TRIE
from latchfree.topics.mask.kernels.shapes import MOST_WORDS
from latchfree.topics.mask.kernels.table import GROUP_STEP


@dataclass(frozen=True)
class Groups:
    """The shapes that are probed: first those without a last `many`, then those with one, each by number of words.

    Parameters
    ----------
    masks : array of uint64
    depths : array of int64
        The number of words, without a last `many`.
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
    """Return groups for the commonest shapes, at most `most`, and the group of each pattern, or `IN_TRIE`."""
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
    exact_at, open_to = bounds_of(depth[depth % 2 == 0] >> 1, depth[depth % 2 == 1] >> 1, least)
    groups = Groups(
        masks=different[shapes[chosen] // 256] if len(chosen) else np.empty(0, np.uint64),
        depths=depth >> 1,
        exact_at=exact_at,
        open_to=open_to,
    )
    return groups, number[shape_of] if len(shape_of) else np.empty(0, np.int64)


def bounds_of(
    exact: NDArray[np.int64], is_open: NDArray[np.int64], least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return `exact_at` and `open_to` of groups with these numbers of words, in ascending order."""
    ends = len(exact) + np.searchsorted(is_open + least, np.arange(MOST_WORDS + 2), side="right")
    return np.searchsorted(exact, np.arange(MOST_WORDS + 3)).astype(np.int64), ends.astype(np.int64)


def group_table(masks: NDArray[np.uint64], depths: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the table of groups, a row for each; see `latchfree.topics.mask.kernels.group_keys`."""
    table = np.zeros((len(masks) + 1, int(SIZE)), np.uint64)
    salts = np.arange(1, len(masks) + 1, dtype=np.uint64) * GROUP_STEP  # as the kernel `salt_of` has them
    for group, mask in enumerate(masks.tolist()):
        first = (mask & -mask).bit_length() - 1 if mask else NOWHERE
        rest = mask & (mask - 1) if mask else 0
        second = (rest & -rest).bit_length() - 1 if rest else NOWHERE
        more = rest & (rest - 1) if rest else 0
        table[group] = (mask, int(depths[group]), first, second, more, salts[group])
    return table
