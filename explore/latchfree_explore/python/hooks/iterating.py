"""Iteration: every item of a container is an access."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run, too_late
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.hooks.announce import advance, enter, touch
from latchfree_explore.python.hooks.generators import resume
from latchfree_explore.python.hooks.state import told
from latchfree_explore.python.library.twins import twin


class Items:
    """The items of a value one by one, each an access: the iterator is made at once, as ``iter(value)`` would.

    Where nobody has come in between, the first item belongs to the step in which the iterator was made.

    Parameters
    ----------
    run : Run
    value : iterable
    line : int
    jumps : bool
        Whether a loop takes the items, which polls at its jump back, and not a function in C.
    """

    def __init__(self, run: Run, value: Any, line: int, jumps: bool = True) -> None:
        self._run, self._line, self._jumps = run, line, jumps
        self._begun = False
        self._behind = list(effects.behind(value))
        self._asked: tuple[str, Any] = ("", None)
        if not self._behind:
            for operation in ("__next__", "__iter__"):
                if whole.is_foreign(run, value, operation):
                    self._asked = operation, value
                    break
        self._keys_only = value if isinstance(value, dict) else None
        self._value = value
        self._step: Any = None
        if self._behind or self._asked[0]:
            self._announce()
            self._step = run.step
            self._iterator: Iterator[Any] = iter(value)
        else:
            self._iterator = iter(value)  # a method of the program, which tells what it does
            self._behind = list(effects.behind(self._iterator))

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        run = self._run
        if CONTROL.run is not run:
            if CONTROL.ending:
                too_late()
            return next(self._iterator)
        if self._begun and self._jumps:
            run.poll()
        self._begun = True
        if self._step is not run.step or run.current is None or run.current.polled:
            self._announce()
        self._step = None
        return twin(resume(run, self._iterator, self._line, self._iterator.__next__))

    def __length_hint__(self) -> int:
        """Ask the value, as `list` and `tuple` do before they take the items."""
        return operator.length_hint(self._value)

    def send(self, value: Any) -> Any:
        """Send to a generator, as ``yield from`` does."""
        generator: Any = self._iterator
        return generator.send(value)

    def throw(self, *error: Any) -> Any:
        """Throw into a generator; past any other iterator."""
        generator: Any = self._iterator
        if hasattr(generator, "throw"):
            return generator.throw(*error)
        raise error[1] if len(error) > 1 and isinstance(error[1], BaseException) else error[0]

    def close(self) -> None:
        """End a generator."""
        generator: Any = self._iterator
        if hasattr(generator, "close"):
            generator.close()

    def _announce(self) -> None:
        run, line = self._run, self._line
        operation, asked = self._asked
        if operation:
            enter(run, asked, operation)
        if operation or self._behind:
            run.at(line)
        if operation == "__next__":
            whole.change(run, asked)
        elif operation:
            whole.read(run, asked)
        advance(run, self._value)
        for container in self._behind:
            touch(run, container, effects.SHAPE if container is self._keys_only else effects.READS)
            if run.telling:
                told(run, line, f"next item of {called(run.roots, container)}")
