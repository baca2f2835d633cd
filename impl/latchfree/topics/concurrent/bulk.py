"""Bulk calls on columns of texts: Arrow buffers in, offsets and values out, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.patience import Patience
from latchfree.ctrie.holds import Taken
from latchfree.extras import optional
from latchfree.topics.columns import check_texts, number_column, rows_of, text_column
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.concurrent.kernels.collect import TOO_SMALL
from latchfree.topics.concurrent.payload import NO_QUEUE, copies
from latchfree.topics.concurrent.scratch import Scratch
from latchfree.topics.concurrent.store import TopicStore
from latchfree.topics.concurrent.subscribers import LIMIT
from latchfree.topics.errors import InvalidPattern, InvalidTopic

pa: Any = optional("pyarrow", "topics")

_TOO_SMALL = int(TOO_SMALL)
#: Subscribers expected for each topic: sets the first size of the result.
_EXPECTED = 2
#: Rows matched under one pin, where the S-nodes found are copied.
_CHUNK = 1024


class _Texts:
    """The buffers of an Arrow string array: the address of its bytes, and the place where each element starts."""

    def __init__(self, column: Any) -> None:
        self._column = column
        _, offsets, data = column.buffers()
        large = pa.types.is_large_string(column.type)
        places: NDArray[Any] = np.zeros(1, np.int64)
        if len(column):
            kind = np.int64 if large else np.int32
            places = np.frombuffer(offsets, kind)[column.offset : column.offset + len(column) + 1].astype(np.int64)
        self.places = places
        self.address = data.address if data is not None else 0
        self.longest = int(np.diff(places).max(initial=0))

    def bytes_of(self, row: int) -> bytes:
        """Return the bytes of one row."""
        kind = pa.large_binary() if pa.types.is_large_string(self._column.type) else pa.binary()
        value: bytes = self._column.slice(row, 1).cast(kind)[0].as_py()
        return value


def match(
    store: TopicStore, scratch: Scratch, column: Any, hold: Taken | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the words of each topic's subscribers: row k has ``found[offsets[k] : offsets[k + 1]]``.

    Raises
    ------
    InvalidTopic
        Naming the row.
    """
    check_texts(store.dialect, column)
    offsets, out = _match(store, scratch, _Texts(column), hold, values=True)
    return offsets, out[: offsets[-1]]


