"""What a call of code that is not rewritten may touch.

A built-in function reads the containers among its arguments, or may change them if nothing is known of it. Any other
function, in C or in Python, is one step, which may change the object it is a method of.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import operator
import types
from collections.abc import Iterator
from typing import Any, Final

from latchfree_explore.python.core.names import reachable
from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import Run
from latchfree_explore.python.core.steps import READ
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.facts.slots import CLASS
from latchfree_explore.python.facts.whole import IMMUTABLE, REWRITTEN
from latchfree_explore.python.hooks.announce import advance, touch
from latchfree_explore.python.hooks.state import told

READERS: Final = frozenset({
    len, list, tuple, sorted, sum, max, min, dict, set, frozenset, any, all, bool, iter, reversed, enumerate, zip, map,
    filter, isinstance, issubclass, repr, str, print, id, type, hash, format, callable, getattr, hasattr, bytes, abs,
    int, float, round, range, divmod, ord, chr, itertools.chain, itertools.islice,
})  # fmt: skip
_READING: Final = ("math", "cmath", "zlib", "binascii", "_statistics")
"""Modules in C whose functions change no argument."""
_CHANGING: Final = frozenset({
    next, heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop, operator.setitem,
    operator.delitem,
})  # fmt: skip
_SHALLOW: Final = frozenset({
    len, list, tuple, dict, set, frozenset, bool, iter, reversed, enumerate, zip, map, filter, isinstance, issubclass,
    id, type, callable, getattr, hasattr, bytes, abs, int, float, round, range, next, itertools.chain,
    itertools.islice,
})  # fmt: skip
"""Functions that do not look into the items of their arguments."""
_BY_METHOD: Final[dict[Any, tuple[str, ...]]] = {
    len: ("__len__",), bool: ("__bool__", "__len__"), repr: ("__repr__",), str: ("__str__", "__repr__"),
    hash: ("__hash__",), abs: ("__abs__",), int: ("__int__",), float: ("__float__",), round: ("__round__",),
    next: ("__next__",),
    **dict.fromkeys(
        (list, tuple, sorted, sum, max, min, set, frozenset, any, all, iter, enumerate, zip, map, filter, bytes),
        ("__iter__", "__getitem__"),
    ),
}  # fmt: skip
"""Functions that call a method of their argument, and do nothing else with it."""
_DEEP: Final = ("copy", "_pickle", "pickle", "dataclasses", "json", "pprint", "reprlib")
"""Modules whose functions read all that an argument reaches."""
_TEXTS: Final = frozenset({repr, str, format, print, ascii})
_OF_TEXTS: Final = ("__eq__", "__str__", "__repr__", "__format__")
_ASKING_CLASS: Final = frozenset({type, isinstance})
_SOURCES: Final[tuple[type, ...]] = (tuple, str, bytes, range, int, type(None), *effects.VIEWS)
_MAKING: Final = frozenset({
    id, type, callable, isinstance, issubclass, iter, enumerate, zip, map, filter, reversed,
    *(kind for kind in vars(itertools).values() if isinstance(kind, type)),
})  # fmt: skip
"""Functions that take no item of an iterator that they are given."""


def hashable(function: Any) -> bool:
    """Return whether a function is one of C, or a class: those may be looked up in tables."""
    return isinstance(function, types.BuiltinFunctionType | type)


def before(run: Run, function: Any, args: tuple[Any, ...], line: int) -> list[tuple[Any, list[tuple[str, Any]]]]:
    """Announce what a call of code that is not rewritten may touch; return objects it may change, and attributes."""
    known = hashable(function)
    if known and function is vars and args:
        run.constants.expose(type(args[0]))
        return []
    if known and function in _ASKING_CLASS and args and run.constants.is_recast(type(args[0])):
        run.at(line)
        run.record(args[0], CLASS, READ)
    reading = known and (function in READERS or function.__module__ in _READING)
    held = [] if reading else object_of(function, args)
    if function is next and args and not isinstance(args[0], types.GeneratorType):
        held = [*held, args[0]]
    containers = [(one, argument) for argument in args for one in effects.behind(argument)]
    if isinstance(function, type) and issubclass(function, dict):
        containers += [(one, args) for one in effects.of_pairs(args)]
    shallow = known and function in _SHALLOW and (function in _MAKING or not any(map(effects.applies, args)))
    looked_at = [] if shallow else list(_looked_at(run, function, known, args, containers))
    if known and function in _BY_METHOD:
        looked_at += [one for one in args if any(whole.is_foreign(run, one, name) for name in _BY_METHOD[function])]
    advances = (not known or function not in _MAKING) and any(any(effects.iterators(each)) for each in args)
    if not held and not containers and not looked_at and not advances:
        return []
    if isinstance(function, type) and not reading and not containers and not advances:
        return []
    run.at(line)
    for argument in args if advances else ():
        advance(run, argument)
    name = getattr(function, "__name__", "?")
    touched = [(owner, whole.change(run, owner)) for owner in held]
    if run.telling:
        for owner in held:
            told(run, line, f"{called(run.roots, owner)}.{name}()")
    for container, argument in containers:
        changes = not (reading or isinstance(function, type) or passes_on(function)) and container is argument
        changes = changes and (len(container) > 0 or function is not heapq.heappop)
        only_shape = function is len or (
            function in (iter, list, tuple, set, frozenset) and isinstance(container, dict)
        )
        what = effects.CHANGES if changes else effects.SHAPE if only_shape and container is argument else effects.READS
        touch(run, container, what)
        if run.telling:
            told(run, line, f"{name}({called(run.roots, container)})")
    for one in looked_at:
        whole.read(run, one)
        if run.telling:
            told(run, line, f"{name}({called(run.roots, one)})")
    return touched


def _looked_at(
    run: Run, function: Any, known: bool, args: tuple[Any, ...], containers: list[tuple[Any, Any]]
) -> Iterator[Any]:
    """Yield what a call reads besides the containers among its arguments: nested ones, and objects."""
    top = {id(container) for container, _ in containers}
    owner = function.__self__ if isinstance(function, types.BuiltinMethodType) else None
    as_text = _OF_TEXTS if (known and function in _TEXTS) or isinstance(owner, str) else ()
    for argument in (owner, *args) if isinstance(owner, tuple) else args:
        yield from (one for one in whole.inside(run, argument, *as_text) if id(one) not in top)
    if isinstance(function, type) or (known and function in _BY_METHOD) or passes_on(function):
        return
    deep = getattr(function, "__module__", None) in _DEEP
    for argument in reachable(list(args)) if deep else args:
        if isinstance(argument, effects.KINDS):
            if deep and id(argument) not in top:
                yield argument
        elif not isinstance(argument, IMMUTABLE) and not whole.is_controlled(type(argument)):
            yield argument


def takes_from_none(run: Run, args: tuple[Any, ...]) -> bool:
    """Return whether an iterator that is made of some values takes from no iterator, but such as are new themselves."""
    return all(
        effects.built_in(each, "__iter__")
        or isinstance(each, _SOURCES)
        or (hashable(each) and each in READERS)
        or (isinstance(each, types.FunctionType) and id(each.__code__) in REWRITTEN)
        or run.names.is_fresh(each)
        for each in args
    )


def passes_on(function: Any) -> bool:
    """Return whether a function hands its arguments on to code that tells its accesses itself."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(("latchfree", "threading", "queue", "concurrent.futures", "asyncio", "contextlib"))


def object_of(function: Any, args: tuple[Any, ...]) -> list[Any]:
    """Return the object that a call of unknown code may change: the one that it is a method of."""
    if isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType):
        owner = args[0] if args else None  # such as ``object.__setattr__(it, name, value)``
        if isinstance(owner, effects.KINDS):
            return []
    elif isinstance(function, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        owner = function.__self__
        if isinstance(owner, functools.cached_property) and args and args[0] is not None:
            owner = args[0]  # which keeps what is computed
    elif isinstance(function, type | types.FunctionType):
        return []
    else:
        owner = function
    if isinstance(owner, IMMUTABLE) or whole.is_controlled(type(owner)):
        return []
    return [owner]
