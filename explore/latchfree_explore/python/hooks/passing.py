"""Hooks of generators that hand on: ``yield from``, and generator expressions, which ask for an iterator at once."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.hooks import effects, whole
from latchfree_explore.python.hooks.announce import touch
from latchfree_explore.python.hooks.generators import resume
from latchfree_explore.python.hooks.items import each
from latchfree_explore.python.hooks.state import told
from latchfree_explore.python.library.twins import twin

_FIXED: Final = (str, bytes, tuple, frozenset, range)


class _Begun:
    """An iterator that somebody has asked for before: it is the program's, as what gives it is."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> Any:
        return self._iterator


def begun(value: Any, line: int) -> Any:
    """Ask for an iterator whose items come later: of a container that notes its length, that is an access."""
    run = CONTROL.run
    if run is None or isinstance(value, _FIXED) or hasattr(type(value), "__next__"):
        return each(value, line)
    behind = list(effects.behind(value))
    if not behind and _is_foreign(run, value):
        return each(value, line)
    for container in behind:
        if not isinstance(container, list | bytearray):
            run.at(line)
            touch(run, container, effects.SHAPE)
            if run.telling:
                told(run, line, f"iterate over {called(run.roots, container)}")
    return each(_Begun(iter(value)), line)


def delegated(value: Any, line: int) -> Any:
    """Hand on the items of a value; what is sent or thrown goes to an iterator that takes it."""
    run = CONTROL.run
    if run is None or isinstance(value, (types.CoroutineType, *_FIXED)):
        return value
    if _is_looked_into(run, value):
        return Items(each(value, line))
    iterator = iter(value)
    if any(hasattr(iterator, name) for name in ("send", "throw", "close")):
        return Delegate(iterator, line)
    return Items(each(_Begun(iterator), line) if _is_looked_into(run, iterator) else iterator)


def _is_looked_into(run: Run, value: Any) -> bool:
    """Return whether the items are those of a container, or of an object whose code is not rewritten."""
    return next(effects.behind(value), None) is not None or _is_foreign(run, value)


def _is_foreign(run: Run, value: Any) -> bool:
    return whole.is_foreign(run, value, "__iter__") or whole.is_foreign(run, value, "__next__")


class Items:
    """An iterator to which a generator hands on, and which takes nothing."""

    __slots__ = ("_iterator",)

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> Items:
        return self

    def __next__(self) -> Any:
        return twin(next(self._iterator))


class Delegate:
    """An iterator to which a generator hands on what it is sent, too: each resumption may be a step."""

    __slots__ = ("_iterator", "_line")

    def __init__(self, iterator: Any, line: int) -> None:
        self._iterator = iterator
        self._line = line

    def _resume(self, how: Callable[[], Any]) -> Any:
        run = CONTROL.run
        return how() if run is None else twin(resume(run, self._iterator, self._line, how))

    def __iter__(self) -> Delegate:
        return self

    def __next__(self) -> Any:
        return self._resume(self._iterator.__next__)

    def send(self, value: Any) -> Any:
        """Send a value."""
        return self._resume(lambda: self._iterator.send(value))

    def throw(self, error: BaseException, *others: Any) -> Any:
        """Throw an exception, which an iterator that cannot take it leaves to the generator."""
        take = getattr(self._iterator, "throw", None)
        if take is None:
            raise error
        return self._resume(lambda: take(error, *others))

    def close(self) -> None:
        """Close the iterator, if it can be; somebody may just have let go of the generator, so that is no step."""
        close = getattr(self._iterator, "close", None)
        if close is not None:
            close()