def _match(
    store: TopicStore, scratch: Scratch, texts: _Texts, hold: Taken | None, *, values: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Match valid UTF-8; without `values`, return S-nodes, behind which copies of them follow."""
    scratch.make_room(min(texts.longest, store.dialect.longest))
    scratch.stop_after()
    rows = len(texts.places) - 1
    offsets = np.zeros(rows + 1, np.int64)
    out: NDArray[np.int64] = np.empty(_EXPECTED * rows + len(scratch.row), np.int64)
    entry, base, root = TOPICS.match_rows, store.arena.base, 0 if hold is None else hold.root
    done = 0
    while True:
        with store.lend(hold) as me:  # no call of Python between this and the use: a handler may fork there
            reached = entry(
                base, store.trie, root, me, store.grammar, values, texts.address, texts.places, done, offsets, out,
                scratch.buffers,
            )  # fmt: skip
        if reached == rows:
            return offsets, out
        done = reached if values else 0  # nothing has kept the S-nodes since
        if int(scratch.counts[0]) == _TOO_SMALL:
            scratch.grow()
            out = np.concatenate([out, np.empty(len(out) + len(scratch.row), np.int64)])
            scratch.stop_after()
            continue
        try:
            store.dialect.topic(texts.bytes_of(reached))
        except InvalidTopic as error:
            raise error.at_row(reached) from None
        raise AssertionError(f"row {reached} was refused and is valid")


def match_nodes(
    store: TopicStore, scratch: Scratch, column: Any, hold: Taken | None, subscriber: Callable[[int, Any], Hashable]
) -> list[list[Hashable]]:
    """Return the subscribers of each topic of a valid column, read from the S-nodes; one may stand twice in a row."""
    rows: list[list[Hashable]] = []
    for start in range(0, len(column), _CHUNK):
        offsets, out = _match(store, scratch, _Texts(column.slice(start, _CHUNK)), hold, values=False)
        count, end = int(offsets[-1]), int(scratch.counts[0])
        known = {node: subscriber(payload.word, payload.text) for node, (_, _, payload) in copies(out, 2 * count, end)}
        all_found = [known[node] for node in out[:count].tolist()]
        rows += [all_found[low:high] for low, high in pairwise(offsets.tolist())]
    return rows


def _patterns(store: TopicStore, patterns: Any, scratch: Scratch) -> _Texts:
    column = text_column(patterns, "patterns")
    words = 0
    for row, text in rows_of(column):
        try:
            parsed = store.dialect.pattern(text)
        except InvalidPattern as error:
            raise error.at_row(row) from None
        if parsed.group is not None:
            raise InvalidPattern(text, store.dialect.name, "a bulk call takes no share names", row=row)
        words = max(words, len(parsed.words))
    texts = _Texts(column)
    scratch.make_room(texts.longest, words)
    return texts


def subscribe(store: TopicStore, scratch: Scratch, patterns: Any, subscribers: Any) -> NDArray[np.uint64]:
    """Add the subscriptions of two columns; see `ConcurrentTrie.subscribe_column`."""
    texts = _patterns(store, patterns, scratch)
    rows = len(texts.places) - 1
    payloads = np.empty((rows, 2), np.int64)
    payloads[:, 0] = number_column(subscribers, rows, "subscribers", -LIMIT, LIMIT)
    payloads[:, 1] = NO_QUEUE
    numbers = np.zeros(rows, np.uint64)
    entry, base, address = TOPICS.add_rows, store.arena.base, payloads.ctypes.data
    done = 0

    def attempt() -> bool:
        nonlocal done
        with store.lend() as me:  # no call of Python between this and the use: a handler may fork there
            done = entry(
                base, store.trie, me, store.grammar.rules, texts.address, texts.places, address, 16, 16, done, numbers,
                scratch.descent,
            )  # fmt: skip
        return bool(done == rows)

    try:
        _insist(store, attempt, lambda: done)
    finally:
        scratch.subscribes += done
    return numbers


def unsubscribe(store: TopicStore, scratch: Scratch, patterns: Any, numbers: Any, gone: Callable[[int], None]) -> None:
    """Take subscriptions away by number; see `ConcurrentTrie.unsubscribe_column`.

    `gone` is called with the word for each subscriber that had a subscription.
    """
    texts = _patterns(store, patterns, scratch)
    rows = len(texts.places) - 1
    names = number_column(numbers, rows, "numbers", 0, 1 << 64)  # a copy: 0 is written for each that is not found
    names[names >= 1 << 63] = 0  # no subscription has such a number
    words = np.zeros(rows, np.int64)
    entry, base = TOPICS.drop_rows, store.arena.base
    done = 0

    def attempt() -> bool:
        nonlocal done
        with store.lend() as me:
            done = entry(
                base, store.trie, me, store.grammar.rules, texts.address, texts.places, names, words, done,
                scratch.descent,
            )  # fmt: skip
        return bool(done == rows)

    try:
        _insist(store, attempt, lambda: done)
    finally:
        dropped = words[:done][names[:done] != 0]
        scratch.unsubscribes += len(dropped)
        for word in dropped[dropped >= LIMIT].tolist():
            gone(word)


def _insist(store: TopicStore, attempt: Callable[[], bool], done: Callable[[], int]) -> None:
    """Make attempts, and room in between, until one is done or several get nowhere.

    Parameters
    ----------
    store : TopicStore
        The trie that the rows change or match.
    attempt : callable
        Handles further rows; returns whether all are handled.
    done : callable
        Returns how many rows are handled.
    """
    patience = Patience(store.arena, bulk=True)
    before = done()
    while not attempt():
        if not patience.make_room(progress=done() > before):
            raise store.out_of_room(done())
        before = done()
