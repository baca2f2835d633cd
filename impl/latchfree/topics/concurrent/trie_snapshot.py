"""`TrieSnapshot`: the subscriptions of a `ConcurrentTrie` at one instant, taken in O(1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from latchfree.arguments import hashable
from latchfree.topics.concurrent.narrowing import Nodes
from latchfree.topics.concurrent.reader import Reader
from latchfree.topics.concurrent.store import TopicStore
from latchfree.topics.concurrent.subscribers import Subscribers
from latchfree.topics.dialects import exact_bytes
from latchfree.topics.pattern import Pattern, parsed
from latchfree.topics.snapshot import Difference, Snapshot
from latchfree.topics.subscription import S, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex

#: Subscriptions read between two checks that this process may still read the snapshot.
_BATCH: Final = 1024


class SnapshotHold:
    """Keeps a snapshot, and the subscribers that it shows, until the last reference to the hold is dropped.

    Parameters
    ----------
    store : TopicStore
    subscribers : Subscribers
    """

    __slots__ = ("_hold", "_kept")

    def __init__(self, store: TopicStore, subscribers: Subscribers) -> None:
        self._kept = subscribers.keep()  # before the snapshot is taken: nobody may leave in between
        self._hold = store.hold()
        self._kept.read()

    @property
    def root(self) -> int:
        """Word offset of the root I-node."""
        return self._hold.root

    @property
    def taker(self) -> int:
        """The identity of the opening that took the snapshot."""
        return self._hold.taker

    def touch(self) -> None:
        """Check that this process may read the snapshot now; see `Hold.touch`."""
        self._hold.touch()


class TrieSnapshot(Reader[S], Snapshot[S]):
    """The subscriptions of one instant, which never change. Taking a snapshot is O(1), and no other thread waits.

    A snapshot matches as the trie does, on the nodes that the trie had. It keeps the memory of every subscription that
    was unsubscribed or moved since. The memory comes back after `close`, at the end of a ``with`` block, or with the
    last reference (an iterator is one). ``len`` counts at its first use; iteration reads one subscription at a time.

    Raises
    ------
    ValueError
        From any use after `close`.
    """

    def __init__(self, reader: Reader[S], hold: SnapshotHold) -> None:
        super().__init__(reader._store, reader._subscribers, reader._scratches)
        self._hold: SnapshotHold | None = hold
        self._length: int | None = None

    def _held(self) -> SnapshotHold:
        hold = self._hold
        if hold is None:
            raise ValueError("this snapshot is closed; take another with snapshot()")
        hold.touch()
        return hold

    def close(self) -> None:
        """Give the snapshot up; its memory is freed once running calls and iterators have finished.

        Closing twice is no error.
        """
        self._hold = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._hold is None

    def __enter__(self) -> TrieSnapshot[S]:
        self._held()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""
        text = self.dialect.separator.join(self.dialect.prefix(prefix)).encode("utf-8", "surrogatepass")
        hold = self._held()
        nodes = self._store.nodes_below(hold)
        if text:
            with self._store.arena.call():
                hold.touch()
                below = Nodes(self._store.words, nodes)
                below.only_below(text, ord(self.dialect.separator))
                nodes = below.nodes
        return self._read_all(hold, nodes)

    def may_overlap(self, pattern: Pattern) -> list[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and some that do not, by their numbers."""
        hold = self._held()
        text = self.dialect.separator.join(parsed(pattern).words).encode("utf-8", "surrogatepass")
        found = self._read_all(hold, self._store.nodes_near(hold, text))
        return sorted(found, key=lambda each: each.number)

    def subscriptions_of(self, subscriber: S) -> Iterator[Subscription[S]]:
        """Return the subscriptions of one subscriber; only these are read."""
        hashable(subscriber, "subscriber")
        hold = self._held()
        nodes = self._store.nodes_below(hold)
        with self._store.arena.call():
            hold.touch()
            words, which = np.unique(Nodes(self._store.words, nodes).subscribers(), return_inverse=True)
        # No part of the arena is looked at while the code of a subscriber runs, which may close it.
        meant = np.array([self._subscribers.may_be(word, subscriber) for word in words.tolist()], np.bool_)
        with self._store.arena.call():
            hold.touch()
            found = Nodes(self._store.words, nodes)
            found.only(meant[which])
            if self._subscribers.in_nodes_only(subscriber):
                found.only_text(exact_bytes(subscriber))  # type: ignore[arg-type]
            nodes = found.nodes
        return self._read_all(hold, nodes)

    def _read_all(self, hold: SnapshotHold, nodes: Any) -> Iterator[Subscription[S]]:
        for start in range(0, len(nodes), _BATCH):
            with self._store.arena.call():
                hold.touch()
                found = [self._store.read(node) for node in nodes[start : start + _BATCH].tolist()]
            yield from [self._subscription(*each) for each in found]

    def since(self, earlier: Snapshot[S]) -> Difference[S]:
        """Return the subscriptions that came and went since an earlier snapshot of the same matcher.

        Only subscriptions that differ are read: while both snapshots exist, one S-node is one subscription.

        Parameters
        ----------
        earlier : Snapshot
            A snapshot of the same matcher, taken before this one and not closed.

        Returns
        -------
        Difference
        """
        if not isinstance(earlier, TrieSnapshot) or earlier._store is not self._store:
            return super().since(earlier)
        mine, its = self._held(), earlier._held()
        now, then = self._store.nodes_below(mine), self._store.nodes_below(its)
        added, removed = np.setdiff1d(now, then), np.setdiff1d(then, now)
        return Difference(frozenset(self._read_all(mine, added)), frozenset(self._read_all(its, removed)))

    def freeze(self) -> MaskIndex[S]:
        """Return an index of these subscriptions for bulk matching; the index does not need the snapshot."""
        from latchfree.topics.mask.index import MaskIndex

        return MaskIndex.of(tuple(self.subscriptions()), self.dialect)

    def __iter__(self) -> Iterator[Subscription[S]]:
        return self.subscriptions()

    def __len__(self) -> int:
        hold = self._held()
        if self._length is None:
            self._length = len(self._store.nodes_below(hold))
        return self._length

    def __reduce__(self) -> Any:
        raise TypeError("a snapshot cannot be pickled: its nodes live in an arena; send snapshot.freeze() instead")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.dialect.name}{', closed' if self.closed else ''}>"
