"""Hooks of calls: what a call into C touches, and where the interpreter polls around a call.

A function whose body is rewritten tells its accesses itself. A built-in function reads the containers among its
arguments, or may change them if nothing is known of it; a method of a container touches what `effects` says. Any other
function, in C or in Python, is one step, which may change the object it is a method of.
"""

from __future__ import annotations

import heapq
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

from latchfree_explore.python.aio.objects import called as called_in_a_loop
from latchfree_explore.python.core.names import reachable
from latchfree_explore.python.core.places import called
from latchfree_explore.python.core.run import CONTROL, Run
from latchfree_explore.python.core.steps import READ, WRITE
from latchfree_explore.python.hooks import effects, polling, whole
from latchfree_explore.python.hooks.generators import resume
from latchfree_explore.python.hooks.items import each, touch
from latchfree_explore.python.hooks.state import (
    answers,
    class_attribute,
    get,
    owner_of,
    shadows,
    short,
    told,
    touch_namespace,
)
from latchfree_explore.python.hooks.whole import IMMUTABLE, REWRITTEN
from latchfree_explore.python.library.twins import twin

_READERS: Final = frozenset({
    len, list, tuple, sorted, sum, max, min, dict, set, frozenset, any, all, bool, iter, reversed, enumerate, zip, map,
    filter, isinstance, issubclass, repr, str, print, id, type, hash, format, callable, getattr, hasattr, bytes, abs,
    int, float, round, range, divmod, ord, chr, itertools.chain, itertools.islice,
})  # fmt: skip
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
_RESUMABLE: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_PURE: Final = ("builtins", "math", "cmath", "operator", "_operator", "time", "_thread", "itertools")
"""Modules whose functions give the same for the same arguments, or are under control."""
_READING_THE_WORLD: Final = frozenset({input, open, exec, eval, __import__})
_RUNNING: Final = ("run", "run_until_complete", "run_forever", "guest_run", "start_guest_run")
_LOOPS: Final = ("asyncio", "anyio", "trio", "curio", "uvloop")
_CONSUMING: Final = frozenset({list, tuple, sorted, sum, max, min, set, frozenset, any, all})
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
        result = function(*args, **kwargs)
    else:
        if args and _hashable(function) and function in _CONSUMING and _iterates_itself(args[0]):
            args = each(args[0], line), *args[1:]
        if isinstance(function, operator.attrgetter) and args:
            _get_attributes(function, args[0], line)
        if run.current is not None and run.current.spin is not None and _gets_on(function, code is not None, args):
            run.current.spin = None
        if run.loop is not None:
            called_in_a_loop(run, run.loop, function, _gets_on(function, code is not None, args))
        touched = _before(run, function, code is not None, (*args, *kwargs.values()), line)
        generator = _resumed_by(function, args)
        if generator is None:
            result = function(*args, **kwargs)
        else:
            result = resume(run, generator, line, lambda: function(*args, **kwargs))
        if run is CONTROL.run:
            for owner, before in touched:
                whole.changed(run, owner, before)
    if run is CONTROL.run:
        if isinstance(function, type) and run.current is not None and not isinstance(result, IMMUTABLE):
            run.names.born(result, run.current.number)
        _after(run, code is not None)
    return twin(result)


