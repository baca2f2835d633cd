"""Who is interested in which topics: a matcher of numbers, and what the numbers stand for.

Example: of the subscriptions ``$share/g/a/+`` of ann and of bob one member gets a message. The matcher holds one
subscription for the two, with a number of the group, and each match of that number goes to the next of its members.

A number below the count of names stands for a subscriber: numbers are in the order in which subscribers are printed.
Numbers from there on stand for groups.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from latchfree import topics

if TYPE_CHECKING:
    from latchfree.topics import Dialect, Matcher

ENGINES = {
    "mask": "MaskIndex",
    "concurrent": "ConcurrentTrie",
    "trie": "LockedTrie",
    "optimized": "OptimizedInvertedBitmap",
    "bitmap": "InvertedBitmap",
    "naive": "NaiveMatcher",
}


class Interest:
    """Subscriptions, and the turns of their groups.

    Parameters
    ----------
    patterns, subscribers : list
        A subscriber is an integer or a text.
    dialect : Dialect
    engine : str
        One of `ENGINES`.
    all_members : bool
        Whether all members of a group ``$share/name/filter`` get each message.
    """

    def __init__(
        self, patterns: list[str], subscribers: list[Any], dialect: "Dialect", engine: str, *, all_members: bool
    ) -> None:
        self.names = sorted(dict.fromkeys(subscribers), key=lambda each: (isinstance(each, str), each))
        """The subscribers, in the order in which they are printed."""
        rank = {name: number for number, name in enumerate(self.names)}
        numbers = [rank[each] for each in subscribers]
        if dialect.shares and not all_members:
            patterns, numbers = self._grouped(patterns, numbers, dialect)
        else:
            self._members, self._first = np.empty(0, np.int64), np.zeros(1, np.int64)
        self._turns = np.zeros(len(self._first) - 1, np.int64)
        self.matcher: Matcher[Any] = _filled(patterns, numbers, dialect, engine)

    def _grouped(self, patterns: list[str], numbers: list[int], dialect: "Dialect") -> tuple[list[str], list[int]]:
        """Return patterns and numbers with one subscription for each group; note the groups' members."""
        groups: dict[tuple[str | None, tuple[str, ...]], tuple[str, list[int]]] = {}
        plain: list[str] = []
        others: list[int] = []
        for pattern, number in zip(patterns, numbers, strict=True):
            if pattern.startswith(dialect.share_prefix):
                parsed = dialect.pattern(pattern)
                groups.setdefault((parsed.group, parsed.words), (pattern, []))[1].append(number)
            else:
                plain.append(pattern)
                others.append(number)
        members = [each for _, each in groups.values()]
        self._members = np.array([number for each in members for number in each], np.int64)
        self._first = np.cumsum([0, *map(len, members)])
        more = range(len(self.names), len(self.names) + len(groups))
        return plain + [pattern for pattern, _ in groups.values()], [*others, *more]

    def match(self, texts: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the subscribers of topics, as numbers: row k has ``found[offsets[k] : offsets[k + 1]]``, in order.

        Raises
        ------
        InvalidTopic
            Naming the row; no group's turn has come.
        """
        lists = self.matcher.match_many(texts)
        offsets: NDArray[np.int64] = lists.offsets.to_numpy().astype(np.int64)
        found: NDArray[np.int64] = lists.values.to_numpy(zero_copy_only=False).astype(np.int64)
        rows = np.repeat(np.arange(len(lists)), np.diff(offsets))
        shared = np.flatnonzero(found >= len(self.names))
        if len(shared):
            found[shared] = self._chosen(found[shared] - len(self.names))
        keys = rows * (len(self.names) + 1) + found
        keys.sort()
        if len(shared):  # a member that was chosen may have a subscription of its own, too
            keys = np.unique(keys)
            rows = keys // (len(self.names) + 1)
            offsets = np.searchsorted(rows, np.arange(len(lists) + 1)).astype(np.int64)
        return offsets, keys - rows * (len(self.names) + 1)

    def _chosen(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a member for each message to a group: all members of a group match alike, so each in turn."""
        order = np.argsort(groups, kind="stable")
        counts = np.bincount(groups, minlength=len(self._turns))
        before = np.cumsum(counts) - counts
        nth = np.empty(len(groups), np.int64)
        nth[order] = np.arange(len(groups)) - np.repeat(before, counts)
        sizes = np.diff(self._first)
        chosen = self._members[self._first[groups] + (self._turns[groups] + nth) % sizes[groups]]
        self._turns += counts
        return chosen


def _filled(patterns: list[str], numbers: list[int], dialect: "Dialect", engine: str) -> "Matcher[Any]":
    if engine == "mask":
        return topics.MaskIndex.build(pa.array(patterns, pa.large_string()), np.array(numbers, np.int64), dialect)
    matcher: Matcher[Any] = getattr(topics, ENGINES[engine])(dialect)
    for pattern, number in zip(patterns, numbers, strict=True):
        matcher.subscribe(pattern, number)
    return matcher
