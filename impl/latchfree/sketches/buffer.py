"""`Buffer`: items of one thread that wait, so that many are added in one call.

Example: a thread adds 1,000 strings one by one through a buffer of 256. The first 256 wait; the next one has them added
together, and waits itself. After `close` nothing waits.

Invariant: an item that `add` has taken waits or is in the sketch, and at most `most` items wait. So an answer of the
sketch misses at most the last `most` items of each open buffer.

Only the thread that made a buffer adds to it, or the bound would depend on the number of threads. Anybody may flush:
a flush takes the first items of the list that waits, and removes so many when they are in the sketch; adding appends.
Each of these is one step under the interpreter lock. Flushes come one after the other, by a lock; in a handler that
interrupts a flush of its own thread, `flush` does nothing.

Source: A. Rinberg and others, "Fast Concurrent Data Sketches" (2020).
"""

from __future__ import annotations

import atexit
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from threading import get_ident
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import numpy as np

from latchfree.arena.forking import in_child
from latchfree.arguments import whole
from latchfree.errors import LatchfreeError, MadeBeforeFork
from latchfree.sketches.common.items import CHUNK
from latchfree.sketches.common.numbers import WHOLE, number_of
from latchfree.sketches.sketch import Sketch

T = TypeVar("T")

#: No thread has these numbers: every add goes the long way, on which it is refused.
_NOBODY: Final = -1
_PARENTS: Final = -2
#: Seconds that the end of the interpreter waits for a flush of a thread that still runs.
_PATIENCE: Final = 2.0


class _Waiting:
    """What waits for a sketch, and how it gets there; a buffer that is dropped leaves this behind to be flushed.

    Attributes
    ----------
    items : list
        In the order in which they came.
    """

    __slots__ = ("_add_many", "_flushing", "_lock", "_split", "items")

    def __init__(self, add_many: Callable[[Any], None], split: Callable[[list[Any]], tuple[Any, list[Any]]]) -> None:
        self._add_many, self._split = add_many, split
        self._lock, self._flushing = threading.RLock(), False
        self.items: list[Any] = []

    def flush(self, patience: float = -1) -> None:
        """Add all that waits now; what is added to the list meanwhile stays there."""
        if not self._lock.acquire(timeout=patience):
            return
        try:
            if self._flushing:
                return  # in a handler, in the midst of a flush
            self._flushing = True
            try:
                self._flush(len(self.items))
            finally:
                self._flushing = False
        finally:
            self._lock.release()

    def _flush(self, count: int) -> None:
        items = self.items
        while count:
            first, rest = self._split(items[:count])
            self._add_many(first)
            items[:count] = rest
            count = len(rest)

    def flush_late(self, patience: float = -1) -> None:
        """Add all that waits, if the sketch is still there; there is nobody to tell that it is not."""
        with suppress(LatchfreeError):
            self.flush(patience)


class Buffer(ABC, Generic[T]):
    """Items of one thread on their way to a sketch; made by `buffered` of the sketch.

    Parameters
    ----------
    sketch : Sketch
        Where items are added.
    add_many : callable
        Adds what `_split` returns.
    most : int
        How many items wait at most.

    Notes
    -----
    Items wait until there is no room, until `flush` or `close`, until the ``with`` block ends, until nobody has the
    buffer any more, or until the interpreter ends. A process that is killed loses them.
    """

    __slots__ = ("__weakref__", "_finalizer", "_ident", "_items", "_most", "_sketch", "_waiting")

    def __init__(self, sketch: Sketch, add_many: Callable[[Any], None], most: int) -> None:
        self._most = whole(most, "most", 1, CHUNK)
        self._sketch = sketch
        self._waiting = _Waiting(add_many, self._split)
        self._items: list[Any] = self._waiting.items
        self._ident = get_ident()
        self._finalizer = weakref.finalize(self, self._waiting.flush_late)
        self._finalizer.atexit = False
        _open.add(self)

    @staticmethod
    @abstractmethod
    def _split(items: list[Any]) -> tuple[Any, list[Any]]:
        """Return some of the items, in the form in which they are added, and the others."""

    @abstractmethod
    def add(self, item: T) -> None:
        """Take an item; if there is no room, add what waits to the sketch before."""

    def _make_room(self) -> None:
        """Make room for one item more; called where there seems to be none, or by another thread.

        Raises
        ------
        MadeBeforeFork, RuntimeError, ValueError
            If the buffer is the parent's, or another thread's, or closed.
        """
        if self._ident != get_ident():
            self._refuse()
        if len(self._items) >= self._most:
            self._waiting.flush()

    def _refuse(self) -> None:
        if self._ident == _PARENTS:
            raise MadeBeforeFork(
                "this buffer was made before the fork, and what waits in it is the parent's; make another one with "
                "buffered()"
            )
        if self.closed:
            raise ValueError("this buffer is closed; make another one with buffered()")
        raise RuntimeError("another thread adds to this buffer; make one in each thread with buffered()")

    def flush(self) -> None:
        """Add all that waits to the sketch; any thread may ask for it.

        Raises
        ------
        ArenaClosed, SketchGone
            After its arena was closed, or the sketch was unlinked; the items go on waiting.
        ValueError, MadeBeforeFork
            If the buffer is closed, or was made before a fork.
        """
        if self.closed:
            self._refuse()
        self._waiting.flush()

    def close(self) -> None:
        """Add all that waits to the sketch, and take nothing more; a second time it does nothing.

        Raises
        ------
        ArenaClosed, SketchGone
            After its arena was closed, or the sketch was unlinked; the items are lost then, with the sketch.
        """
        if self._finalizer.detach() is not None:
            self._ident = _NOBODY
            self._waiting.flush()

    @property
    def waiting(self) -> int:
        """How many items wait."""
        return len(self._items)

    @property
    def most(self) -> int:
        """How many items wait at most."""
        return self._most

    @property
    def sketch(self) -> Sketch:
        """Where items are added."""
        return self._sketch

    @property
    def closed(self) -> bool:
        """Whether nothing more is taken."""
        return not self._finalizer.alive

    def _leave(self) -> None:
        """Forget what waits, in a forked child: the parent adds it."""
        if self._finalizer.detach() is not None:
            self._ident = _PARENTS
            self._items = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a buffer stays in its thread; send the sketch, and make another buffer there")

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.waiting:,} of {self._most:,} items waiting"
        return f"<{type(self).__name__} of {self._sketch!r}, {state}>"


class NumberBuffer(Buffer[float]):
    """A buffer of numbers, for `latchfree.sketches.kll.KLL`."""

    __slots__ = ()

    @staticmethod
    def _split(items: list[Any]) -> tuple[Any, list[Any]]:
        return np.array(items, np.float64), []

    def add(self, item: float) -> None:
        """Take a number; if there is no room, add what waits to the sketch before. Raises as `ItemBuffer.add`."""
        # An integer that is a float becomes one with the others, in the array of a flush.
        if (type(item) is not float or item != item) and (type(item) is not int or not -WHOLE <= item <= WHOLE):
            item = number_of(item)
        items = self._items
        if len(items) >= self._most or get_ident() != self._ident:
            self._make_room()
        items.append(item)


_open: weakref.WeakSet[Buffer[Any]] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for buffer in list(_open):
        buffer._leave()


def _at_exit() -> None:
    """Flush what is open; arenas are closed after this."""
    for buffer in list(_open):
        if not buffer.closed:
            buffer._waiting.flush_late(_PATIENCE)


in_child(_after_fork_in_child)
atexit.register(_at_exit)
