"""Record calls of plain Python threads as a history.

A ticket counter is the clock: an operation takes a ticket before its call and another after it. `next` on an
`itertools.count` is atomic under the GIL, so an operation that seems to precede another one did precede it.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN


class Recording:
    """The call that a ``with recorder.call(...)`` block makes; store its result in `result`."""

    __slots__ = ("result",)

    def __init__(self) -> None:
        self.result: object = UNKNOWN


class Recorder:
    """Records operations from any number of threads.

    An exception inside the block makes the operation pending: it may have taken effect, or not. Since a pending
    operation never ends, the thread goes on under a new process name (``"0"`` becomes ``"0'1"``).

    Examples
    --------
    >>> recorder, m = Recorder(), {}
    >>> with recorder.call(0, "put", "k", 1) as c:
    ...     c.result = m.get("k"); m["k"] = 1
    >>> recorder.history("demo").operations[0].result is None
    True
    """

    def __init__(self) -> None:
        self._clock = itertools.count()
        self._operations: dict[int, Operation] = {}
        self._crashes: dict[int | str, int] = {}

    @contextmanager
    def call(self, process: int | str, f: str, *arguments: Hashable, object: str | None = None) -> Iterator[Recording]:
        """Record the operation that the block runs.

        Parameters
        ----------
        process : int or str
            Who calls; one thread at a time.
        f : str
            The operation's name in the model.
        *arguments
            Its arguments, hashable.
        object : str, optional
            Which object is called, when there are several.
        """
        seen = Recording()
        crashes = self._crashes.get(process, 0)
        name = f"{process}'{crashes}" if crashes else process
        invoke = next(self._clock)
        self._operations[invoke] = Operation(name, f, arguments, UNKNOWN, invoke, None, object)
        try:
            yield seen
        except BaseException:
            self._crashes[process] = crashes + 1
            raise
        returned = next(self._clock)
        self._operations[invoke] = Operation(name, f, arguments, seen.result, invoke, returned, object)

    def history(self, name: str, model_hint: str | None = None) -> History:
        """Return what was recorded so far, in order of invocation; calls that still run are pending in it."""
        operations = dict(self._operations)
        return History(name, [operations[invoke] for invoke in sorted(operations)], model_hint)
