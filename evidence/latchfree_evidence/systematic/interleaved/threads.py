"""Threads of a scenario as generators, which stop before each access: whoever runs them decides who goes on.

Example: thread 0 stands before ``load(17)`` and thread 1 before ``cas(17, 5, 6)``. Running thread 1 makes its access,
and takes it to its next one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final

from latchfree_evidence.systematic.plain.words import ACCESSES

#: Accesses that change nothing.
#: A result of which the model knows nothing; the operation is left out of the history.
SILENT: Final = "silent"
#: Steps after which an operation that runs alone counts as endless.
_ALONE: Final = 50_000
_READS: Final = frozenset(("load", "load_seq", "load_unsure", "fence", "pause"))


class Call:
    """One operation of a scenario.

    Parameters
    ----------
    f : str
    arguments : tuple
    start : callable
        Begins it: returns a generator, or its result if it makes no step.
    convert : callable
        Turns the word that it returns into what the model expects.
    process : str
        Who calls it.
    """

    def __init__(
        self,
        f: str,
        arguments: tuple[int, ...],
        start: Callable[[], Any],
        convert: Callable[[int], Hashable],
        process: str,
    ) -> None:
        self.f, self.arguments, self.process = f, arguments, process
        self.start, self.convert = start, convert
        self.invoked: int | None = None
        self.returned: int | None = None
        self.result: Hashable = None


class Thread:
    """A thread, before its next access.

    Parameters
    ----------
    calls : sequence of Call

    Attributes
    ----------
    access : tuple or None
        What it does next: kind, memory, offset and operands. None when it has ended.
    asleep : bool
        Whether it has paused, and nobody has written since.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self._calls = iter(calls)
        self.call: Call | None = None
        self._steps: Iterator[Any] | None = None
        self.access: tuple[Any, ...] | None = None
        self.asleep = False
        self._news = False

    def wake(self) -> None:
        """Note that another thread has written."""
        self.asleep, self._news = False, True

    def begin(self, now: int) -> None:
        """Go to the first access."""
        self._next_call(now)

    def _next_call(self, now: int) -> None:
        for call in self._calls:
            self.call = call
            started = call.start()
            if hasattr(started, "send"):
                self._steps = started
                if self._advance(None, now):
                    return
            else:
                self._end(started, now)
        self.access = self.call = None

    def _advance(self, value: Any, now: int) -> bool:
        """Go on with the result of an access; return whether the operation has another access."""
        assert self._steps is not None
        try:
            self.access = self._steps.send(value)  # type: ignore[attr-defined]
        except StopIteration as end:
            self._end(end.value, now)
            return False
        return True

    def _end(self, result: Any, now: int) -> None:
        call = self.call
        assert call is not None
        if call.invoked is None:
            call.invoked = now
        call.returned = now
        call.result = call.convert(0 if result is None else int(result))

    @property
    def begins(self) -> bool:
        """Whether the next access is the first of an operation."""
        return self.call is not None and self.call.invoked is None

    def step(self, now: int) -> bool:
        """Make the access, and go to the next; return whether it may have changed something."""
        assert self.access is not None
        assert self.call is not None
        kind, *arguments = self.access
        if self.call.invoked is None:
            self.call.invoked = now
        value = ACCESSES[kind](*arguments)
        if kind == "pause":  # what was written since the last pause may be what it waits for
            self.asleep, self._news = not self._news, False
        if not self._advance(value, now):
            self._next_call(now + 1)
        return kind not in _READS


def alone(started: Any) -> Any:
    """Run an operation without anybody else; return its result."""
    if not hasattr(started, "send"):
        return started
    value = None
    try:
        for _ in range(_ALONE):
            kind, *arguments = started.send(value)
            value = ACCESSES[kind](*arguments)
    except StopIteration as end:
        return end.value
    raise AssertionError("endless: an operation alone does not end")
