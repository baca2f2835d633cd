"""`MaskIndex`: an unchanging index for matching topics in bulk.

Example: ``a/+`` and ``b/+`` form one group, whose second word is a wildcard. For the topic ``b/x`` one probe of that
group looks up the hash of ``b``.

Patterns with wildcards at the same positions form a group. A topic matches a pattern of a group if the table has the
hash of the topic's other words and the bytes agree. So a topic takes one probe for each group, however many patterns
the group has. One buffer holds the whole index; it can be saved, mapped into memory, and sent to other processes.

Source: tuple space search (Srinivasan, Suri, Varghese 1999) for packet filters, applied to words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Never, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import flag, many, path_of, whole
from latchfree.extras import optional
from latchfree.topics.branches import Branch
from latchfree.topics.columns import check_texts, text_column
from latchfree.topics.dialects import DIALECTS, Dialect, exact_bytes, get_dialect
from latchfree.topics.errors import FrozenMatcher, IndexInvalid, InvalidTopic
from latchfree.topics.mask import checking, layout
from latchfree.topics.mask.border import MASK
from latchfree.topics.mask.build import arrays_of, byte_column
from latchfree.topics.mask.byte_classes import class_table, eight
from latchfree.topics.mask.groups import group_table
from latchfree.topics.mask.kernels import records, shapes
from latchfree.topics.mask.kernels.search import NO_TRIE, Tables
from latchfree.topics.mask.kernels.trie import Trie
from latchfree.topics.mask.numbering import Numbering, number
from latchfree.topics.pattern import Pattern
from latchfree.topics.snapshot import Snapshot
from latchfree.topics.subscription import S, Stats, Subscription
from latchfree_support.publishing import publish_file

pa: Any = optional("pyarrow", "topics")

H = TypeVar("H", bound=Hashable)

_CHUNK = 1 << 18
"""Topics matched by one compiled call: Ctrl-C takes effect between calls."""


class MaskIndex(Snapshot[S]):
    """An unchanging index; made by `build`, `of`, `open`, or the `freeze` of any matcher.

    Queue groups are not kept: all members match.
    """

    def __init__(
        self, buffer: NDArray[np.uint8], dialect: Dialect, numbering: Numbering, arrays: dict[str, Any]
    ) -> None:
        self._buffer = buffer
        self._dialect = dialect
        self._numbering = numbering
        self._arrays = arrays
        self._matches = 0
        self._matched = 0
        self._branches: Branch[S] | None = None
        self._width = int(arrays["width"][0])
        self._trie = Trie(**{name: arrays[f"trie_{name}"] for name in Trie._fields})
        self._classes = class_table(dialect, patterns=False)
        self._groups = group_table(arrays["masks"], arrays["depths"])
        self._bounds = arrays["exact_at"].astype(np.int64), arrays["open_to"].astype(np.int64)
        self._tables = Tables(
            groups=_address(self._groups),
            exact_at=_address(self._bounds[0]),
            open_to=_address(self._bounds[1]),
            filter=_address(arrays["filter"]),
            bits=np.uint64(len(arrays["filter"]) * 64),
            entries=_address(arrays["entries"]),
            capacity=np.uint64(len(arrays["entries"])),
            records=_address(arrays["records"]),
            width=np.int64(self._width),
            classes=_address(self._classes),
            separators=eight(dialect.separator),
            least=np.int64(dialect.least),
            hides=dialect.hides_dollar,
            most_words=np.int64(dialect.most_words),
            distinct=bool(arrays["distinct"][0]),
        )

    @overload
    @classmethod
    def build(
        cls, patterns: Any, subscribers: Sequence[H], dialect: str | Dialect = ..., *, most_groups: int = ...
    ) -> MaskIndex[H]: ...

    @overload
    @classmethod
    def build(
        cls, patterns: Any, subscribers: Any, dialect: str | Dialect = ..., *, most_groups: int = ...
    ) -> MaskIndex[Any]: ...

    @classmethod
    def build(
        cls, patterns: Any, subscribers: Any, dialect: str | Dialect = "amqp", *, most_groups: int = shapes.MOST_GROUPS
    ) -> MaskIndex[Any]:
        """Index patterns[i] for subscribers[i].

        Parameters
        ----------
        patterns : pyarrow.StringArray or sequence of str
            A pattern for each subscription.
        subscribers : pyarrow.Array, ndarray or sequence of hashable
            As many subscribers.
        dialect : str or Dialect
            One of `DIALECTS`: how patterns and topics are written.
        most_groups : int
            The most wildcard masks that are probed for, 0 to 48; patterns with rarer masks go to a trie.

        Raises
        ------
        InvalidPattern
            If a pattern breaks a rule of the dialect; the error names the row.
        """
        most_groups = whole(most_groups, "most_groups", 0, int(shapes.MOST_GROUPS))
        rules = get_dialect(dialect)
        numbers, numbering = number(subscribers)
        arrays = arrays_of(patterns, numbers, rules, most_groups)
        arrays["distinct"] = np.array([len(np.unique(numbers)) == len(numbers)], np.int8)
        plain = {"dialect": rules.name, "subscriptions": len(numbers), "objects": numbering.objects is not None}
        if numbering.column is not None:
            _, offsets, alive = byte_column(numbering.column)
            arrays["name_offsets"] = offsets
            arrays["name_bytes"] = np.frombuffer(alive.buffers()[2] or b"", np.uint8)[: offsets[-1]]
        buffer = layout.pack(plain, arrays)
        _, views = layout.unpack(buffer, "the index", check=False)
        return cls(buffer, rules, numbering, views)

    @classmethod
    def of(cls, subscriptions: Iterable[Subscription[H]], dialect: str | Dialect = "amqp") -> MaskIndex[H]:
        """Index subscriptions."""
        held = list(many(subscriptions, "subscriptions", "[subscription]"))
        for row, each in enumerate(held):
            if not isinstance(each, Subscription):
                raise TypeError(f"subscriptions, element {row} must be a Subscription, not {type(each).__name__}")
        return cls.build([each.pattern for each in held], [each.subscriber for each in held], dialect)

    @classmethod
    def open(cls, path: str | Path, *, check: bool = True) -> MaskIndex[Any]:
        """Map a saved index into memory.

        Parameters
        ----------
        path : str or Path
            The file that `save` wrote.
        check : bool
            Whether to read the whole file, compare its checksum, and look whether all in it leads to where it should;
            if False, open only files that you wrote.

        Raises
        ------
        IndexInvalid
            If the file is no index, of another version, truncated or damaged; the error names the file.
        """
        file, check = path_of(path), flag(check, "check")
        if Path(file).stat().st_size == 0:
            return cls._of_buffer(np.empty(0, np.uint8), file, check)
        return cls._of_buffer(np.memmap(file, np.uint8, mode="c").view(np.ndarray), file, check)

    @classmethod
    def _of_buffer(cls, buffer: NDArray[np.uint8], source: str, check: bool) -> MaskIndex[Any]:
        plain, arrays = layout.unpack(buffer, source, check=check)
        if check:
            checking.check(plain, arrays, source)
        numbering = Numbering()
        if "name_offsets" in arrays:
            numbering = Numbering(column=checking.names_of(arrays, source, check=check))
        return cls(buffer, DIALECTS[plain["dialect"]], numbering, arrays)

    def save(self, path: str | Path) -> None:
        """Write the index to a file, which appears complete or not at all.

        Raises
        ------
        TypeError
            If the subscribers are neither all int nor all str, or the dialect is one of your own.
        OSError
            If the file cannot be written: the error names `path`, and whatever was there is unchanged.
        """
        file = path_of(path)
        self._portable()
        publish_file(file, self._buffer.data)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        self._portable()
        return MaskIndex._of_buffer, (self._buffer, "the pickled index", False)

    def _portable(self) -> None:
        if self._numbering.objects is not None:
            raise TypeError("only subscribers that are all int or all str can be saved; number them")
        if DIALECTS.get(self._dialect.name) is not self._dialect:
            raise TypeError("an index of a dialect of your own cannot be saved: its rules are functions")

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._dialect

    @property
    def nbytes(self) -> int:
        """Bytes of the index."""
        return len(self._buffer)

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; see `Matcher.match_many`."""
        rows, found = self._search(text_column(topics))
        self._matches += len(rows) - 1
        self._matched += len(found)
        if len(found) >= 1 << 31:
            raise ValueError(f"{len(found):,} matches do not fit one Arrow list array; pass fewer topics at once")
        return pa.ListArray.from_arrays(pa.array(rows.astype(np.int32)), self._numbering.values(found))

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; see `Matcher.match`."""
        matched = frozenset([self._numbering.object(each) for each in self._search_one(topic)])
        self._matches += 1
        self._matched += len(matched)
        return matched

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, in any order, without their queues."""
        found = self._search_one(topic, names_only=True)
        return [each for name in found for each in self._record((name - 1) * 4)[0]]

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic; stops at the first."""
        data, offsets = self._one(topic)
        no_room = np.empty(0, np.int64)
        return self._step(data.ctypes.data, offsets, 0, True, np.zeros(2, np.int64), no_room)[0] == 0

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first, without queues."""
        words = self._dialect.prefix(prefix)
        at = 0
        while at < len(self._arrays["records"]):
            held, text, at = self._record(at)
            if self._dialect.split(text)[: len(words)] == words:
                yield from held

    def may_overlap(self, pattern: Pattern) -> list[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and some that do not; without queues.

        The first call reads all subscriptions.
        """
        if self._branches is None:
            root: Branch[S] = Branch()
            for each in self.subscriptions():
                root.grow(self._dialect.pattern(each.pattern))[0].held.add(each)
            self._branches = root
        return self._branches.may_overlap(pattern)

    def snapshot(self) -> MaskIndex[S]:
        """Return the index itself, which never changes."""
        return self

    def freeze(self) -> MaskIndex[S]:
        """Return the index itself."""
        return self

    def stats(self) -> Stats:
        """Return the size of the index and the number of calls."""
        held = list(self.subscriptions())
        patterns = {each.pattern for each in held}
        size = sum(len(pattern.encode()) for pattern in patterns)
        return Stats(
            engine=type(self).__name__,
            dialect=self._dialect.name,
            subscriptions=len(held),
            patterns=len(patterns),
            subscribers=len({each.subscriber for each in held}),
            matches=self._matches,
            matched=self._matched,
            details={
                "bytes": self.nbytes,
                "pattern bytes": size,
                "masks": len(self._arrays["masks"]),
                "trie nodes": len(self._trie.one) - 2,
            },
        )

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Never:
        """Raise FrozenMatcher."""
        raise _frozen("subscribe")

    def subscribe_many(self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None) -> Never:
        """Raise FrozenMatcher."""
        raise _frozen("subscribe_many")

    def unsubscribe(self, subscription: Subscription[S]) -> Never:
        """Raise FrozenMatcher."""
        raise _frozen("unsubscribe")

    def unsubscribe_all(self, subscriber: S) -> Never:
        """Raise FrozenMatcher."""
        raise _frozen("unsubscribe_all")

    def __len__(self) -> int:
        return sum(1 for _ in self.subscriptions())

    def __repr__(self) -> str:
        return f"<MaskIndex of {self._dialect.name} with {self.nbytes:,} bytes>"

    def _record(self, at: int) -> tuple[list[Subscription[S]], str, int]:
        """Return the subscriptions and the pattern of the record at byte `at`, and where the next record starts."""
        held = self._arrays["records"]
        count = int(held[at : at + 4].view(np.uint32)[0])
        length = int(held[at + 4 : at + 6].view(np.uint16)[0])
        start = at + records.HEAD
        end = start + count * self._width
        numbers = held[start:end].view(np.int32 if self._width == 4 else np.int64).tolist()
        text = bytes(held[end : end + length]).decode()
        found = [Subscription(at // 4 + k, text, self._numbering.object(each)) for k, each in enumerate(numbers)]
        return found, text, (end + length + 3) // 4 * 4

    def _one(self, topic: str | bytes) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return a topic as a column of one row: its bytes, checked, and where the row starts and ends."""
        self._dialect.topic(topic)
        data = exact_bytes(topic)
        return np.frombuffer(data or b"\0", np.uint8), np.array([0, len(data)], np.int64)

    def _search_one(self, topic: str | bytes, *, names_only: bool = False) -> list[int]:
        """Return the subscribers of one topic as numbers, or the names of the records."""
        data, offsets = self._one(topic)
        rows, out = np.zeros(2, np.int64), np.empty(64, np.int64)
        while self._step(data.ctypes.data, offsets, 0, names_only, rows, out)[0] == 0:
            out = np.empty(2 * len(out), np.int64)
        return out[: rows[1]].tolist()  # type: ignore[no-any-return]

    def _search(self, column: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the subscribers of each topic start, and the subscribers of all topics, as numbers."""
        address, offsets, _alive = byte_column(column)
        total = len(offsets) - 1
        self._refuse_long(column, np.diff(offsets))
        check_texts(self._dialect, column)
        rows = np.zeros(total + 1, np.int64)
        out = np.empty(4 * total + 64, np.int64)  # memory that is not written to costs nothing
        first = 0
        while first < total:
            stop = min(total, first + _CHUNK)
            reached, suspicious = self._step(address, offsets[: stop + 1], first, False, rows[: stop + 1], out)
            self._blame(column, np.flatnonzero(suspicious[: reached - first]) + first)
            first = reached
            if first < stop:
                out = np.concatenate([out, np.empty(len(out) + 64, np.int64)])
        return rows, out[: rows[total]]

    def _refuse_long(self, column: Any, lengths: NDArray[np.int64]) -> None:
        """Raise the error of the first topic that breaks a rule, if one is too long: working memory is for no more."""
        long = np.flatnonzero(lengths > self._dialect.longest)
        if len(long):
            self._search(column[: int(long[0])])
            self._blame(column, long[:1])

    def _step(
        self,
        address: int,
        offsets: NDArray[np.int64],
        first: int,
        names_only: bool,
        rows: NDArray[np.int64],
        out: NDArray[np.int64],
    ) -> tuple[int, NDArray[np.uint8]]:
        lengths = np.diff(offsets[first:])
        longest = int(lengths.max())
        suspicious = np.empty(len(lengths), np.uint8)
        reached = MASK.search(
            self._tables, self._trie, address, offsets, first, longest + 1, names_only, rows, out,
            suspicious,
        )  # fmt: skip
        if reached == NO_TRIE:
            raise IndexInvalid("the index is damaged: two ways lead to one node of its trie; freeze and save it again")
        return reached, suspicious

    def _blame(self, column: Any, rows: Iterable[int]) -> None:
        """Raise the error of the first of these topics that breaks a rule, if one does."""
        for row in rows:
            text = column[int(row)].cast(pa.large_binary()).as_py()
            try:
                self._dialect.topic(text)
            except InvalidTopic as error:
                raise error.at_row(int(row)) from None


def _address(array: NDArray[Any]) -> np.uint64:
    return np.uint64(array.ctypes.data)


def _frozen(call: str) -> FrozenMatcher:
    return FrozenMatcher(f"a MaskIndex does not change: {call} on the matcher it was made from, and freeze that")
