"""Functions in C whose accesses are known: methods of containers, `setattr` and its like, `operator.itemgetter`.

Where a program gives such a function away, to code that calls it unseen, a function in Python is given in its place.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import Any, Final

from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.facts import effects, whole
from latchfree_explore.python.facts.slots import SETTERS
from latchfree_explore.python.hooks import sorting
from latchfree_explore.python.hooks.announce import advance, touch
from latchfree_explore.python.hooks.caches import LRU
from latchfree_explore.python.hooks.items import item
from latchfree_explore.python.hooks.state import delete, get, put, short, told
from latchfree_explore.python.library.substitutes import Substitute
from latchfree_explore.python.library.twins import TWINS, twin

_BOUND: Final = (types.BuiltinMethodType, types.MethodWrapperType)
_BY_NAME: Final[dict[Any, tuple[int, ...]]] = {getattr: (2, 3), hasattr: (2,), setattr: (3,), delattr: (2,)}
"""Functions that take the name of an attribute, and how many arguments they take."""
_COMPARING: Final = frozenset({
    "count", "index", "remove", "sort", "__contains__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
})  # fmt: skip
KEEPING: Final = frozenset({
    "append", "appendleft", "add", "insert", "setdefault", "get", "pop", "remove", "discard", "index", "count",
    "__setitem__", "__getitem__", "__contains__", "__delitem__",
})  # fmt: skip
"""Methods of containers that take no items of what they are given."""


def tells(function: Any, args: tuple[Any, ...]) -> bool:
    """Return whether `atomic` knows what a function touches."""
    if isinstance(function, _BOUND):
        if isinstance(function.__self__, effects.KINDS):
            return True
    elif isinstance(function, types.MethodDescriptorType):
        return bool(args) and isinstance(args[0], effects.KINDS)
    elif isinstance(function, operator.attrgetter | operator.itemgetter | operator.methodcaller):
        return len(args) == 1
    elif isinstance(function, types.WrapperDescriptorType):
        return function in SETTERS and len(args) == SETTERS[function] and isinstance(args[1], str)
    return (
        isinstance(function, types.BuiltinFunctionType)
        and len(args) in _BY_NAME.get(function, ())
        and isinstance(args[1], str)
    )


def atomic(line: int, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that `tells` knows, without the poll after it: a function in C may be the caller."""
    run = CONTROL.run
    if type(function) is functools.partial:
        return atomic(line, function.func, (*function.args, *args), {**function.keywords, **kwargs})
    if run is None or not tells(function, args):
        return function(*args, **kwargs)
    if isinstance(function, _BOUND) and isinstance(function.__self__, effects.KINDS):
        return of_container(run, line, function.__self__, function.__name__, function, args, kwargs)
    if isinstance(function, types.MethodDescriptorType):
        bound = function.__get__(args[0])
        return of_container(run, line, args[0], function.__name__, bound, args[1:], kwargs)
    if isinstance(function, operator.attrgetter):
        found = tuple(_along(args[0], path, line) for path in function.__reduce__()[1])
        return found if len(found) > 1 else found[0]
    if isinstance(function, operator.itemgetter):
        found = tuple(item(args[0], key, line) for key in function.__reduce__()[1])
        return found if len(found) > 1 else found[0]
    if isinstance(function, operator.methodcaller):
        name, given, named = _method_of(function)
        return atomic(line, getattr(args[0], name), given, named)
    return _by_name(function, args, line)


def _by_name(function: Any, args: tuple[Any, ...], line: int) -> Any:
    if function is setattr or (len(args) == 3 and function in SETTERS):
        return put(args[2], args[0], args[1], line, function)
    if function is delattr or function in SETTERS:
        return delete(args[0], args[1], line, function)
    try:
        found = get(args[0], args[1], line)
    except AttributeError:
        if len(args) == 3:
            return args[2]
        if function is hasattr:
            return False
        raise
    return found if function is getattr else True


def _method_of(function: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """Return the method that an `operator.methodcaller` calls, and the arguments."""
    maker, given = function.__reduce__()
    if isinstance(maker, functools.partial):
        return maker.args[0], given, maker.keywords
    return given[0], given[1:], {}


def _along(value: Any, path: str, line: int) -> Any:
    """Read an attribute of an attribute, as an `operator.attrgetter` does."""
    for name in path.split("."):
        value = get(value, name, line)
    return value


def of_container(
    run: Run, line: int, owner: Any, name: str, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a method of a built-in container, though the owner's class may have another one of that name."""
    if name == "sort" and "key" in kwargs:
        kwargs = {**kwargs, "key": in_python(line, kwargs["key"])}
        if isinstance(owner, list) and not args and sorting.asks_the_program(owner, kwargs):
            sorting.sort(run, line, owner, kwargs)
            return None
    run.at(line)
    touch(run, owner, effects.of(owner, name, args))
    for argument in args:
        for container in effects.behind(argument):
            touch(run, container, effects.READS)
        if name not in KEEPING:
            advance(run, argument)
    if name == "update" and isinstance(owner, dict):
        for container in effects.of_pairs(args):
            touch(run, container, effects.READS)
    if name in _COMPARING:
        for compared in (each for value in (owner, *args) for each in whole.inside(run, value)):
            if compared is not owner:
                whole.read(run, compared)
    if run.telling:
        told(run, line, f"{called(run.roots, owner)}.{name}({', '.join(map(short, args))})")
    step = run.step
    result = function(*args, **kwargs)
    if run is CONTROL.run and run.step is not step:  # it has called the program in between
        touch(run, owner, effects.of(owner, name, args))
    TWINS.returned(function, result)
    return twin(result)


def in_python(line: int, value: Any) -> Any:
    """Return a function that tells what it touches in place of one that does not; any other value as it is."""
    function = value
    while type(function) is functools.partial:
        function = function.func
    if type(getattr(function, "__func__", function)) is LRU:
        return Substitute(value, lambda *args, **kwargs: CONTROL.call(line, value, *args, **kwargs))
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType):
        if not isinstance(function.__self__, effects.KINDS) and function not in _BY_NAME:
            return value
    elif isinstance(function, types.MethodDescriptorType):
        if not issubclass(function.__objclass__, effects.KINDS):
            return value
    elif not isinstance(function, operator.attrgetter | operator.itemgetter | operator.methodcaller):
        return value
    return Substitute(value, lambda *args, **kwargs: atomic(line, value, args, kwargs))
