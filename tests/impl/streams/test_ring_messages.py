"""Rings of messages: strings, bytes, pickled objects, record batches; their memory comes back."""

import asyncio
import os
import pickle
import signal
import threading

import numpy as np
import pyarrow as pa
import pytest
from children import in_child
from hypothesis import given
from hypothesis import strategies as st
from threads_together import together

from latchfree import Arena, ArenaFull, MessageRing, MessageUnreadable, RingEmpty, RingFull, RingShutDown, UnreadMessage

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@given(st.lists(st.text()), st.lists(st.binary()), st.lists(st.dictionaries(st.text(), st.integers())))
def test_messages_come_back_as_they_were(texts, blobs, things):
    for holds, messages in (("str", texts), ("bytes", blobs), ("pickle", things)):
        ring, got = MessageRing(8, holds), []
        for start in range(0, len(messages), 8):
            part = messages[start : start + 8]
            half = len(part) // 2
            assert ring.put_many(part[:half]) == half
            for message in part[half:]:
                assert ring.put(message)
            assert len(ring) == len(part)
            got += ring.get_many(half) + [ring.try_get() for _ in part[half:]]
        assert got == messages
        assert ring.try_get() is None


def test_record_batches():
    ring = MessageRing(4, "arrow")
    batch = pa.record_batch({"a": [1, None, 3], "b": ["x", "", "z"]})
    empty = batch.slice(0, 0)
    ring.put(batch)
    ring.put(batch.slice(1))
    ring.put(empty)
    assert [ring.get().to_pydict() for _ in range(3)] == [
        batch.to_pydict(),
        batch.slice(1).to_pydict(),
        empty.to_pydict(),
    ]


@pytest.mark.parametrize(
    ("holds", "message", "text"),
    [
        ("str", b"tea", "holds strings, not bytes"),
        ("bytes", "tea", "holds bytes, not str"),
        ("bytes", 5, "holds bytes, not int"),
        ("arrow", [1], "holds Arrow record batches, not list"),
        ("pickle", threading.Lock(), "cannot be pickled"),
        ("str", None, "holds strings, not NoneType"),
    ],
)
def test_other_kinds_are_refused(holds, message, text):
    ring = MessageRing(4, holds)
    before = ring._arena.allocated
    for call in (ring.put, ring.try_put, lambda wrong: ring.put_many([wrong])):
        with pytest.raises(TypeError, match=text):
            call(message)
    assert (len(ring), ring._arena.allocated) == (0, before)


def test_a_string_without_an_encoding_is_refused():
    ring = MessageRing(4, "str")
    before = ring._arena.allocated
    for call in (ring.put, ring.try_put, lambda wrong: ring.put_many(["tea", wrong])):
        with pytest.raises(ValueError, match="must have an encoding in UTF-8, this one has none"):
            call("\ud800")
    assert (len(ring), ring._arena.allocated) == (0, before)


def test_arguments_are_checked():
    for make, error, text in (
        (lambda: MessageRing(4, "int"), ValueError, "must be one of 'bytes', 'str', 'pickle', 'arrow', got 'int'"),
        (lambda: MessageRing(4, None), TypeError, "holds must be a string"),
        (lambda: MessageRing(3), ValueError, "power of two"),
        (lambda: MessageRing(4, expected=0), ValueError, "expected must be from 1"),
    ):
        with pytest.raises(error, match=text):
            make()
    assert repr(MessageRing(4, "str", weak=True)) == "<MessageRing of 4 messages, str, weak>"


@pytest.mark.parametrize("when_full", ["reject", "drop newest", "drop oldest"])
def test_what_is_dropped_or_refused_is_freed(when_full):
    ring = MessageRing(4, "bytes", when_full=when_full)
    before = ring._arena.allocated
    refused = 0
    for k in range(20):
        try:
            refused += not ring.put(bytes([k]) * 500)
        except RingFull:
            refused += 1
    left = ring.get_many(9)
    assert [message[0] for message in left] == ([16, 17, 18, 19] if when_full == "drop oldest" else [0, 1, 2, 3])
    assert refused == (0 if when_full == "drop oldest" else 16)
    assert ring.put_many([b"x"] * 9) == 4
    ring.shutdown(immediate=True)
    assert ring._arena.allocated == before
    with pytest.raises(RingShutDown):
        ring.put(b"more")
    assert ring._arena.allocated == before


def test_a_full_arena_changes_nothing(shared_name):
    with Arena.create(name=shared_name, capacity=4 << 20) as arena:
        ring = MessageRing(4, arena=arena)
        ring.put(b"kept")
        before = arena.allocated
        with pytest.raises(ArenaFull, match="no room for a message of 8,000,000 bytes"):
            ring.put(bytes(8_000_000))
        assert (arena.allocated, ring.get()) == (before, b"kept")


def test_a_dropped_ring_frees_its_messages(shared):
    before = None
    for _ in range(20):
        ring = MessageRing(4, "str", arena=shared)
        ring.put_many(["x" * 1000] * 3)
        del ring
        before = shared.allocated if before is None else before
        assert shared.allocated == before


