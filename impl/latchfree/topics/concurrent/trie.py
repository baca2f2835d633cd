"""`ConcurrentTrie`: the matcher that any number of threads and processes change and match at the same time."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from latchfree.arena import Arena
from latchfree.arguments import hashable, many
from latchfree.ctrie.recovery import reclaim_all
from latchfree.ctrie.store import HASH_MASK_ALL, refused
from latchfree.errors import ArenaFull, LatchfreeError
from latchfree.structures import TOPIC_TRIE
from latchfree.topics.concurrent import bulk
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.concurrent.kernels.single import DONE, NOBODY
from latchfree.topics.concurrent.payload import NO_QUEUE, QUEUE, SHARE, Payload
from latchfree.topics.concurrent.reader import Reader
from latchfree.topics.concurrent.scratch import Scratches
from latchfree.topics.concurrent.store import DATA, TopicStore
from latchfree.topics.concurrent.subscribers import OwnSubscribers, SharedSubscribers, Subscribers
from latchfree.topics.concurrent.trie_snapshot import SnapshotHold, TrieSnapshot
from latchfree.topics.dialects import DIALECTS, Dialect, get_dialect, parse_pattern
from latchfree.topics.errors import UnknownSubscription
from latchfree.topics.pattern import Pattern
from latchfree.topics.rules import SHARED
from latchfree.topics.subscription import S, Stats, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex

#: The kind of value that the directory of an arena records for a topic trie.
_VALUES: Final = "subscriber"


class ConcurrentTrie(Reader[S]):
    """A lock-free trie of subscriptions, shared by any number of threads, and by name by any number of processes.

    Every call is linearizable: it takes effect at one instant between its call and its return. A match sees the whole
    trie at one instant, however many wildcards it follows; so do `subscriptions`, `freeze` and ``len``.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    arena : Arena, optional
        Where the nodes live; by default a private arena of 64 GiB of address space, which takes memory only as it is
        used.
    hash_mask : int
        The bits of a word's hash that count; fewer bits force collisions, for tests.

    Raises
    ------
    ArenaFull
        From any call that changes the trie when the arena has no room; nothing changes.

    Notes
    -----
    A subscriber is an integer, which lives in the trie, or any other hashable object, which stays referenced as long as
    a subscription of it lives, or a snapshot that shows one. In a trie made by `create`, which other processes can
    open, a subscriber is an integer, str or bytes, and lives in the trie. `latchfree.topics.concurrent` describes the
    algorithm.
    """

    def __init__(
        self, dialect: str | Dialect = "amqp", *, arena: Arena | None = None, hash_mask: int = HASH_MASK_ALL
    ) -> None:
        arena = Arena.anonymous() if arena is None else _checked_arena(arena)
        self._attach(TopicStore.private(arena, get_dialect(dialect), hash_mask), OwnSubscribers())

    def _attach(self, store: TopicStore, subscribers: Subscribers) -> None:
        super().__init__(store, subscribers, Scratches())

    @classmethod
    def create(
        cls, arena: Arena, name: str, dialect: str | Dialect = "amqp", *, hash_mask: int = HASH_MASK_ALL
    ) -> ConcurrentTrie[S]:
        """Make an empty trie under a name in an arena, where other processes find the trie with `open`.

        The trie stays until `unlink`, whether or not anybody uses it.

        Parameters
        ----------
        arena : Arena
            The arena in which the trie is made.
        name : str
            At most 48 bytes of UTF-8.
        dialect : str or Dialect
            One of `DIALECTS`; the arena records its name, and `open` refuses others.
        hash_mask : int
            As for `ConcurrentTrie`.

        Raises
        ------
        StructureExists
            If the arena has a structure of that name.
        DirectoryFull
            If the arena has 64 structures already.
        ArenaFull
            If the arena has no room.
        ValueError
            If the dialect is one of your own.
        """
        chosen = get_dialect(dialect)
        if DIALECTS.get(chosen.name) is not chosen:
            raise ValueError(
                f"a shared trie has one of the dialects {', '.join(DIALECTS)}, which every process knows; this "
                f"{chosen.name!r} is another"
            )
        store = TopicStore(_checked_arena(arena), 0, chosen, hash_mask, name=name)
        arena.directory.create(
            name,
            kind=TOPIC_TRIE,
            keys=chosen.name,
            values=_VALUES,
            hash_mask=store.hash_mask,
            build=store.new_trie,
            dismantle=partial(store.destroy, maker=arena.identity),
        )
        return cls.open(arena, name)

    @classmethod
    def open(cls, arena: Arena, name: str, dialect: str | Dialect | None = None) -> ConcurrentTrie[S]:
        """Return the trie of a name in an arena.

        Parameters
        ----------
        arena : Arena
            The arena in which the trie was made.
        name : str
            The name that `create` was given.
        dialect : str or Dialect, optional
            Checked against the recorded dialect.

        Raises
        ------
        StructureMissing
            If the arena has no structure of that name.
        ValueError
            If the structure is no topic trie, or of another dialect.
        """
        found = _checked_arena(arena).directory.find(name, TOPIC_TRIE)
        recorded = get_dialect(found.keys)
        if dialect is not None and get_dialect(dialect) is not recorded:
            raise ValueError(
                f"structure {name!r} was created with the dialect {found.keys!r}, not "
                f"{get_dialect(dialect).name!r}; open it with {found.keys!r}"
            )
        if reclaim_all not in arena.on_death:
            arena.on_death.append(reclaim_all)
        opened: ConcurrentTrie[S] = cls.__new__(cls)
        opened._attach(TopicStore(arena, found.root, recorded, found.hash_mask, name=name), SharedSubscribers())
        return opened

    @staticmethod
    def unlink(arena: Arena, name: str) -> None:
        """Take a trie out of an arena's directory and empty it.

        A process that still has the trie open goes on with an empty trie that no other process can find.

        Raises
        ------
        StructureMissing
            If the arena has no structure of that name.
        ValueError
            If the structure is no topic trie.
        """
        _checked_arena(arena).directory.find(name, TOPIC_TRIE, call="unlink")
        store = ConcurrentTrie.open(arena, name)._store
        if store.clear() is NotImplemented:
            store.insist(store.clear, refused, anew=True)
        arena.directory.remove(name, root=store.trie)

    @property
    def arena(self) -> Arena:
        """The arena where the nodes live."""
        return self._store.arena

    # changes --------------------------------------------------------------------------------------------------

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription; see `Matcher.subscribe`."""
        parsed = parse_pattern(self.dialect, pattern, queue, None)
        text = _filter_of(parsed)
        kind = SHARE if parsed.group is not None else NO_QUEUE if queue is None else QUEUE
        group = parsed.group if parsed.group is not None else queue
        word, name = self._subscribers.stored(subscriber)
        try:
            payload = Payload(word, name, kind, group).pack()
            scratch = self._scratches.lend()
            try:
                scratch.make_room(len(text), len(parsed.words))
                scratch.places[1] = len(text)
                self._insist(
                    "add_text", id(text) + DATA, scratch.places, id(payload) + DATA, len(payload), scratch.numbers,
                    scratch.descent,
                )  # fmt: skip
                number = int(scratch.numbers[0])
                scratch.subscribes += 1
            finally:
                self._scratches.take_back(scratch)
        except (LatchfreeError, ValueError):  # nothing was subscribed
            self._subscribers.release(word)
            raise
        return Subscription(number, parsed.text, subscriber, group)

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber, one after another.

        Raises
        ------
        InvalidPattern
            Naming the row; nothing changes.
        ArenaFull
            If there is no room; ``done`` says how many rows took effect.
        """
        texts = list(many(patterns, "patterns", "subscribe"))
        for row, text in enumerate(texts):
            parse_pattern(self.dialect, text, queue, row)
        made: list[Subscription[S]] = []
        for text in texts:
            try:
                made.append(self.subscribe(text, subscriber, queue=queue))
            except ArenaFull:
                raise self._store.out_of_room(len(made)) from None
        return made

    def subscribe_column(self, patterns: Any, subscribers: Any) -> Any:
        """Add the subscriptions of two columns, without the interpreter lock.

        Parameters
        ----------
        patterns : pyarrow.StringArray
            Without share names.
        subscribers : array of int64
            As many as patterns, each from -2**62 to 2**62 - 1.

        Returns
        -------
        array of uint64
            The numbers of the subscriptions.

        Raises
        ------
        InvalidPattern
            If a pattern is invalid, naming the row; nothing changes.
        TypeError
            If a subscriber is no integer; nothing changes.
        ValueError
            If there are more or fewer subscribers than patterns, or one is null or out of range; nothing changes.
        ArenaFull
            If there is no room; ``done`` says how many rows took effect.
        """
        with self.arena.call(), self._scratches.lent() as scratch:
            return bulk.subscribe(self._store, scratch, patterns, subscribers)

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away, wherever it was made; see `Matcher.unsubscribe`."""
        if not isinstance(subscription, Subscription) or not _is_number(subscription.number):
            raise self._unknown(subscription)
        parsed = self.dialect.pattern(subscription.pattern)
        text = _filter_of(parsed)
        with self._scratches.lent() as scratch:
            scratch.make_room(len(text), len(parsed.words))
            scratch.places[1] = len(text)
            scratch.numbers[0] = subscription.number
            self._insist("drop_text", id(text) + DATA, scratch.places, scratch.numbers, scratch.words, scratch.descent)
            if not scratch.numbers[0]:
                raise self._unknown(subscription)
            scratch.unsubscribes += 1
            word = int(scratch.words[0])
        self._subscribers.release(word)

    def unsubscribe_column(self, patterns: Any, numbers: Any) -> None:
        """Take the subscriptions with these numbers away; skip numbers that are not subscribed.

        Parameters
        ----------
        patterns : pyarrow.StringArray
            The patterns, as given to `subscribe_column`.
        numbers : array of uint64
            The numbers that `subscribe_column` returned, row by row.

        Raises
        ------
        InvalidPattern
            If a pattern is invalid, naming the row; nothing changes.
        TypeError
            If a number is no integer; nothing changes.
        ValueError
            If there are more or fewer numbers than patterns, or one is null or out of range; nothing changes.
        ArenaFull
            If there is no room; ``done`` says how many rows took effect.
        """
        with self.arena.call(), self._scratches.lent() as scratch:
            bulk.unsubscribe(self._store, scratch, patterns, numbers, self._subscribers.release)

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away, one after another, and return them."""
        hashable(subscriber, "subscriber")
        with self.snapshot() as held:  # closed before the first goes: what it kept would leave no room in a full arena
            subscriptions = list(held.subscriptions_of(subscriber))
        gone = []
        for subscription in subscriptions:
            try:
                self.unsubscribe(subscription)
            except UnknownSubscription:
                continue  # another thread was faster
            gone.append(subscription)
        return gone

    # the whole ------------------------------------------------------------------------------------------------

    def snapshot(self) -> TrieSnapshot[S]:
        """Return the subscriptions of this instant, in O(1); no other thread waits.

        Close the snapshot, or drop the last reference, to give back the memory that it keeps.
        """
        return TrieSnapshot(self, SnapshotHold(self._store, self._subscribers))

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions of this instant, or those whose patterns have the words of `prefix` first."""
        return self.snapshot().subscriptions(prefix)

    def may_overlap(self, pattern: Pattern) -> list[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and some that do not, by their numbers."""
        with self.snapshot() as held:
            return held.may_overlap(pattern)

    def freeze(self) -> MaskIndex[S]:
        """Return an unchanging index of the current subscriptions, for bulk matching."""
        return self.snapshot().freeze()

    def stats(self) -> Stats:
        """Return the size of the trie, and the number of calls in this process; other threads' calls may count late."""
        held = list(self.subscriptions())
        return Stats(
            engine=type(self).__name__,
            dialect=self.dialect.name,
            subscriptions=len(held),
            patterns=len({each.pattern for each in held}),
            subscribers=len({each.subscriber for each in held}),
            subscribes=self._scratches.total("subscribes"),
            unsubscribes=self._scratches.total("unsubscribes"),
            matches=self._scratches.total("matches"),
            matched=self._scratches.total("matched"),
            details={"bytes": float(self.arena.allocated)},
        )

    def __len__(self) -> int:
        return len(self.snapshot())

    def __repr__(self) -> str:
        what = f"{type(self).__name__} of {self.dialect.name}"
        return f"<{what}, closed>" if self.arena.closed else f"<{what} with {len(self):,} subscriptions>"

    def __reduce__(self) -> Any:
        store = self._store
        if store.name is None or not store.arena.shared:
            raise TypeError(
                "a private ConcurrentTrie cannot be pickled: its nodes live in this process; send trie.freeze(), or "
                "make it with ConcurrentTrie.create in an arena of Arena.create"
            )
        return ConcurrentTrie.open, (store.arena, store.name)

    # parts ----------------------------------------------------------------------------------------------------

    def _insist(self, name: str, *arguments: Any) -> None:
        """Make a call on one text until there is room for it."""
        store = self._store
        entry: Callable[..., int] = getattr(TOPICS, name)
        base, who, rules = store.arena.base, store.participant_address(), store.grammar.rules

        def attempt() -> int:
            while (outcome := entry(base, store.trie, who, rules, *arguments)) == NOBODY:
                store.participant()  # there is one now, or the trie is not for this process
            return outcome

        if entry(base, store.trie, who, rules, *arguments) != DONE:
            store.insist(attempt, operator.not_)

    def _unknown(self, subscription: object) -> UnknownSubscription:
        return UnknownSubscription(
            f"{subscription!r} is no subscription of this matcher, or is unsubscribed already; "
            "pass what subscribe returned, once"
        )


def _checked_arena(arena: Arena) -> Arena:
    if not isinstance(arena, Arena):
        raise TypeError(f"arena must be an Arena, not {type(arena).__name__}; use Arena.create or Arena.open")
    return arena


def _is_number(number: object) -> bool:
    return type(number) is int and 0 < number < 1 << 63


def _filter_of(pattern: Pattern) -> bytes:
    """Return the pattern without its share name."""
    text = pattern.text
    return (text if pattern.group is None else text[len(SHARED) + len(pattern.group) + 2 :]).encode()
