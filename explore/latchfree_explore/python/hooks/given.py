"""Functions that a program gives away to code that is not rewritten, which calls them unseen.

``min(names, key=load.get)`` reads the dictionary once for each name. So where a built-in function that touches shared
state is an argument, a function in Python is given in its place, which tells what is touched. And where a function in
C calls back between two items, as in ``max(d, key=f)``, it gets the items one by one.
"""

from __future__ import annotations

import functools
import itertools
import sys
import types
from typing import Any, Final

from latchfree_explore.python.core.run import Run
from latchfree_explore.python.facts import effects
from latchfree_explore.python.facts.asyncio_objects import told_in_a_thread
from latchfree_explore.python.facts.whole import REWRITTEN
from latchfree_explore.python.hooks.atomic import in_python
from latchfree_explore.python.hooks.items import seen
from latchfree_explore.python.hooks.iterating import Items
from latchfree_explore.python.library.substitutes import Substitute

_ITERATING: Final = frozenset({
    map, filter, max, min, functools.reduce, itertools.takewhile, itertools.dropwhile, itertools.filterfalse,
    itertools.starmap, itertools.accumulate, itertools.groupby,
})  # fmt: skip
"""Functions in C that call another function between two items."""
_CALLING: Final = frozenset({*_ITERATING, sorted, iter})
_PYTHON: Final = (types.FunctionType, types.MethodType)
_CALLING_MODULES: Final = frozenset({
    "threading", "concurrent", "asyncio", "contextlib", "functools", "heapq", "bisect", "re", "weakref", "sched",
    "atexit", "unittest", "timeit", "statistics",
})  # fmt: skip
"""Modules of the standard library whose functions call what they are given; those of others keep it."""
_CALLED: Final = frozenset({"key", "default", "object_hook", "object_pairs_hook", "target", "func", "callback"})
"""Names of arguments that are called in any case."""
_ONLY_KEEPING: Final = frozenset({functools.wraps, functools.update_wrapper})


def takes_functions(function: Any) -> bool:
    """Return whether a function that is not rewritten may call what it is given."""
    if isinstance(function, _PYTHON):
        inner = getattr(getattr(function, "__wrapped__", None), "__code__", None)
        return id(inner) not in REWRITTEN  # as a context manager of the program's
    if isinstance(function, type):
        made = function.__init__  # type: ignore[misc]
        if isinstance(made, types.FunctionType):
            code = made.__code__
            return id(code) not in REWRITTEN and code.co_filename[:1] != "<"  # as of a dataclass, which only keeps
        return function in _CALLING
    return isinstance(function, types.BuiltinFunctionType) and function in _CALLING


def given(
    run: Run, line: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, with functions that tell what they touch, and items one by one."""
    if function is iter and len(args) == 1:
        return args, kwargs
    calls = _calls(function)
    if calls:
        args = tuple(in_python(line, each) for each in args)
    kwargs = {name: in_python(line, each) if calls or name in _CALLED else each for name, each in kwargs.items()}
    if run.loop is not None and _starts_threads(function):
        args = tuple(told_in_a_thread(line, each) for each in args)
        kwargs = {name: told_in_a_thread(line, each) for name, each in kwargs.items()}
    if isinstance(function, types.BuiltinFunctionType | type) and function in _ITERATING:
        called = any(_calls_back(each) for each in (*args, *kwargs.values()))
        if called and (len(args) == 1 or function not in (max, min)):
            args = tuple(_one_by_one(run, line, each) for each in args)
            kwargs = {name: _one_by_one(run, line, each) for name, each in kwargs.items()}
        if function is itertools.starmap and len(args) == 2:
            args = args[0], map(seen, args[1], itertools.repeat(line))
    return args, kwargs


def _calls(function: Any) -> bool:
    """Return whether a function is taken to call what it is given, and not just to keep it."""
    made = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    module = (getattr(made, "__module__", None) or "").partition(".")[0]
    if module in _CALLING_MODULES:
        return function not in _ONLY_KEEPING
    return function in _CALLING or module not in sys.stdlib_module_names


def _starts_threads(function: Any) -> bool:
    """Return whether a function is one of the library's that calls what it is given in another thread."""
    made = function.__init__ if isinstance(function, type) else function  # type: ignore[misc]
    return (getattr(made, "__module__", None) or "").startswith(("threading", "concurrent.futures"))


def _calls_back(value: Any) -> bool:
    """Return whether a value is a function of the program, or a class that has one."""
    if isinstance(value, type):
        return isinstance(value.__init__, types.FunctionType)  # type: ignore[misc]
    return isinstance(value, (*_PYTHON, functools.partial, Substitute))


def _one_by_one(run: Run, line: int, value: Any) -> Any:
    shared = any(True for _ in effects.behind(value)) or any(True for _ in effects.iterators(value))
    return Items(run, value, line, jumps=False) if shared else value