def test_threads_and_processes(shared):
    ring = MessageRing(16, "pickle", arena=shared)
    in_child(lambda: ring.put(("child", os.getpid())))
    assert ring.get()[0] == "child"
    before, got = shared.allocated, []

    def produce(number):
        for k in range(300):
            ring.put((number, k, "x" * (k % 50)))

    def consume():
        for _ in range(300):
            got.append(ring.get(timeout=120))

    together(*[lambda n=n: produce(n) for n in range(2)], consume, consume)
    assert sorted(got) == sorted((n, k, "x" * (k % 50)) for n in range(2) for k in range(300))
    for number in range(2):
        assert len([each for each in got if each[0] == number]) == 300
    assert shared.allocated == before


def test_coroutines():
    async def main():
        ring = MessageRing(2, "str")
        before = ring._arena.allocated
        waiting = asyncio.create_task(ring.aget())
        await asyncio.sleep(0)
        assert await ring.aput("tea")
        assert await waiting == "tea"
        with pytest.raises(RingEmpty):
            await ring.aget(timeout=0)
        await ring.aput("a")
        await ring.aput("b")
        full = asyncio.create_task(ring.aput("c"))
        await asyncio.sleep(0)
        full.cancel()
        with pytest.raises(asyncio.CancelledError):
            await full
        assert ring.get_many(9) == ["a", "b"]
        assert ring._arena.allocated == before

    asyncio.run(main())


def test_a_large_message():
    ring = MessageRing(2, "bytes", expected=1 << 20)
    data = np.arange(1 << 18, dtype=np.int64).tobytes()
    ring.put(data)
    assert ring.get() == data


def interrupted(seconds, call):
    """Run a call that waits, and is interrupted after so many seconds."""

    def handler(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_who_is_interrupted_waiting_for_room_frees_what_the_ring_has_not_got():
    ring = MessageRing(2, holds="str")
    ring.put_many(["a", "b"])
    ring.get_many(2)
    before = ring._arena.allocated
    interrupted(0.05, lambda: ring.put_many(["tea", "oat", "rye"], timeout=None))
    others = MessageRing(8, holds="str", arena=ring._arena)
    others.put_many(["xxx"] * 4)
    assert ring.get_many(4) == ["tea", "oat"]
    assert others.get_many(4) == ["xxx"] * 4
    del others
    ring.put_many(["tea", "oat"])
    interrupted(0.05, lambda: ring.put("rye"))
    assert ring.get_many(4) == ["tea", "oat"]
    assert ring._arena.allocated <= before


def test_nothing_is_lost_beside_a_message_that_cannot_be_read():
    ring = MessageRing(8, holds="pickle")
    before = ring._arena.allocated
    ring.put_many([1, GivesUp(), 3, GivesUp()])
    with pytest.raises(
        MessageUnreadable, match=r"message 2 of 4 cannot be read \(ZeroDivisionError: .*, and 1 more"
    ) as raised:
        ring.get_many(8)
    error = raised.value
    assert error.messages == [1, 3]
    assert [(each.place, each.data, type(each.error)) for each in error.unread] == [
        (place, pickle.dumps(GivesUp(), pickle.HIGHEST_PROTOCOL), ZeroDivisionError) for place in (1, 3)
    ]
    assert error.__cause__ is error.unread[0].error
    assert (len(ring), ring._arena.allocated) == (0, before)
    again = pickle.loads(pickle.dumps(MessageUnreadable(1, [UnreadMessage(0, b"x", ValueError("y"))], [5])))
    assert (again.messages, again.unread[0].data) == ([5], b"x")


@pytest.mark.parametrize("call", ["get", "try_get", "aget"])
def test_one_message_that_cannot_be_read_is_in_the_error(call):
    ring = MessageRing(4, holds="pickle")
    ring.put(GivesUp())
    ring.put("tea")
    with pytest.raises(MessageUnreadable, match="this message cannot be read") as raised:
        asyncio.run(ring.aget()) if call == "aget" else getattr(ring, call)()
    assert raised.value.unread == [(0, pickle.dumps(GivesUp(), pickle.HIGHEST_PROTOCOL), raised.value.__cause__)]
    assert raised.value.messages == []
    assert ring.get() == "tea"


@pytest.mark.parametrize(
    ("holds", "messages", "text"),
    [
        ("str", "ab", "messages must be a sequence or an array, not one str; for one use put"),
        ("pickle", "ab", "not one str; for one use put"),
        ("bytes", b"ab", "not one bytes; for one use put"),
        ("pickle", {"a": 1}, "not one dict; for one use put"),
        ("pickle", 5, "not one int; for one use put"),
        ("str", ["tea", 5], "messages, element 1: this ring holds strings, not int 5"),
        ("str", pa.array(["tea", None]), "messages, element 1: this ring holds strings, not NoneType"),
    ],
)
def test_wrong_messages_are_named_and_none_is_put(holds, messages, text):
    ring = MessageRing(4, holds)
    with pytest.raises(TypeError, match=text):
        ring.put_many(messages)
    assert len(ring) == 0


def test_arrow_strings_are_messages():
    ring = MessageRing(4, "str")
    assert ring.put_many(pa.chunked_array([["tea"], ["oat"]])) == 2
    assert ring.get_many(4) == ["tea", "oat"]


class GivesUp:
    def __reduce__(self):
        return divmod, (1, 0)
