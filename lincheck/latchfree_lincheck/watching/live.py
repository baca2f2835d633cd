"""Calls of threads and tasks as events, in the order in which they happen."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from latchfree_lincheck.history.freezing import frozen
from latchfree_lincheck.history.recorder import Recording
from latchfree_lincheck.watching.events import Event


class LiveCalls(ABC):
    """Takes the events of calls, one at a time: a lock makes their order the order of real time."""

    def __init__(self) -> None:
        self._lock = threading.RLock()

    @abstractmethod
    def feed(self, event: Event) -> None:
        """Take the next event."""

    @contextmanager
    def call(self, process: int | str, f: str, *arguments: Hashable, object: str | None = None) -> Iterator[Recording]:
        """Take the events of the operation that the block runs; see `latchfree_lincheck.Recorder.call`.

        An exception inside the block is the event ``info``, and `drop` is ``fail``.
        """
        seen = Recording()
        given = frozen(arguments, f"the arguments of {f}")
        assert isinstance(given, tuple)
        self.feed(Event("invoke", process, f, given, object=object))
        try:
            yield seen
            result = frozen(seen.result, f"the result of {f} by process {process}")
        except BaseException:
            self.feed(Event("fail" if seen.dropped else "info", process))
            raise
        self.feed(Event("fail", process) if seen.dropped else Event("ok", process, result=result))
