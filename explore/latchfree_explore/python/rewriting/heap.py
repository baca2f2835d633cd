"""What the process holds, as the garbage collector knows it: functions, classes, caches of calls, locks of asyncio.

To look at everything takes longer than the schedules of a small program. But the collector keeps what is young apart,
and what is no longer young never is again. So a mark is made before everything is looked at: while the mark is young,
all that was made since is young, too, and only that is looked at. What was found before is held weakly.

A server freezes what it holds before it forks, and the collector no longer lists it. So what is frozen is thawed,
looked at, and frozen again with all else that is there. A second mark is made then: while nobody has frozen that mark,
nobody has frozen anything since, and only what is not frozen is looked at.
"""

from __future__ import annotations

import asyncio
import gc
import operator
import types
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple, TypeVar
from weakref import ref

from latchfree_explore.python.hooks.caches import LRU

_OF_ASYNCIO: Final = (
    asyncio.Lock, asyncio.Event, asyncio.Condition, asyncio.Semaphore, asyncio.Queue, asyncio.Barrier,
)  # fmt: skip

_CALL: Final[Any] = operator.call

Each = TypeVar("Each")


class Found(NamedTuple):
    """What there is.

    Attributes
    ----------
    functions : list of function
    classes : list of type
    caches : list of LRU
        Functions whose results `functools.lru_cache` keeps.
    of_asyncio : list of object
        Locks, queues and the like.
    """

    functions: list[types.FunctionType]
    classes: list[type]
    caches: list[Any]
    of_asyncio: list[Any]


class _Known:
    """What was found among some objects, held weakly."""

    def __init__(self, objects: list[Any]) -> None:
        found = _sorted(objects)
        #: By the address of their namespace.
        self.functions: dict[int, list[ref[types.FunctionType]]] = defaultdict(list)
        for each in found.functions:
            self.functions[id(each.__globals__)].append(ref(each))
        self.classes = list(map(ref, found.classes))
        self.caches = list(map(ref, found.caches))
        self.of_asyncio = list(map(ref, found.of_asyncio))


class Heap:
    """What was found by the last looks at what is frozen and at the rest; `look` adds what is young."""

    def __init__(self) -> None:
        self._mark: list[Any] | None = None  # made before the last look at what is not frozen
        self._thawed: list[Any] | None = None  # made after the last look at what is frozen
        self._frozen, self._rest = _Known([]), _Known([])

    def look(self, spaces: Collection[int] = ()) -> Found:
        """Return what there is now; of the functions, those of some namespaces.

        Parameters
        ----------
        spaces : collection of int
            The addresses of the namespaces, all of them alive.
        """
        young = None if self._mark is None else _young(self._mark)
        if young is None:
            self._look_again()
        found = _sorted(young or [])
        known = (self._frozen, self._rest)
        of_spaces = [each for part in known for space in spaces for each in part.functions.get(space, ())]
        return Found(
            _joined([each for each in found.functions if id(each.__globals__) in spaces], of_spaces),
            _joined(found.classes, [each for part in known for each in part.classes]),
            _joined(found.caches, [each for part in known for each in part.caches]),
            _joined(found.of_asyncio, [each for part in known for each in part.of_asyncio]),
        )

    def _look_again(self) -> None:
        self._mark = []
        objects = self._all_since_the_freeze()
        if objects is not None:
            self._rest = _Known(objects)
            return
        gc.collect()  # garbage that is frozen is never freed
        # In one instruction: other threads make nothing between the look and the mark.
        _, objects, _, mark = map(_CALL, (gc.unfreeze, gc.get_objects, gc.freeze, list))
        self._mark = self._thawed = mark
        self._frozen, self._rest = _Known(objects), _Known([])

    def _all_since_the_freeze(self) -> list[Any] | None:
        """Return what is not frozen; None if anything was frozen after the last look at what is frozen."""
        objects = gc.get_objects()
        known = not gc.get_freeze_count() or (self._thawed is not None and _has(objects, self._thawed))
        return objects if known else None


def made_since(mark: list[Any], kind: type[Each]) -> list[Each]:
    """Return the objects of a kind, and of no class on top of it, that were made after a mark, and perhaps others."""
    young = _young(mark)
    return [each for each in (gc.get_objects() if young is None else young) if type(each) is kind]


def _young(mark: list[Any]) -> list[Any] | None:
    """Return what is as young as a mark, or younger, and perhaps more; None if the mark is no longer young."""
    found: list[Any] = []
    for generation in (0, 1):  # in this order: what a collection makes older meanwhile is seen
        objects = gc.get_objects(generation)
        found += objects
        if _has(objects, mark):
            return found
    return None


def _has(objects: list[Any], mark: list[Any]) -> bool:
    return any(each is mark for each in reversed(objects))


def _sorted(objects: list[Any]) -> Found:
    """Return what there is among some objects; a proxy may say that it is a class: its own kind counts."""
    found = Found([], [], [], [])
    groups: dict[type, list[Any]] = {}
    for kind in set(map(type, objects)):
        if kind is types.FunctionType:
            groups[kind] = found.functions
        elif kind is LRU:
            groups[kind] = found.caches
        elif issubclass(kind, type):
            groups[kind] = found.classes
        elif issubclass(kind, _OF_ASYNCIO):
            groups[kind] = found.of_asyncio
    for each in [each for each in objects if type(each) in groups]:
        groups[type(each)].append(each)
    return found


def _joined(young: list[Each], known: Iterable[ref[Each]]) -> list[Each]:
    """Return what is young, and what was known before and is still there."""
    there = {id(each): each for each in young}
    for reference in known:
        each = reference()
        if each is not None:
            there[id(each)] = each
    return list(there.values())


HEAP: Final = Heap()
