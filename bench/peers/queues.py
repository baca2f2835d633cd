"""Queues that threads or processes share: the ring, and what people use instead.

Example: within ``with KINDS["ring"].opened(False) as queue`` there is an empty queue of 1,024 values, for threads.
``queue.put(7)`` and ``queue.get()`` wait, for room and for a value. ``put_many`` and ``get_many`` of the kind are calls
for many values: the first puts all, the second takes at least one.
"""

from __future__ import annotations

import contextlib
import itertools
import multiprocessing
import os
import queue
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from latchfree import Arena, RingBuffer

CAPACITY = 1024
#: A forked child has the queues of its parent, also those that no pickle carries.
CONTEXT = multiprocessing.get_context("fork")

_number = itertools.count()


@dataclass(frozen=True)
class Kind:
    """A queue under test.

    Attributes
    ----------
    title : str
        In tables.
    opened : callable
        Returns a context manager that gives an empty one, for threads or for processes too: ``opened(True)``.
    processes : bool
        Whether processes can share it.
    put_many, get_many : callable, optional
        Of many values in one call, if it has such calls: ``put_many(queue, values)``, ``get_many(queue, most)``.
    prepared : callable
        Makes of a list of integers what `put_many` takes: an array, where the queue is one of arrays.
    """

    title: str
    opened: Callable[[bool], AbstractContextManager[Any]]
    processes: bool
    put_many: Callable[[Any, Any], object] | None = None
    get_many: Callable[[Any, int], Any] | None = None
    prepared: Callable[[Sequence[int]], Any] = list


def _threads_only(make: Callable[[], Any]) -> Callable[[bool], AbstractContextManager[Any]]:
    return lambda _: contextlib.nullcontext(make())


@contextlib.contextmanager
def _ring(processes: bool) -> Iterator[RingBuffer]:
    if not processes:
        yield RingBuffer(CAPACITY)
        return
    with Arena.create(name=f"bench-rings-{os.getpid()}-{next(_number)}", capacity=8 << 20) as arena:
        try:
            with RingBuffer(CAPACITY, arena=arena) as ring:
                yield ring
        finally:
            arena.unlink()


@contextlib.contextmanager
def _process_queue(_: bool) -> Iterator[Any]:
    made = CONTEXT.Queue(CAPACITY)
    yield made
    made.close()
    made.join_thread()


@contextlib.contextmanager
def _fast_fifo(_: bool) -> Iterator[Any]:
    import faster_fifo  # a peer, which need not be installed

    made = faster_fifo.Queue(max_size_bytes=1 << 20, maxsize=CAPACITY)
    yield made
    made.close()


def _put_fast(fifo: Any, values: Sequence[int]) -> None:
    # Its calls take all values or none, so they wait until half of a full queue has been taken.
    fifo.put_many(values, timeout=60.0)


def _get_fast(fifo: Any, most: int) -> Any:
    return fifo.get_many(timeout=60.0, max_messages_to_get=most)


def _put_list(ring: RingBuffer, values: Sequence[int]) -> None:
    ring.put_many(values, timeout=None)


def _get_list(ring: RingBuffer, most: int) -> list[int]:
    return ring.get_many(most, timeout=None).tolist()


def _get_array(ring: RingBuffer, most: int) -> Any:
    return ring.get_many(most, timeout=None)


def _array(values: Sequence[int]) -> Any:
    return np.array(values, dtype=np.int64)


KINDS = {
    "ring": Kind("RingBuffer", _ring, True, _put_list, _get_list),
    "ring-arrays": Kind("RingBuffer, arrays", _ring, True, _put_list, _get_array, _array),
    "SimpleQueue": Kind("SimpleQueue", _threads_only(queue.SimpleQueue), False),
    "Queue": Kind("queue.Queue", _threads_only(lambda: queue.Queue(CAPACITY)), False),
    "multiprocessing": Kind("multiprocessing.Queue", _process_queue, True),
    "faster-fifo": Kind("faster-fifo", _fast_fifo, True, _put_fast, _get_fast),
}
