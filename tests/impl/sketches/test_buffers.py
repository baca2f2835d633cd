"""Buffers: what waits, who may add, when it is added; and that an answer misses no more than the bound says."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from children import in_child
from threads_together import together

from latchfree import Arena, ArenaClosed, MadeBeforeFork
from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    SketchGone,
    StableBloom,
    TopK,
)
from latchfree.sketches.buffer import Buffer
from latchfree_lincheck import History, Operation, judge
from latchfree_model import Call, SequentialModel

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

MAKERS = {
    "bloom": lambda: Bloom(1_000),
    "partitioned": lambda: PartitionedBloom(1_000),
    "counting": lambda: CountingBloom(1_000),
    "scalable": lambda: ScalableBloom(100, most=2_000),
    "hll": HyperLogLog,
    "count": CountMin,
    "conservative": lambda: CountMin(conservative=True),
    "minhash": lambda: MinHash(16),
    "top": lambda: TopK(5),
}
#: One of each kind, as `add` takes them; those after the numbers are bytes, or strings of another class.
ITEMS = ["tea", 5, b"oat", "Tüte", -(2**63), np.int64(7), bytearray(b"rye"), np.str_("np"), "", "x" * 96, True + 1]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_buffer_makes_what_adding_makes(kind):
    items = [item for k in range(40) for item in (*ITEMS, k, f"number {k}")]
    alone, sketch = MAKERS[kind](), MAKERS[kind]()
    for item in items:
        alone.add(item)
    with sketch.buffered(most=16) as buffer:
        for item in items:
            buffer.add(item)
    assert sketch.added == alone.added == len(items)
    if kind == "top":
        assert sketch.top() == alone.top()
        assert {type(item) for item, _ in sketch.top()} <= {str, bytes, int}
    elif kind == "conservative":
        assert sketch.estimate_many(["tea", "oat"]) == alone.estimate_many(["tea", "oat"])
    else:
        assert sketch.to_bytes() == alone.to_bytes()


COUNTED = {"count": CountMin, "conservative": lambda: CountMin(conservative=True), "top": lambda: TopK(5)}


@pytest.mark.parametrize("kind", COUNTED)
@pytest.mark.parametrize("most", [1, 3, 16])
def test_counts_that_wait(kind, most):
    adds = [(item, 1 + (7 * k + n) % 5) for k in range(20) for n, item in enumerate(ITEMS)]
    alone, sketch = COUNTED[kind](), COUNTED[kind]()
    for item, count in adds:
        alone.add(item, count)
    with sketch.buffered(most) as buffer:
        for place, (item, count) in enumerate(adds):
            buffer.add(item, np.uint8(count) if place % 3 else count)
            assert 1 <= buffer.waiting <= most
    assert sketch.added == alone.added == sum(count for _, count in adds)
    texts, numbers = ["tea", b"oat", "Tüte", "np", "", b"rye", "x" * 96], [5, -(2**63), 7, 2]
    assert [sketch.estimate(item) for item in texts + numbers] == [alone.estimate(item) for item in texts + numbers]
    if kind == "top":
        assert sketch.top() == alone.top()
        assert {type(item) for item, _ in sketch.top()} <= {str, bytes, int}


@pytest.mark.parametrize("kind", COUNTED)
@pytest.mark.parametrize("count", [0, -1, 1 << 32, 1.0, True, None, "1", np.ones(2, int)])
def test_a_wrong_count_is_refused_when_it_comes(kind, count):
    sketch = COUNTED[kind]()
    with sketch.buffered() as buffer:
        with pytest.raises((TypeError, ValueError), match=r"count must be .*from 1 to 4,294,967,295"):
            buffer.add("tea", count)
        assert buffer.waiting == 0
    assert sketch.added == 0


def test_an_add_with_a_count_waits_as_one():
    """An answer misses whole adds: four of them here, and so all that these count."""
    sketch = CountMin()
    with sketch.buffered(4) as buffer:
        for count in (10, 20, 30, 40):
            buffer.add("tea", count)
        assert (buffer.waiting, sketch.estimate("tea")) == (4, 0)
        buffer.add("tea", 50)
        assert (buffer.waiting, sketch.estimate("tea")) == (1, 100)
    assert sketch.estimate("tea") == 150


def test_numbers():
    alone, sketch = KLL(0.02, seed=1), KLL(0.02, seed=1)
    for k in range(3_000):
        alone.add(k if k % 2 else k / 3)
    with sketch.buffered(most=100) as buffer:
        for k in range(3_000):
            buffer.add(k if k % 2 else k / 3)
    assert (sketch.count, sketch.least, sketch.greatest) == (alone.count, alone.least, alone.greatest)
    assert sketch.quantile(0.5) == alone.quantile(0.5)
    for wrong, error in ((float("nan"), ValueError), ("1", TypeError), (2**60, ValueError), (None, TypeError)):
        with pytest.raises(error), sketch.buffered() as buffer:
            buffer.add(wrong)
    assert sketch.count == 3_000


def test_what_answers_an_add_has_no_buffer():
    assert not hasattr(InverseBloom, "buffered")
    assert not hasattr(StableBloom, "buffered")


def test_at_most_so_many_wait():
    sketch = CountMin()
    with sketch.buffered(most=3) as buffer:
        for number in range(1, 11):
            buffer.add("tea")
            assert (buffer.waiting, sketch.estimate("tea")) == ((number - 1) % 3 + 1, (number - 1) // 3 * 3)
        buffer.flush()
        assert (buffer.waiting, sketch.estimate("tea"), buffer.most, buffer.sketch) == (0, 10, 3, sketch)
    assert sketch.added == 10


@pytest.mark.parametrize("most", [0, -1, 16_385])
def test_a_size_that_is_refused(most):
    with pytest.raises(ValueError, match="most must be from 1 to 16,384"):
        Bloom(10).buffered(most)
    with pytest.raises(TypeError, match="most must be an integer"):
        Bloom(10).buffered(2.5)


@pytest.mark.parametrize("item", [None, 1.5, True, ["tea"], 2**63, "\ud800", object()])
@pytest.mark.parametrize("full", [False, True])
def test_a_wrong_item_is_refused_when_it_comes(item, full):
    """Also where the buffer is full; then nothing is flushed."""
    sketch = Bloom(100)
    with pytest.raises((TypeError, ValueError)) as expected:
        sketch.add(item)
    with sketch.buffered(most=2) as buffer:
        for good in ("tea", "oat")[: 1 + full]:
            buffer.add(good)
        with pytest.raises((TypeError, ValueError)) as found:
            buffer.add(item)
        assert (type(found.value), str(found.value)) == (type(expected.value), str(expected.value))
        assert (buffer.waiting, sketch.added) == (1 + full, 0)
    assert sketch.added == 1 + full


def test_an_item_that_is_too_long_for_top_k():
    with TopK(2).buffered() as buffer:
        for item in ("x" * 97, "ü" * 49, b"x" * 97):
            with pytest.raises(ValueError, match="at most 96 bytes"):
                buffer.add(item)
        buffer.add("ü" * 48)
    assert buffer.sketch.top() == [("ü" * 48, 1)]


def test_a_callers_bytes_are_not_kept():
    data, sketch = bytearray(b"tea"), Bloom(100)
    with sketch.buffered() as buffer:
        buffer.add(data)
        data[:] = b"oat"
    assert (b"tea" in sketch, b"oat" in sketch) == (True, False)


# the end of a buffer -------------------------------------------------------------------------------------------------


def test_closing_twice_and_using_it_afterwards():
    sketch = Bloom(100)
    buffer = sketch.buffered()
    buffer.add("tea")
    buffer.close()
    buffer.close()
    assert ("tea" in sketch, sketch.added, buffer.closed) == (True, 1, True)
    for call in (lambda: buffer.add("oat"), buffer.flush):
        with pytest.raises(ValueError, match=r"closed; make another one with buffered\(\)"):
            call()
    assert repr(buffer).endswith("closed>")


def test_an_error_in_the_block_loses_nothing():
    sketch = Bloom(100)

    def work():
        with sketch.buffered() as buffer:
            buffer.add("tea")
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert "tea" in sketch


def test_a_buffer_that_is_dropped():
    sketch = Bloom(100)
    buffer = sketch.buffered()
    buffer.add("tea")
    del buffer
    gc.collect()
    assert "tea" in sketch


def test_a_thread_that_ends():
    """What it has added through a buffer left open is there when the buffer is dropped, or another thread flushes."""
    sketch, left = Bloom(100), []

    def work(keep):
        buffer = sketch.buffered()
        buffer.add(f"kept {keep}")
        if keep:
            left.append(buffer)

    together(lambda: work(False), lambda: work(True))
    gc.collect()
    assert ("kept False" in sketch, "kept True" in sketch) == (True, False)
    left[0].flush()
    assert "kept True" in sketch


def test_another_thread_may_flush_and_not_add():
    sketch = Bloom(100)
    buffer = sketch.buffered()
    buffer.add("tea")

    def work():
        with pytest.raises(RuntimeError, match="another thread adds to this buffer; make one in each thread"):
            buffer.add("oat")
        buffer.flush()

    together(work)
    assert ("tea" in sketch, "oat" in sketch, buffer.waiting) == (True, False, 0)
    buffer.add("rye")
    together(buffer.close)
    assert "rye" in sketch


def test_flushes_of_others_lose_nothing_and_add_nothing_twice():
    sketch, buffers, done = CountMin(0.01), [], threading.Event()

    def add():
        with sketch.buffered(most=7) as buffer:
            buffers.append(buffer)
            for _ in range(3_000):
                buffer.add("tea")

    def flush():
        while not done.is_set():
            for buffer in list(buffers):
                if not buffer.closed:
                    try:
                        buffer.flush()
                    except ValueError:  # closed meanwhile
                        assert buffer.closed

    flusher = threading.Thread(target=flush)
    flusher.start()
    together(add, add)
    done.set()
    flusher.join()
    assert (sketch.estimate("tea"), sketch.added) == (6_000, 6_000)


def test_an_unlinked_sketch(arena):
    sketch = Bloom.create(arena, "s", 100)
    buffer = sketch.buffered(most=2)
    buffer.add("tea")
    buffer.add("oat")
    Bloom.unlink(arena, "s")
    for call in (lambda: buffer.add("rye"), buffer.flush):
        with pytest.raises(SketchGone):
            call()
        assert buffer.waiting == 2
    with pytest.raises(SketchGone):
        buffer.close()
    buffer.close()
    assert buffer.closed
    dropped = sketch.buffered()
    dropped.add("tea")
    del dropped
    gc.collect()  # there is nobody to tell


def test_a_closed_arena(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        buffer = Bloom.create(arena, "s", 100).buffered()
        buffer.add("tea")
    with pytest.raises(ArenaClosed):
        buffer.close()


def test_a_fork(shared_name):
    """What waits is the parent's: the child adds none of it, also where it ends the block."""
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        sketch = CountMin.create(arena, "s", 0.1)

        def work():
            for call in (lambda: buffer.add("tea"), buffer.flush):
                with pytest.raises(MadeBeforeFork, match="made before the fork, and what waits in it is the parent's"):
                    call()
            buffer.close()
            with sketch.buffered() as own:
                own.add("oat")

        with sketch.buffered() as buffer:
            buffer.add("tea")
            in_child(work)
            assert (sketch.estimate("tea"), sketch.estimate("oat"), buffer.waiting) == (0, 1, 1)
        assert (sketch.estimate("tea"), sketch.added) == (1, 2)
        arena.unlink()


