"""`MessageRing`: a bounded queue of strings, bytes, pickled objects or Arrow record batches.

Example: a process puts ``"tea"``. The bytes go into a block of the arena, and the offset of the block into the ring.
Whoever gets the offset copies the bytes and frees the block.

Everything else is the ring's: waiting, policies, shutting down, counts. See `latchfree.streams.kernels.payload` for
whose a block is when.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from operator import index
from typing import Any, Final

import numpy as np

from latchfree.arena import Arena
from latchfree.arena.patience import Patience
from latchfree.errors import ArenaFull
from latchfree.extras import optional
from latchfree.streams.border import RING
from latchfree.streams.buffer import RingBuffer
from latchfree.streams.handle import checked_capacity
from latchfree.streams.kernels import layout

pa = optional("pyarrow", "check")

#: What a message may be: the place of each, from 1 on, is its number in the words of the ring.
HOLDS: Final = ("bytes", "str", "pickle", "arrow")
#: The bytes of a message at most.
MOST_BYTES: Final = 1 << 28


class MessageRing(RingBuffer):
    """A bounded first-in first-out queue of messages of any length, for threads and processes.

    Parameters
    ----------
    capacity : int
        How many messages the ring holds: a power of two from 2 to 33,554,432.
    holds : str
        What a message is: "bytes", "str", "pickle" (any object that can be pickled) or "arrow" (a
        ``pyarrow.RecordBatch``). A message has at most 268,435,456 bytes.
    arena : Arena, optional
        Where ring and messages live; by default a private arena with room for messages of `expected` bytes.
    expected : int
        Bytes of a message on average, from which the size of a private arena is computed.
    weak, stall_timeout, when_full
        As for `RingBuffer`.

    Raises
    ------
    TypeError, ValueError, ArenaFull
        As `RingBuffer`; also if `holds` is none of the four.

    Notes
    -----
    Unpickling runs code: take pickled messages only from those who may run code in this process.

    Examples
    --------
    >>> ring = MessageRing(4, holds="str")
    >>> ring.put("tea"), ring.put("a longer text"), ring.get(), len(ring)
    (True, True, 'tea', 1)
    """

    __slots__ = ("_decode", "_encode")

    def __init__(
        self,
        capacity: int,
        holds: str = "bytes",
        *,
        weak: bool = False,
        arena: Arena | None = None,
        expected: int = 1 << 12,
        stall_timeout: float = 10.0,
        when_full: str = "block",
    ) -> None:
        number, size = _number_of(holds), index(expected)
        if not 1 <= size <= MOST_BYTES:
            raise ValueError(f"expected must be from 1 to {MOST_BYTES:,} bytes, got {size:,}")
        if arena is None:
            count = checked_capacity(capacity)
            arena = Arena.anonymous(min(1 << 40, (8 << 20) + 24 * count + 4 * count * (size + 64)))
        self._payload = number
        super().__init__(capacity, weak=weak, arena=arena, stall_timeout=stall_timeout, when_full=when_full)

    def _adapt(self) -> None:
        """Learn from the words of the ring what messages are."""
        with self._arena.call():
            words = self._arena.words
            if self._payload:  # nobody else has the ring yet
                words[self._ring + int(layout.PAYLOAD)] = self._payload
            number = int(words[self._ring + int(layout.PAYLOAD)])
        if not 1 <= number <= len(HOLDS):
            raise ValueError("this ring holds integers; open it with RingBuffer")
        self._payload = number
        self._encode, self._decode = _CODECS[HOLDS[number - 1]]

    @classmethod
    def create(
        cls,
        arena: Arena,
        name: str,
        capacity: int,
        holds: str = "bytes",
        *,
        weak: bool = False,
        stall_timeout: float = 10.0,
        when_full: str = "block",
    ) -> MessageRing:
        """Make an empty ring under a name in a shared arena; see `RingBuffer.create`."""
        _number_of(holds)

        def make() -> MessageRing:
            return MessageRing(
                capacity, holds, weak=weak, arena=arena, stall_timeout=stall_timeout, when_full=when_full
            )

        found: MessageRing = cls._create(arena, name, holds, make, stall_timeout)
        return found

    @classmethod
    def open(cls, arena: Arena, name: str, *, stall_timeout: float = 10.0) -> MessageRing:
        """Return the ring of messages of a name in an arena; see `RingBuffer.open`."""
        found: MessageRing = cls._found(arena, name, stall_timeout)
        return found

    @property
    def holds(self) -> str:
        """What a message is."""
        return HOLDS[self._payload - 1]

    # blocks --------------------------------------------------------------------------------------------------

    def _store(self, message: Any) -> int:
        """Write a message into a block of the arena; return the offset."""
        data = self._encode(message)
        if len(data) > MOST_BYTES:
            raise ValueError(f"a message has at most {MOST_BYTES:,} bytes, got {len(data):,}")
        arena, take, patience = self._arena, RING.take_block, Patience(self._arena)
        while True:
            if self._closed:
                raise self._missing()
            block = int(take(arena.base, arena.interpreter_participant(), len(data)))
            if block:
                break
            if not patience.make_room():
                raise ArenaFull(
                    f"{arena!r} has no room for a message of {len(data):,} bytes; get some, or use a larger arena"
                )
        with arena.call():
            arena.words[block] = len(data)
            end = block + 1 + -(-len(data) // 8)
            arena.words[block + 1 : end].view(np.uint8)[: len(data)] = np.frombuffer(data, np.uint8)
        return block

    def _load(self, block: int) -> Any:
        """Return the message of an own block, and free the block."""
        arena = self._arena
        with arena.call():
            size = int(arena.words[block])
            data = arena.words[block + 1 : block + 1 + -(-size // 8)].view(np.uint8)[:size].tobytes()
        self._release(block)
        return self._decode(data)

    def _release(self, block: int) -> None:
        """Free an own block."""
        free = RING.free_block
        free(self._arena.base, self._arena.interpreter_participant(), block)

    def _put_or_release(self, message: Any, put: Callable[[int], bool]) -> bool:
        block, done = self._store(message), False
        try:
            done = put(block)
        finally:
            if not done and not self._arena.closing:
                self._release(block)
        return done

    # messages ------------------------------------------------------------------------------------------------

    def try_put(self, message: Any) -> bool:
        """Put a message at the end; False if the ring is full. See `RingBuffer.try_put`.

        Raises
        ------
        TypeError, ValueError
            If the message is of another kind than the ring holds, or too large.
        ArenaFull
            If the arena has no room for it.
        """
        return self._put_or_release(message, super().try_put)

    def try_get(self) -> Any:
        """Take the oldest message; None if the ring is empty. See `RingBuffer.try_get`."""
        block = super().try_get()
        return None if block is None else self._load(block)

    def put(self, message: Any, timeout: float | None = None) -> bool:
        """Put a message at the end, or do what the ring was made to do when it is full. See `RingBuffer.put`."""
        wait = super().put
        return self._put_or_release(message, lambda block: wait(block, timeout))

    def get(self, timeout: float | None = None) -> Any:
        """Take the oldest message; wait for one if the ring is empty. See `RingBuffer.get`."""
        return self._load(super().get(timeout))

    async def aput(self, message: Any, timeout: float | None = None) -> bool:
        """Put a message as `put` does, and let other coroutines run meanwhile."""
        block, done = self._store(message), False
        try:
            done = await super().aput(block, timeout)
        finally:
            if not done and not self._arena.closing:
                self._release(block)
        return done

    async def aget(self, timeout: float | None = None) -> Any:
        """Take the oldest message as `get` does, and let other coroutines run meanwhile."""
        return self._load(await super().aget(timeout))

    def put_many(  # type: ignore[override]  # messages in the place of integers
        self, messages: Iterable[Any], timeout: float | None = 0.0
    ) -> int:
        """Put messages in order until the ring is full and stays full; return how many. See `RingBuffer.put_many`."""
        blocks: list[int] = []
        done = 0
        try:
            for message in messages:
                blocks.append(self._store(message))
            done = super().put_many(np.array(blocks, np.int64), timeout)
        finally:
            if not self._arena.closing:
                for block in blocks[done:]:
                    self._release(block)
        return done

    def get_many(  # type: ignore[override]
        self, most: int, timeout: float | None = 0.0
    ) -> list[Any]:
        """Take messages in order until the ring is empty; wait for the first. See `RingBuffer.get_many`."""
        return [self._load(int(block)) for block in super().get_many(most, timeout)]

    def __repr__(self) -> str:
        return f"<MessageRing of {self._capacity:,} messages, {self.holds}{', weak' if self._weak else ''}>"


def _number_of(holds: Any) -> int:
    if not isinstance(holds, str):
        raise TypeError(f"holds must be a string, not {type(holds).__name__}")
    if holds not in HOLDS:
        raise ValueError(f"holds must be one of {', '.join(map(repr, HOLDS))}, got {holds!r}")
    return HOLDS.index(holds) + 1


def _bytes(message: Any) -> bytes:
    if not isinstance(message, bytes | bytearray | memoryview):
        raise TypeError(f"this ring holds bytes, not {type(message).__name__}")
    return bytes(message)


def _text(message: Any) -> bytes:
    if not isinstance(message, str):
        raise TypeError(f"this ring holds strings, not {type(message).__name__}")
    return message.encode()


def _pickled(message: Any) -> bytes:
    try:
        return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise TypeError(f"a {type(message).__name__} cannot be pickled: {error}") from error


def _batch(message: Any) -> bytes:
    if not isinstance(message, pa.RecordBatch):
        raise TypeError(f"this ring holds Arrow record batches, not {type(message).__name__}")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, message.schema) as writer:
        writer.write_batch(message)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _batch_of(data: bytes) -> Any:
    with pa.ipc.open_stream(data) as reader:
        return reader.read_next_batch()


_CODECS: Final[dict[str, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]]] = {
    "bytes": (_bytes, bytes),
    "str": (_text, bytes.decode),
    "pickle": (_pickled, pickle.loads),
    "arrow": (_batch, _batch_of),
}
