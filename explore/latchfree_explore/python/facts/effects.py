"""Which parts of a container an operation touches.

Only what the built-in method does counts: a subclass that overrides an operation runs its own code, which is rewritten
itself. Negative indexes of lists reach another item when the length changes, so they touch all items.
"""

from __future__ import annotations

import gc
import itertools
import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final, TypeAlias

from latchfree_explore.python.core.steps import PUT, READ, WRITE
from latchfree_explore.python.facts.proxies import unwrapped

Effects: TypeAlias = tuple[tuple[Hashable, str], ...]

KINDS: Final = (dict, list, set, deque, bytearray)
_BUILT_IN: Final = (OrderedDict, defaultdict, *KINDS)

READS: Final[Effects] = (("shape", READ), ("vals", READ), ("all", READ))
"""Everything is read: `list(x)`, ``x == y``, ``values()``."""
SHAPE: Final[Effects] = (("shape", READ),)
"""The length, or the keys, are read."""
CHANGES: Final[Effects] = (("shape", WRITE), ("vals", PUT), ("all", WRITE))
"""Everything may change: ``clear()``, ``popitem()``, ``sort()``."""
GROWS: Final[Effects] = (("shape", WRITE), ("vals", PUT))
"""Something is added at an end: ``append()``."""

_SHAPE_ONLY: Final = frozenset({"keys", "__len__", "__iter__"})
_READING: Final = frozenset({
    "copy", "values", "items", "index", "count", "__reversed__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__",
    "__ge__", "__add__", "__mul__", "__or__", "__and__", "__sub__", "__xor__", "__repr__", "__str__", "union",
    "intersection", "difference", "symmetric_difference", "issubset", "issuperset", "isdisjoint", "decode", "find",
    "hex", "startswith", "endswith", "join", "split", "__ror__", "__rand__", "__rsub__", "__rxor__", "__contains__",
})  # fmt: skip
_AT_KEY: Final = {
    "get": READ, "__getitem__": READ, "setdefault": WRITE, "pop": WRITE, "__setitem__": WRITE, "__delitem__": WRITE,
    "add": WRITE, "discard": WRITE, "remove": WRITE, "__contains__": READ,
}  # fmt: skip
_GROWING: Final = frozenset({"append", "extend", "__iadd__"})
_TAKING: Final = frozenset({"pop", "popleft", "popitem"})
"""Operations that fail where nothing is there to be taken."""
_HARMLESS: Final = frozenset({"__class__", "__doc__", "__init_subclass__", "__sizeof__", "__hash__", "fromkeys"})


def built_in(value: Any, operation: str) -> bool:
    """Return whether an operation on a value is that of a built-in container."""
    kind = type(value)
    known = _KNOWN.get((kind, operation))
    if known is None:
        known = False
        for cls in kind.__mro__:
            if operation in vars(cls):
                known = cls in _BUILT_IN
                break
        known = known and isinstance(value, KINDS)
        _KNOWN[kind, operation] = known
    return known


_KNOWN: Final[dict[tuple[type, str], bool]] = {}


def of(value: Any, operation: str, arguments: tuple[Any, ...]) -> Effects:
    """Return what an operation on a built-in container is about to touch."""
    if operation in _SHAPE_ONLY:
        return SHAPE
    if operation in _AT_KEY and arguments and isinstance(value, dict | set):
        return _at_key(value, arguments[0], _AT_KEY[operation], operation)
    if operation in ("__getitem__", "__setitem__", "__delitem__") and arguments:
        return _at_index(arguments[0], operation)
    if operation == "move_to_end" and arguments:
        return (*_at_key(value, arguments[0], READ, operation), ("shape", WRITE))
    if operation in _READING:
        return READS
    if operation in _TAKING and not _kind(value).__len__(value):
        return SHAPE
    if operation in _HARMLESS:
        return ()
    return GROWS if operation in _GROWING and isinstance(value, list | deque) else CHANGES


