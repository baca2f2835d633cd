"""Numbers for objects that are the same in every run that begins alike.

A sleep set holds the accesses of one run and is used in another one, where the same objects have other addresses. What
is reachable before the threads start is numbered by a walk; what a thread makes, by the thread and how many objects it
had made. Any other object is numbered by the thread that touches the object first, and the step says so
(`Step.named`).
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

MOST_REACHED: Final = 20_000
_PER_THREAD: Final = 1 << 24
_LEAVES: Final = (int, float, complex, str, bytes, bool, type, type(None), types.ModuleType, types.BuiltinFunctionType)


def parts_of(value: Any) -> Iterator[Any]:
    """Yield what an object holds, in an order that is the same in every run."""
    if isinstance(value, types.FunctionType):
        yield from value.__closure__ or ()
        for name in value.__code__.co_names:
            if name in value.__globals__:
                yield value.__globals__[name]
        return
    if isinstance(value, types.CellType):
        try:
            yield value.cell_contents
        except ValueError:
            return
        return
    if isinstance(value, types.MethodType):
        yield value.__self__
        yield value.__func__
        return
    if isinstance(value, functools.partial):
        yield value.func
        yield value.args
        yield value.keywords
        return
    if isinstance(value, dict):
        yield from list(dict.values(value))
    elif isinstance(value, list | tuple | deque):
        yield from list(value)
    yield from list(getattr(value, "__dict__", {}).values())
    for cls in type(value).__mro__:
        for member in vars(cls).values():
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield member.__get__(value, type(value))
                except AttributeError:
                    continue


def reachable(roots: list[Any]) -> list[Any]:
    """Return the objects that some objects reach, nearest first, `MOST_REACHED` at most; no numbers, no text."""
    seen: set[int] = set()
    found: list[Any] = []
    waiting = deque(roots)
    while waiting and len(found) < MOST_REACHED:
        value = waiting.popleft()
        if isinstance(value, _LEAVES) or id(value) in seen:
            continue
        seen.add(id(value))
        found.append(value)
        waiting.extend(parts_of(value))
    return found


class Names:
    """The numbers of the objects of one run; the objects stay alive as long as their numbers."""

    def __init__(self, roots: list[Any]) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[Any] = []
        self._counts: dict[int, int] = {}
        self._born: set[int] = set()
        for value in reachable(roots):
            self._number(value, -1)

    def _number(self, value: Any, thread: int) -> int:
        count = self._counts[thread] = self._counts.get(thread, 0) + 1
        number = self._numbers[id(value)] = (thread + 2) * _PER_THREAD + count
        self._kept.append(value)
        return number

    def born(self, value: Any, thread: int) -> None:
        """Give a number to an object that a thread has just made."""
        if id(value) not in self._numbers:
            self._number(value, thread)
            self._born.add(id(value))

    def is_born(self, value: Any) -> bool:
        """Return whether the run has made an object."""
        return id(value) in self._born

    def of(self, value: Any, thread: int, first_touch: Callable[[], None]) -> int:
        """Return an object's number; call `first_touch` if a thread has to give one now."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._number(value, thread)
            first_touch()
        return number