def method(line: int, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a method."""
    run = CONTROL.run
    owner = twin(owner)
    if run is None:
        return twin(getattr(owner, name))(*args, **kwargs)
    known = type(owner), name
    if known in run.methods and not shadows(owner, name):
        return getattr(owner, name)(*args, **kwargs)
    if isinstance(owner, effects.KINDS) and effects.built_in(owner, name):
        function = getattr(owner, name)
        run.at(line)
        touch(run, owner, effects.of(owner, name, args))
        for argument in args:
            for container in effects.behind(argument):
                touch(run, container, effects.READS)
        if run.telling:
            told(run, line, f"{called(run.roots, owner)}.{name}({', '.join(map(short, args))})")
        result = function(*args, **kwargs)
        _after(run, False)
        return twin(result)
    if answers(run, type(owner)) or owner_of(owner, name) is not None:
        return call(line, get(owner, name, line), *args, **kwargs)
    if _is_rewritten(*known):
        run.methods.add(known)
    return call(line, getattr(owner, name), *args, **kwargs)


def _is_rewritten(kind: type, name: str) -> bool:
    """Return whether a method of a class is rewritten, so that its call needs no more than to be made."""
    held = class_attribute(kind, name)
    if not isinstance(held, tuple) or not isinstance(held[1], types.FunctionType) or issubclass(kind, type):
        return False
    return id(held[1].__code__) in REWRITTEN and kind.__getattribute__ is object.__getattribute__


def _code_of(function: Any) -> types.CodeType | None:
    """Return the code of a function or method in Python, None of one in C, and of locks, which stand for some in C."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType) or function.__module__.startswith(_OURS):
        return None
    return function.__code__


def _get_attributes(getter: Any, value: Any, line: int) -> None:
    """Read the attributes that an `operator.attrgetter` reads."""
    for path in getter.__reduce__()[1]:
        owner = value
        for name in path.split("."):
            owner = get(owner, name, line)


def _iterates_itself(value: Any) -> bool:
    """Return whether the iteration of a value is code that is rewritten."""
    held = class_attribute(type(value), "__iter__")
    return isinstance(held, tuple) and isinstance(held[1], types.FunctionType) and id(held[1].__code__) in REWRITTEN


def _touch_attribute(run: Run, function: Callable[..., Any], owner: Any, name: str, line: int) -> None:
    changes = function in (setattr, delattr)
    exposed = type(owner) in run.constants.exposed
    place = owner if changes else owner_of(owner, name)
    if place is None or (not changes and not exposed and run.constants.constant(name)):
        return
    run.at(line)
    if changes:
        if isinstance(owner, type):
            run.forget_classes()
        run.undo.attribute(owner, name)
        run.constants.wrote(name)
    run.record(place, name, WRITE if changes else READ)
    if exposed and place is owner:
        touch_namespace(run, owner, name, "__setitem__" if changes else "__getitem__")
    if run.telling:
        told(run, line, f"{function.__name__} {called(run.roots, place)}.{name}")


def _before(
    run: Run, function: Any, in_python: bool, args: tuple[Any, ...], line: int
) -> list[tuple[Any, list[tuple[str, Any]]]]:
    """Announce what a call of code that is not rewritten may touch; return objects it may change, and attributes."""
    if in_python:
        _refuse_loops(run, function, args)
        run.poll()
    known = _hashable(function)
    if known and function is vars and args:
        run.constants.expose(type(args[0]))
        return []
    reading = known and function in _READERS
    held = [] if reading else _object_of(function, args)
    if function is next and args and not isinstance(args[0], types.GeneratorType):
        held = [*held, args[0]]
    containers = [(one, argument) for argument in args for one in effects.behind(argument)]
    looked_at = [] if known and function in _SHALLOW else list(_looked_at(run, function, known, args, containers))
    if known and function in _BY_METHOD:
        looked_at += [one for one in args if any(whole.is_foreign(run, one, name) for name in _BY_METHOD[function])]
    if not held and not containers and not looked_at:
        return []
    if isinstance(function, type) and not reading and not containers:
        return []
    run.at(line)
    name = getattr(function, "__name__", "?")
    touched = [(owner, whole.change(run, owner)) for owner in held]
    if run.telling:
        for owner in held:
            told(run, line, f"{called(run.roots, owner)}.{name}()")
    for container, argument in containers:
        changes = not reading and not isinstance(function, type) and container is argument
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


def _refuse_loops(run: Run, function: Any, args: tuple[Any, ...]) -> None:
    """Stop at a call that runs an event loop of its own: that loop waits for the system, in real time."""
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if name in _RUNNING and module.partition(".")[0] in _LOOPS:
        for given in args:
            if isinstance(given, types.CoroutineType):
                given.close()
        fix = "explore the coroutine function with explore_async"
        run.stop("out of control", f"{module.partition('.')[0]}: {name}() runs an event loop of its own; fix: {fix}")


def _looked_at(
    run: Run, function: Any, known: bool, args: tuple[Any, ...], containers: list[tuple[Any, Any]]
) -> Iterator[Any]:
    """Yield what a call reads besides the containers among its arguments: nested ones, and objects."""
    top = {id(container) for container, _ in containers}
    for argument in args:
        yield from (one for one in whole.inside(run, argument) if id(one) not in top)
    if isinstance(function, type) or (known and function in _BY_METHOD) or _passes_on(function):
        return
    deep = getattr(function, "__module__", None) in _DEEP
    for argument in reachable(list(args)) if deep else args:
        if isinstance(argument, effects.KINDS):
            if deep and id(argument) not in top:
                yield argument
        elif not isinstance(argument, IMMUTABLE) and not whole.is_controlled(type(argument)):
            yield argument


def _passes_on(function: Any) -> bool:
    """Return whether a function hands its arguments on to code that tells its accesses itself."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(("latchfree", "threading", "queue", "concurrent.futures", "asyncio", "contextlib"))


def _gets_on(function: Any, in_python: bool, args: tuple[Any, ...]) -> bool:
    """Return whether a loop gets on by a call though nothing of that is seen: a generator's, a file's, the world's."""
    if isinstance(function, types.BuiltinMethodType):
        owner = function.__self__
        if isinstance(owner, types.ModuleType | None):
            module = function.__module__ or ""
            return module not in _PURE or function in _READING_THE_WORLD or (function is next and bool(args))
        return isinstance(owner, _RESUMABLE)
    if in_python:
        return not _passes_on(function)
    return isinstance(function, types.MethodWrapperType) and isinstance(function.__self__, _RESUMABLE)


def _resumed_by(function: Any, args: tuple[Any, ...]) -> Any:
    """Return the generator that a call resumes, None if it resumes none."""
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType):
        if isinstance(function.__self__, types.GeneratorType):
            return function.__self__
        if function is next and args and isinstance(args[0], types.GeneratorType):
            return args[0]
    return None