def _at_key(value: Any, key: Any, kind: str, operation: str) -> Effects:
    if not isinstance(key, int | str | bytes | float | type(None)) and not _plain_tuple(key):
        return CHANGES if kind == WRITE else (("all", WRITE), ("shape", READ))
    here = (set if isinstance(value, set) else dict).__contains__(value, key)
    if operation == "__getitem__" and not here and isinstance(value, defaultdict):
        kind = WRITE
    place = ("k", key)
    if kind == READ or (operation in ("setdefault", "add") and here):
        return (place, READ), ("all", READ)
    if not here and operation in ("pop", "discard", "remove", "__delitem__"):
        return (place, READ), ("all", READ)
    comes_or_goes = not here or operation != "__setitem__"
    return (place, WRITE), ("all", READ), ("vals", PUT), *((("shape", WRITE),) if comes_or_goes else ())


def _at_index(index: Any, operation: str) -> Effects:
    if not isinstance(index, int) or index < 0:
        return READS if operation == "__getitem__" else CHANGES
    place = ("k", index)
    if operation == "__getitem__":
        return (place, READ), ("all", READ), ("shape", READ)
    if operation == "__setitem__":
        return (place, WRITE), ("all", READ), ("vals", PUT), ("shape", READ)
    return CHANGES


def _plain_tuple(key: Any) -> bool:
    return type(key) is tuple and all(
        isinstance(each, int | str | bytes | float | type(None)) or _plain_tuple(each) for each in key
    )


_DEPTH: Final = 4
_DICT: Final[dict[int, int]] = {}
_ORDERED: Final[OrderedDict[int, int]] = OrderedDict()
_ITERABLES: Final[tuple[Iterable[object], ...]] = (
    [], _DICT, _DICT.values(), _DICT.items(), _ORDERED, set(), deque(), bytearray(), reversed([]), reversed(_DICT),
)  # fmt: skip
VIEWS: Final[tuple[type, ...]] = tuple(
    type(view) for of in (_DICT, _ORDERED) for view in (of.keys(), of.values(), of.items())
)
_ONLY_BEHIND: Final[tuple[type, ...]] = (
    *VIEWS,
    *(type(iter(each)) for each in _ITERABLES),
    *(enumerate, zip, map, filter, reversed, types.MappingProxyType),
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
)
"""Kinds of views and iterators, which hold the container that their use reads."""


def behind(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """Yield the containers that the use of a value reads: itself, or what is behind its view or iterator."""
    if isinstance(value, KINDS):
        yield value if issubclass(type(value), KINDS) else unwrapped(value)
    elif depth and (isinstance(value, _ONLY_BEHIND) or (depth < _DEPTH and type(value) is tuple)):
        for each in gc.get_referents(value):
            for container in behind(each, depth - 1):
                yield container
                if applies(value):
                    yield from (one for one in _items(container) if isinstance(one, KINDS))


def _items(container: Any) -> list[Any]:
    """Return the items of a container, whatever its class says."""
    if isinstance(container, dict):
        return list(dict.values(container))
    return list(_kind(container).__iter__(container))


def _kind(container: Any) -> Any:
    """Return the built-in class of a container."""
    return next(kind for kind in KINDS if isinstance(container, kind))


def applies(value: Any) -> bool:
    """Return whether an iterator looks into each item: a chain made by `from_iterable`, `map` with a function in C."""
    if isinstance(value, map | filter | itertools.starmap):
        return not any(isinstance(each, types.FunctionType | types.MethodType) for each in gc.get_referents(value))
    return isinstance(value, itertools.chain)


def of_pairs(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the containers that a dictionary takes keys and values from, if it is made of pairs that are lists."""
    for argument in arguments:
        if isinstance(argument, list | deque) or type(argument) is tuple:
            yield from (each for each in gc.get_referents(argument) if isinstance(each, KINDS))


_ITERATORS: Final[tuple[type, ...]] = (
    *(kind for kind in _ONLY_BEHIND if hasattr(kind, "__next__")),
    *(type(iter(each)) for each in ((), "", "\u0100", b"", range(0), range(1 << 70))),
    type(iter(int, 0)),
)
"""Kinds of iterators in C: whatever takes an item changes the iterator."""


def iterators(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """Yield the iterators that a use of a value advances: itself, and those that it takes its items from.

    A tuple that only an iterator holds may have holes, as that of a `zip_longest` has: it is never iterated.
    """
    itself = isinstance(value, _ITERATORS)
    if itself:
        yield value
    if (itself and depth) or (depth < _DEPTH and type(value) is tuple):
        for each in gc.get_referents(value):
            yield from iterators(each, depth - 1)
