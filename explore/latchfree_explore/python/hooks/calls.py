"""Hooks of calls: what a call into C touches, and where the interpreter polls around a call.

A function whose body is rewritten tells its accesses itself. A built-in function reads the containers among its
arguments, or may change them if nothing is known of it; a method of a container touches what `effects` says. Any other
function, in C or in Python, is one step, which may change the object it is a method of.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import re
import types
from collections.abc import Callable
from typing import Any, Final

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.hooks import effects, polling
from latchfree_explore.python.hooks.items import touch
from latchfree_explore.python.hooks.state import class_attribute, get, owner_of, short, told
from latchfree_explore.python.library.twins import twin

REWRITTEN: Final[dict[int, types.CodeType]] = {}
"""The code of the functions that are rewritten, while they are, by address."""

_READERS: Final = frozenset({
    len, list, tuple, sorted, sum, max, min, dict, set, frozenset, any, all, bool, iter, reversed, enumerate, zip, map,
    filter, isinstance, issubclass, repr, str, print, id, type, hash, format, callable, getattr, hasattr, bytes, abs,
    int, float, round, range, divmod, ord, chr, itertools.chain, itertools.islice,
})  # fmt: skip
_CHANGING: Final = frozenset({
    next, heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop, operator.setitem,
    operator.delitem,
})  # fmt: skip
_IMMUTABLE: Final = (
    str, bytes, int, float, complex, tuple, frozenset, range, slice, type(None), type, re.Pattern, re.Match,
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.GeneratorType, types.CoroutineType,
)  # fmt: skip
_BY_NAME: Final = frozenset({getattr, hasattr, setattr, delattr})
_OURS: Final = "latchfree_explore."


def call(line: int, function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function."""
    run = CONTROL.run
    function = twin(function)
    if run is None:
        return function(*args, **kwargs)
    code = _code_of(function)
    if id(code) in REWRITTEN:
        return function(*args, **kwargs)
    if isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, effects.KINDS):
        return method(line, function.__self__, function.__name__, *args, **kwargs)
    if _hashable(function) and function in _BY_NAME and len(args) >= 2 and isinstance(args[1], str):
        _touch_attribute(run, function, args[0], args[1], line)
    else:
        _before(run, function, code is not None, args, line)
    result = function(*args, **kwargs)
    if run is CONTROL.run:
        if isinstance(function, type) and run.current is not None and not isinstance(result, _IMMUTABLE):
            run.names.born(result, run.current.number)
        _after(run, code is not None, line)
    return twin(result)


def method(line: int, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a method."""
    run = CONTROL.run
    if run is None:
        return twin(getattr(owner, name))(*args, **kwargs)
    if isinstance(owner, effects.KINDS) and effects.built_in(owner, name):
        function = getattr(owner, name)
        run.at(line)
        touch(run, owner, effects.of(owner, name, args))
        for each in args:
            for container in effects.behind(each):
                touch(run, container, effects.READS)
        if run.telling:
            told(run, line, f"{called(run.roots, owner)}.{name}({', '.join(map(short, args))})")
        result = function(*args, **kwargs)
        _after(run, False, line)
        return twin(result)
    if owner_of(owner, name) is not None:
        return call(line, get(owner, name, line), *args, **kwargs)
    return call(line, getattr(owner, name), *args, **kwargs)


def _code_of(function: Any) -> types.CodeType | None:
    """Return the code of a function or method in Python, None of one in C, and of locks, which stand for some in C."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType) or function.__module__.startswith(_OURS):
        return None
    return function.__code__


def _touch_attribute(run: Run, function: Callable[..., Any], owner: Any, name: str, line: int) -> None:
    changes = function in (setattr, delattr)
    place = owner if changes else owner_of(owner, name)
    if place is None or (not changes and run.constants.constant(name)):
        return
    run.at(line)
    if changes:
        run.plain.clear()
        run.undo.attribute(owner, name)
        run.constants.wrote(name)
    run.record(place, name, WRITE if changes else READ)
    if run.telling:
        told(run, line, f"{function.__name__} {called(run.roots, place)}.{name}")


def _before(run: Run, function: Any, in_python: bool, args: tuple[Any, ...], line: int) -> None:
    """Announce what a call of code that is not rewritten may touch."""
    if in_python:
        run.poll(line)
    reading = _hashable(function) and function in _READERS
    held = [] if reading else _object_of(function)
    containers = [(each, argument) for argument in args for each in effects.behind(argument)]
    if function is next and args and not isinstance(args[0], types.GeneratorType):
        held = [*held, args[0]]
    if not held and not containers:
        return
    if isinstance(function, type) and not reading and not containers:
        return
    run.at(line)
    for owner in held:
        run.record(owner, "state", WRITE)
        if run.telling:
            told(run, line, f"{called(run.roots, owner)}.{getattr(function, '__name__', '?')}()")
    for container, argument in containers:
        changes = not reading and not isinstance(function, type) and container is argument
        only_shape = function is len or (
            function in (iter, list, tuple, set, frozenset) and isinstance(container, dict)
        )
        what = effects.CHANGES if changes else effects.SHAPE if only_shape and container is argument else effects.READS
        touch(run, container, what)
        if run.telling:
            told(run, line, f"{getattr(function, '__name__', '?')}({called(run.roots, container)})")


def _object_of(function: Any) -> list[Any]:
    """Return the object that a call of unknown code may change: the one that it is a method of."""
    if isinstance(function, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        owner = function.__self__
    elif isinstance(function, type | types.FunctionType):
        return []
    else:
        owner = function
    if isinstance(owner, _IMMUTABLE) or type(owner).__module__.startswith((_OURS, "threading", "queue")):
        return []
    if type(owner).__module__ == "concurrent.futures._base" or type(owner).__module__ == "concurrent.futures.thread":
        return []
    return [owner]


def _hashable(function: Any) -> bool:
    return isinstance(function, types.BuiltinFunctionType | type)


def _after(run: Run, in_python: bool, line: int) -> None:
    """Poll where the interpreter does after a call."""
    if run is CONTROL.run and (polling.RULES.after_python_call if in_python else polling.RULES.after_c_call):
        run.poll(line)


def entered(manager: Any, line: int) -> Any:
    """Begin a ``with`` block: ``__enter__`` in Python begins with a poll."""
    run = CONTROL.run
    manager = twin(manager)
    if run is not None and run.polls:
        held = class_attribute(type(manager), "__enter__")
        own = isinstance(held, tuple) and isinstance(held[1], types.FunctionType)
        ours = type(manager).__module__.startswith(_OURS)
        if own and not ours and id(held[1].__code__) not in REWRITTEN:
            run.poll(line)
    return manager


def made(value: Any, line: int) -> Any:
    """Give a container that was written down a name, equal in every run."""
    run = CONTROL.run
    if run is not None and run.current is not None:
        run.names.born(value, run.current.number)
    return value