def _object_of(function: Any, args: tuple[Any, ...]) -> list[Any]:
    """Return the object that a call of unknown code may change: the one that it is a method of."""
    if isinstance(function, types.WrapperDescriptorType | types.MethodDescriptorType):
        owner = args[0] if args else None  # such as ``object.__setattr__(it, name, value)``
        if isinstance(owner, effects.KINDS):
            return []
    elif isinstance(function, types.MethodType | types.BuiltinMethodType | types.MethodWrapperType):
        owner = function.__self__
    elif isinstance(function, type | types.FunctionType):
        return []
    else:
        owner = function
    if isinstance(owner, IMMUTABLE) or whole.is_controlled(type(owner)):
        return []
    return [owner]


def _hashable(function: Any) -> bool:
    return isinstance(function, types.BuiltinFunctionType | type)


def _after(run: Run, in_python: bool) -> None:
    """Poll where the interpreter does after a call."""
    if run is CONTROL.run and (polling.RULES.after_python_call if in_python else polling.RULES.after_c_call):
        run.poll()


def entered(manager: Any, line: int) -> Any:
    """Begin a ``with`` block: ``__enter__`` in Python begins with a poll."""
    run = CONTROL.run
    manager = twin(manager)
    if run is not None and run.polls:
        held = class_attribute(type(manager), "__enter__")
        own = isinstance(held, tuple) and isinstance(held[1], types.FunctionType)
        ours = type(manager).__module__.startswith(_OURS)
        if own and not ours and id(held[1].__code__) not in REWRITTEN:
            run.poll()
    return manager


def made(value: Any, line: int) -> Any:
    """Give a container that was written down a name, equal in every run."""
    run = CONTROL.run
    if run is not None and run.current is not None:
        run.names.born(value, run.current.number)
    return value
