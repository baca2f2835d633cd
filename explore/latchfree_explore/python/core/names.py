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
from typing import Any, Final, TypeAlias

MOST_REACHED: Final = 20_000
HOOK: Final = "_lf_"
"""What the names of hooks begin with, in rewritten code: what the hooks themselves hold is no part of the program."""
_OURS: Final = "latchfree_explore."
_PER_THREAD: Final = 1 << 24
_RUNNERS: Final = ("_pytest", "pluggy")
"""Packages whose objects are no part of a program that holds them: a fixture of pytest reaches the whole session."""
_LEAVES: Final = (int, float, complex, str, bytes, bool, type, type(None), types.ModuleType, types.BuiltinFunctionType)

Parts: TypeAlias = Callable[[Any], Iterator[Any]]


_ITEMS: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (dict, dict.values),
    (list, list.__iter__),
    (tuple, tuple.__iter__),
    (deque, deque.__iter__),
    (set, set.__iter__),
    (frozenset, frozenset.__iter__),
)


def items_of(value: Any) -> list[Any]:
    """Return what a container holds; no code of a class on top of it runs."""
    for kind, items in _ITEMS:
        if isinstance(value, kind):
            return list(items(value))
    return []


def _of_function(value: Any) -> Iterator[Any]:
    yield from value.__closure__ or ()
    variables = value.__globals__
    if (variables.get("__name__") or "").startswith(_OURS):
        return
    for name in value.__code__.co_names:
        if name in variables and not name.startswith(HOOK):
            yield variables[name]


def _of_cell(value: Any) -> Iterator[Any]:
    try:
        yield value.cell_contents
    except ValueError:
        return


def _of_method(value: Any) -> Iterator[Any]:
    yield value.__self__
    yield value.__func__


def _of_partial(value: Any) -> Iterator[Any]:
    yield value.func
    yield value.args
    yield value.keywords


_WHOLE: Final[tuple[tuple[type, Parts], ...]] = (
    (types.FunctionType, _of_function),
    (types.CellType, _of_cell),
    (types.MethodType, _of_method),
    (functools.partial, _of_partial),
)
_KNOWN: Final[dict[type, Parts | None]] = {}


def _parts(kind: type) -> Parts | None:
    """Return a function that yields what an object of a kind holds, in the same order in every run; None for a leaf.

    The members of a class are looked up once, as objects of the same few kinds are walked before every schedule.
    """
    if issubclass(kind, _LEAVES) or str(kind.__module__).partition(".")[0] in _RUNNERS:
        return None
    for whole, parts in _WHOLE:
        if issubclass(kind, whole):
            return parts
    slots = [
        member
        for cls in kind.__mro__
        for member in vars(cls).values()
        if isinstance(member, types.MemberDescriptorType)
    ]
    holds = issubclass(kind, dict | list | tuple | deque)
    has_namespace = kind.__dictoffset__ != 0

    def parts_of(value: Any) -> Iterator[Any]:
        if holds:
            yield from items_of(value)
        if has_namespace:
            yield from list(getattr(value, "__dict__", {}).values())
        for member in slots:
            try:
                yield member.__get__(value, kind)
            except AttributeError:
                continue

    return parts_of


def forget_kinds() -> None:
    """Let go of the classes that were looked up."""
    _KNOWN.clear()


def reachable(roots: list[Any]) -> list[Any]:
    """Return the objects that some objects reach, nearest first, `MOST_REACHED` at most; no numbers, no text."""
    seen: set[int] = set()
    found: list[Any] = []
    waiting = deque(roots)
    while waiting and len(found) < MOST_REACHED:
        value = waiting.popleft()
        kind = type(value)
        parts = _KNOWN[kind] if kind in _KNOWN else _KNOWN.setdefault(kind, _parts(kind))
        if parts is None or id(value) in seen:
            continue
        seen.add(id(value))
        found.append(value)
        waiting.extend(parts(value))
    return found


class Names:
    """The numbers of the objects of one run; the objects stay alive as long as their numbers.

    Attributes
    ----------
    numbers : dict
        The number of each object, by address.
    """

    def __init__(self, roots: list[Any]) -> None:
        self._kept = reachable(roots)
        self.numbers = {id(value): _PER_THREAD + at for at, value in enumerate(self._kept, 1)}
        self._counts: dict[int, int] = {}
        self._born: set[int] = set()
        self._fresh: set[int] = set()

    def _number(self, value: Any, thread: int) -> int:
        count = self._counts[thread] = self._counts.get(thread, 0) + 1
        number = self.numbers[id(value)] = (thread + 2) * _PER_THREAD + count
        self._kept.append(value)
        return number

    def born(self, value: Any, thread: int) -> None:
        """Give a number to an object that a thread has just made."""
        if id(value) not in self.numbers:
            self._born.add(self._number(value, thread))

    def is_born(self, value: Any) -> bool:
        """Return whether the run has made an object."""
        return self.numbers.get(id(value)) in self._born

    def fresh(self, value: Any, thread: int) -> None:
        """Note that a thread has made an iterator which takes from no older one."""
        self.born(value, thread)
        self._fresh.add(self.numbers[id(value)])

    def is_fresh(self, value: Any) -> bool:
        """Return whether a run has made an iterator which takes from no older one."""
        return self.numbers.get(id(value)) in self._fresh

    def made_by(self, thread: int) -> int:
        """Return the number of the object that a thread has made, or touched first, last."""
        return (thread + 2) * _PER_THREAD + self._counts.get(thread, 0)

    def is_made_since(self, number: int, last: int) -> bool:
        """Return whether an object was made by the thread to which `made_by` gave a number, and later than that."""
        return last < number < (last // _PER_THREAD + 1) * _PER_THREAD and number in self._born

    def of(self, value: Any, thread: int, first_touch: Callable[[], None]) -> int:
        """Return an object's number; call `first_touch` if a thread has to give one now."""
        number = self.numbers.get(id(value))
        if number is None:
            number = self._number(value, thread)
            first_touch()
        return number
