"""Record calls as a history: of threads, of tasks on an event loop, of clients of a server.

A ticket counter is the clock: an operation takes a ticket before its call and another after it. `next` on an
`itertools.count` is atomic under the GIL, so an operation that seems to precede another one did precede it.

Arguments are copied before the first ticket and the result before the second one (`freezing`), so a change of either
by an operation that begins after the return is not seen.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.freezing import frozen
from latchfree_model import UNKNOWN


class Recording:
    """The call that a ``with recorder.call(...)`` block makes; store its result in `result`."""

    __slots__ = ("_dropped", "result")

    def __init__(self) -> None:
        self.result: object = UNKNOWN
        self._dropped = False

    def drop(self) -> None:
        """Leave the call out of the history: it certainly had no effect, and saw nothing.

        So it is of a request that was refused before it was sent. A request that timed out is not dropped: it may have
        taken effect; let the block end by an exception.
        """
        self._dropped = True

    @property
    def dropped(self) -> bool:
        """Whether the call is left out."""
        return self._dropped


class Recorder:
    """Records operations from any number of threads, or tasks.

    An exception inside the block makes the operation pending: it may have taken effect, or not. Since a pending
    operation never ends, the process goes on under a new name (``"0"`` becomes ``"0'1"``).

    Parameters
    ----------
    freeze : bool
        Whether arguments and results are copied, as they are at the call and at its return. Numbers, text and tuples
        of them are not copied, as they cannot change. If False, nothing is copied, and whoever changes a result
        after its return changes the history.

    Examples
    --------
    >>> recorder, m = Recorder(), {}
    >>> with recorder.call(0, "put", "k", 1) as c:
    ...     c.result = m.get("k"); m["k"] = 1
    >>> recorder.history("demo").operations[0].result is None
    True
    """

    def __init__(self, *, freeze: bool = True) -> None:
        self._freeze = freeze
        self._clock = itertools.count()
        self._operations: dict[int, Operation] = {}
        self._crashes: dict[int | str, int] = {}

    @contextmanager
    def call(self, process: int | str, f: str, *arguments: Hashable, object: str | None = None) -> Iterator[Recording]:
        """Record the operation that the block runs.

        Parameters
        ----------
        process : int or str
            Who calls; one thread or task at a time.
        f : str
            The operation's name in the model.
        *arguments
            Its arguments, hashable.
        object : str, optional
            Which object is called, when there are several.

        Raises
        ------
        latchfree_lincheck.history.freezing.CannotFreeze
            A TypeError: if an argument (nothing is recorded then) or the result (the operation stays pending) cannot
            be copied.
        """
        seen = Recording()
        crashes = self._crashes.get(process, 0)
        name = f"{process}'{crashes}" if crashes else process
        if self._freeze:
            given = frozen(arguments, f"the arguments of {f}")
            assert isinstance(given, tuple)
            arguments = given
        invoke = next(self._clock)
        self._operations[invoke] = Operation(name, f, arguments, UNKNOWN, invoke, None, object)
        try:
            yield seen
            result = frozen(seen.result, f"the result of {f} by process {name}") if self._freeze else seen.result
        except BaseException:
            if seen.dropped:
                del self._operations[invoke]
            else:
                self._crashes[process] = crashes + 1
            raise
        if seen.dropped:
            del self._operations[invoke]
            return
        returned = next(self._clock)
        self._operations[invoke] = Operation(name, f, arguments, result, invoke, returned, object)

    def history(self, name: str, model_hint: str | None = None) -> History:
        """Return what was recorded so far, in order of invocation; calls that still run are pending in it."""
        operations = dict(self._operations)
        return History(name, [operations[invoke] for invoke in sorted(operations)], model_hint)
