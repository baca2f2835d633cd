"""`MessageRing`: a bounded queue of strings, bytes, pickled objects or Arrow record batches.

Example: a process puts ``"tea"``. The bytes go into a block of the arena, and the offset of the block into the ring.
Whoever gets the offset copies the bytes and frees the block.

Everything else is the ring's: waiting, policies, shutting down, counts. See `latchfree.streams.kernels.payload` for
whose a block is when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from latchfree.arena import Arena
from latchfree.arguments import choice, many, seconds, whole
from latchfree.resting import rest
from latchfree.streams.blocking import until_of
from latchfree.streams.blocks import Blocks
from latchfree.streams.border import RING
from latchfree.streams.buffer import RingBuffer
from latchfree.streams.codecs import CODECS, HOLDS, MOST_BYTES, decoded, decoded_one
from latchfree.streams.handle import LOOKS, NEWS, ROOM, checked_capacity
from latchfree.streams.kernels import layout
from latchfree.streams.kernels import ring as r

_DONE, _STALLED = int(r.DONE), int(r.STALLED)


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

    KIND = "MessageRing"

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
        number, size = _number_of(holds), whole(expected, "expected", 1, MOST_BYTES)
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
        self._encode, self._decode = CODECS[HOLDS[number - 1]]

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

    def _put_once(self, own: Blocks) -> int:
        arena, base, ring, number, put = self._arena, self._base, self._ring, self._number, RING.put_block
        if self._closed:
            raise self._missing()
        me = 0 if self._alone else arena.interpreter_participant(own.maker)
        return self._settle(put(base, me, ring, number, LOOKS, own.words), NEWS)

    def _get_once(self, own: Blocks) -> tuple[int, int]:
        arena, base, ring, number, get = self._arena, self._base, self._ring, self._number, RING.get_block
        own.renew()
        if self._closed:
            raise self._missing()
        me = 0 if self._alone else arena.interpreter_participant(own.maker)
        return self._settle(get(base, me, ring, number, LOOKS, own.words), ROOM), 0

    def _drop_once(self) -> int:
        own = Blocks(self._arena, 1)
        try:
            return self._get_once(own)[0]
        finally:
            own.free()

    def _call_batch(self, batch: Callable[..., Any], values: Blocks, first: int, maker: int = 0) -> tuple[int, int]:
        values.renew()
        return super()._call_batch(batch, values.words, first, values.maker)

    def _encoded(self, message: Any) -> bytes:
        data = self._encode(message)
        if len(data) > MOST_BYTES:
            raise ValueError(f"a message has at most {MOST_BYTES:,} bytes, got {len(data):,}")
        if self._closed:
            raise self._missing()
        return data

    def _encoded_all(self, messages: Any) -> list[bytes]:
        """Return many messages, encoded; an error says which of them is none."""
        encoded = []
        for place, message in enumerate(many(messages, "messages", "put")):
            try:
                encoded.append(self._encoded(message))
            except (TypeError, ValueError) as error:
                raise type(error)(f"messages, element {place}: {error}") from error
        return encoded

    # messages ------------------------------------------------------------------------------------------------

    def try_put(self, message: Any) -> bool:
        """Put a message at the end; False if the ring is full. See `RingBuffer.try_put`.

        Raises
        ------
        TypeError, ValueError
            If the message is of another kind than the ring holds, or too large.
        ArenaFull
            If the arena has no room for it.
        MadeBeforeFork
            In a child that a signal handler has forked in the midst of the call: the message is the parent's.
        """
        data, own, until = self._encoded(message), Blocks(self._arena, 1), 0.0
        try:
            own.write(0, data)
            while (outcome := self._put_once(own)) == _STALLED:
                until = self._nap(until, "put")
            return outcome == _DONE
        finally:
            own.free()

    def try_get(self) -> Any:
        """Take the oldest message; None if the ring is empty. See `RingBuffer.try_get`."""
        own, until = Blocks(self._arena, 1), 0.0
        try:
            while (outcome := self._get_once(own)[0]) == _STALLED:
                until = self._nap(until, "get")
            if outcome != _DONE:
                return None
            data = own.read(0)
        finally:
            own.free()
        return decoded_one(self._decode, data)

    def put(self, message: Any, timeout: float | None = None) -> bool:
        """Put a message at the end, or do what the ring was made to do when it is full. See `RingBuffer.put`."""
        until, data, own = until_of(timeout), self._encoded(message), Blocks(self._arena, 1)
        try:
            own.write(0, data)
            return self._put(own, until)
        finally:
            own.free()

    def get(self, timeout: float | None = None) -> Any:
        """Take the oldest message; wait for one if the ring is empty. See `RingBuffer.get`."""
        until, own = until_of(timeout), Blocks(self._arena, 1)
        try:
            self._get(own, until)
            data = own.read(0)
        finally:
            own.free()
        return decoded_one(self._decode, data)

    async def aput(self, message: Any, timeout: float | None = None) -> bool:
        """Put a message as `put` does, and let other coroutines run meanwhile."""
        until, own = until_of(timeout), Blocks(self._arena, 1)
        try:
            own.write(0, self._encoded(message))
            return await self._aput(own, until)
        except SystemExit:
            await rest(self._arena)
            raise
        finally:
            own.free()

    async def aget(self, timeout: float | None = None) -> Any:
        """Take the oldest message as `get` does, and let other coroutines run meanwhile."""
        until, own = until_of(timeout), Blocks(self._arena, 1)
        try:
            await self._aget(own, until)
            data = own.read(0)
        except SystemExit:
            await rest(self._arena)
            raise
        finally:
            own.free()
        return decoded_one(self._decode, data)

    def put_many(  # type: ignore[override]  # messages in the place of integers
        self, messages: Iterable[Any], timeout: float | None = 0.0
    ) -> int:
        """Put messages in order until the ring is full and stays full; return how many. See `RingBuffer.put_many`."""
        wait = None if timeout is None else seconds(timeout, "timeout")
        encoded = self._encoded_all(messages)
        own = Blocks(self._arena, len(encoded))
        try:
            for place, data in enumerate(encoded):
                own.write(place, data)
            return self._run_batch("put", RING.put_blocks, own, len(encoded), wait)
        finally:
            own.free()

    def get_many(  # type: ignore[override]
        self, most: int, timeout: float | None = 0.0
    ) -> list[Any]:
        """Take messages in order until the ring is empty; wait for the first. See `RingBuffer.get_many`.

        A pickled message that cannot be read loses nothing: `MessageUnreadable` carries the others, and its bytes.
        """
        wait, most = self._asked(most, timeout)
        own = Blocks(self._arena, most)
        try:
            count = self._run_batch("get", RING.get_many, own, min(1, most), wait)
            found = [own.read(place) for place in range(count)]
        finally:
            own.free()
        return decoded(self._decode, found)

    def __repr__(self) -> str:
        return f"<MessageRing of {self._capacity:,} messages, {self.holds}{', weak' if self._weak else ''}>"


def _number_of(holds: Any) -> int:
    return choice(holds, "holds", HOLDS) + 1