AT_EXIT = """
import sys
from latchfree import Arena, Bloom
arena = Arena.open(sys.argv[1])
buffer = Bloom.open(arena, "s").buffered()
buffer.add("tea")
if len(sys.argv) > 2:
    import os, signal
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("killed", [False, True])
def test_the_end_of_a_process(shared_name, killed):
    """What waits is added at the end of the interpreter, and lost by a kill."""
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        sketch = Bloom.create(arena, "s", 100)
        command = [sys.executable, "-c", AT_EXIT, shared_name, *(["kill"] if killed else [])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(command, env=environment, check=False, timeout=600, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (-signal.SIGKILL if killed else 0, "")
        assert ("tea" in sketch) is not killed
        arena.unlink()


def test_a_buffer_is_not_sent():
    with Bloom(10).buffered() as buffer, pytest.raises(TypeError, match="stays in its thread; send the sketch"):
        pickle.dumps(buffer)


def test_a_handler_in_the_midst_of_a_flush():
    """It adds, and it flushes, which does nothing: all is there once, in the end."""
    sketch = CountMin(0.1)
    with sketch.buffered(most=4) as buffer:
        add_many = buffer._waiting._add_many

        def interrupted(items):
            buffer._waiting._add_many = add_many
            buffer.add("handler")
            buffer.flush()
            add_many(items)

        for _ in range(3):
            buffer.add("tea")
        buffer._waiting._add_many = interrupted
        buffer.flush()
        assert buffer.waiting == 1
    assert sketch.estimate_many(["tea", "handler"]) == [3, 1]


# the bound -----------------------------------------------------------------------------------------------------------


class BufferedCounts(SequentialModel[int]):
    """``add()``, ``close()`` and ``read()``: how often an item was added by threads with buffers."""

    name = "buffered counts"
    operations = {"add": 0, "close": 0, "read": 0}  # noqa: RUF012 -- a constant
    queries = frozenset({"read"})
    flushes = frozenset({"close"})

    def init(self):
        return 0

    def apply(self, state, call: Call):
        return (state if call.f == "read" else None), state + (call.f == "add")


class BufferedDifferent(SequentialModel[frozenset]):
    """``add(x)``, ``close()`` and ``estimate()``, as a HyperLogLog alone answers."""

    name = "buffered different items"
    operations = {"add": 1, "close": 0, "estimate": 0}  # noqa: RUF012 -- a constant
    queries = frozenset({"estimate"})
    flushes = frozenset({"close"})

    def init(self):
        return frozenset()

    def apply(self, state, call: Call):
        if call.f == "add":
            return None, state | {call.arguments[0]}
        if call.f == "close":
            return None, state
        sketch = HyperLogLog(0.26)
        sketch.add_many(sorted(state))
        return sketch.estimate(), state


class Recorder:
    """Operations of threads, with times at which they begin and end."""

    def __init__(self):
        self.operations, self._time, self._lock = [], 0, threading.Lock()

    def _now(self):
        with self._lock:
            self._time += 1
            return self._time

    def call(self, process, f, arguments, call):
        invoke = self._now()
        result = call()
        self.operations.append(Operation(process, f, arguments, result, invoke, self._now()))

    def verdict(self, model, relaxation):
        history = History("buffers", self.operations)
        return judge(history, model, criterion="intermediate-value", relaxation=relaxation).verdict


MOST = 5


@pytest.mark.parametrize("adders", [1, 3])
def test_estimates_of_a_recorded_run_miss_no_more_than_the_buffers_hold(adders):
    recorder, sketch = Recorder(), CountMin(0.01)

    def add(process):
        buffer = sketch.buffered(MOST)
        for _ in range(60):
            recorder.call(process, "add", (), lambda: buffer.add("tea"))
        recorder.call(process, "close", (), buffer.close)

    def read(process):
        for _ in range(60):
            recorder.call(process, "read", (), lambda: sketch.estimate("tea"))

    together(*[lambda p=p: add(p) for p in range(adders)], lambda: read(10), lambda: read(11))
    recorder.call(12, "read", (), lambda: sketch.estimate("tea"))
    assert recorder.operations[-1].result == 60 * adders
    assert recorder.verdict(BufferedCounts(), MOST) == "ok"


def test_answers_of_a_hyperloglog_with_buffers():
    recorder, sketch = Recorder(), HyperLogLog(0.26)

    def add(process):
        buffer = sketch.buffered(MOST)
        for item in range(process, 60, 2):
            recorder.call(process, "add", (item,), lambda item=item: buffer.add(item))
        recorder.call(process, "close", (), buffer.close)

    def read():
        for _ in range(20):
            recorder.call(10, "estimate", (), sketch.estimate)

    together(lambda: add(0), lambda: add(1), read)
    recorder.call(11, "estimate", (), sketch.estimate)
    assert recorder.verdict(BufferedDifferent(), MOST) == "ok"


def run_of_one(buffers=2):
    """A run in one thread, the same each time: buffers that are full, read, closed, and read again."""
    recorder, sketch = Recorder(), CountMin(0.01)
    opened = [sketch.buffered(MOST) for _ in range(buffers)]
    for _ in range(3 * MOST + 2):
        for process, buffer in enumerate(opened):
            recorder.call(process, "add", (), lambda b=buffer: b.add("tea"))
            recorder.call(9, "read", (), lambda: sketch.estimate("tea"))
    for process, buffer in enumerate(opened):
        recorder.call(process, "close", (), buffer.close)
    recorder.call(9, "read", (), lambda: sketch.estimate("tea"))
    return recorder


def test_the_bound_is_reached():
    """Two buffers of five: ten items are missing, so the bound is no more than what there is."""
    recorder = run_of_one()
    assert recorder.verdict(BufferedCounts(), MOST) == "ok"
    assert recorder.verdict(BufferedCounts(), MOST - 1) == "violation"
    added = missing = 0
    for operation in recorder.operations:
        added += operation.f == "add"
        missing = max(missing, added - operation.result if operation.f == "read" else 0)
    assert missing == 2 * MOST


def test_a_buffer_that_holds_one_item_more_is_caught(monkeypatch):
    monkeypatch.setattr(Buffer, "__init__", _with_one_more(Buffer.__init__))
    assert run_of_one().verdict(BufferedCounts(), MOST) == "violation"


def _with_one_more(right):
    def wrong(self, sketch, add_many, most):
        right(self, sketch, add_many, most)
        self._most += 1

    return wrong


def test_a_buffer_that_loses_its_items_when_it_is_closed_is_caught(monkeypatch):
    def wrong(self):
        self._finalizer.detach()

    monkeypatch.setattr(Buffer, "close", wrong)
    assert run_of_one().verdict(BufferedCounts(), MOST) == "violation"


def test_a_flush_that_adds_its_items_twice_is_caught(monkeypatch):
    right = Buffer._make_room

    def wrong(self):
        self._waiting._add_many(self._split(self._items)[0])
        right(self)

    monkeypatch.setattr(Buffer, "_make_room", wrong)
    assert run_of_one().verdict(BufferedCounts(), MOST) == "violation"
