"""Hooks of calls: what a call into C touches, and where the interpreter polls around a call.

A function whose body is rewritten tells its accesses itself. A method of a container touches what `effects` says, any
other function what `touched` says.

Positional parameters have names that no program has: compiled by mypyc, a function takes them by name, too.
"""

from __future__ import annotations

import functools
import types
from typing import Any, Final

from latchfree_explore.python.core.run import CONTROL, Run, too_late
from latchfree_explore.python.facts import effects, polling, whole
from latchfree_explore.python.facts.asyncio_objects import called as called_in_a_loop
from latchfree_explore.python.facts.lookup import answers, class_attribute, owner_of, shadows
from latchfree_explore.python.facts.refused import refuse
from latchfree_explore.python.facts.whole import IMMUTABLE, REWRITTEN, VALUES
from latchfree_explore.python.hooks import caches, fields, frames, keeping, touched
from latchfree_explore.python.hooks.atomic import atomic, of_container, tells
from latchfree_explore.python.hooks.generators import resume
from latchfree_explore.python.hooks.given import given, takes_functions
from latchfree_explore.python.hooks.iterating import Items
from latchfree_explore.python.hooks.state import CODE, get, varies
from latchfree_explore.python.library.twins import TWINS, twin

_RESUMABLE: Final = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_PURE: Final = (
    "builtins",
    "math",
    "cmath",
    "operator",
    "_operator",
    "time",
    "_thread",
    "itertools",
    "_asyncio",
    "_heapq",
    "_bisect",
)
"""Modules whose functions give the same for the same arguments, or are under control."""
_PURE_IN_PYTHON: Final = (
    "re", "fnmatch", "string", "textwrap", "statistics", "fractions", "copy", "json", "bisect", "heapq", "dataclasses",
    "operator", "posixpath", "ntpath",
)  # fmt: skip
_READING_THE_WORLD: Final = frozenset({input, open, exec, eval, __import__})
_CONSUMING: Final = frozenset({list, tuple, sorted, sum, max, min, set, frozenset, any, all})
_OF_VALUES: Final = frozenset({
    len, sum, min, max, abs, int, float, bool, round, range, divmod, ord, chr, str, repr, format, hash, bytes,
})  # fmt: skip
"""Functions that make of values others that nobody changes."""
_OURS: Final = "latchfree_explore."


def call(_lf_line: int, _lf_function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function."""
    run = CONTROL.run
    function = twin(_lf_function)
    if run is None:
        if CONTROL.ending:
            too_late()
        keeping.call(function, args)
        result = frames.called(function, args, kwargs)
        TWINS.born(result)
        if isinstance(function, type):
            keeping.made(result)
        return result
    code = code_of(function)
    if id(code) in REWRITTEN:
        return function(*args, **kwargs)
    if type(function) is functools.partial:
        return call(_lf_line, function.func, *function.args, *args, **{**function.keywords, **kwargs})
    if tells(function, args):
        found = atomic(_lf_line, function, args, kwargs)
        _after(run, False)
        return found
    return _step(run, _lf_line, function, code is not None, args, kwargs)


def _step(run: Run, line: int, function: Any, in_python: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function that is not rewritten: one step, but for what it calls."""
    if not kwargs and touched.hashable(function) and function in _OF_VALUES and VALUES.issuperset(map(type, args)):
        found = function(*args)
        _after(run, False)
        return found
    args = tuple(map(twin, args))
    if kwargs:
        kwargs = {name: twin(value) for name, value in kwargs.items()}
    if args and touched.hashable(function) and function in _CONSUMING and _iterates_itself(args[0]):
        args = Items(run, args[0], line, jumps=False), *args[1:]
    fresh = isinstance(function, type) or function is iter
    fresh = fresh and touched.takes_from_none(run, (*args, *kwargs.values()))
    if takes_functions(function):
        args, kwargs = given(run, line, function, args, kwargs)
    if run.loop is not None or (run.current is not None and run.current.spin is not None):
        gets_on = _gets_on(run, function, in_python, args)
        if run.current is not None and gets_on:
            run.current.spin = None
        if run.loop is not None:
            called_in_a_loop(run, run.loop, function, gets_on)
    refuse(run, function, args)
    if type(function) is types.BuiltinMethodType and function.__name__ == "format":
        function, args, kwargs = fields.evaluated(function, args, kwargs, line)
    if in_python:
        run.poll()
        if caches.uses_logging(function):
            caches.guard_handlers(run)
    keeps = caches.forget_calls(run, function)
    changed = touched.before(run, function, (*args, *kwargs.values()), line)
    if type(kwargs.get("out")).__module__ in whole.COPIED:  # functions of numpy write there
        changed.append((kwargs["out"], whole.change(run, kwargs["out"])))
    generator = _resumed_by(function, args)
    if keeps:
        result = caches.asked(run, function, args, kwargs)
    elif generator is None:
        result = frames.called(function, args, kwargs)
    else:
        result = resume(run, generator, line, lambda: function(*args, **kwargs))
    if run is CONTROL.run:
        for owner, before in changed:
            whole.changed(run, owner, before)
        makes = isinstance(function, type) or function is iter or function is sorted
        if makes:
            TWINS.born(result)
        TWINS.returned(function, result)
        if makes and run.current is not None and not isinstance(result, IMMUTABLE):
            run.names.born(result, run.current.number)
            if fresh:
                for each in effects.iterators(result):
                    run.names.fresh(each, run.current.number)
        _after(run, in_python or keeps)
    return twin(result)


def method(_lf_line: int, _lf_owner: Any, _lf_name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call a method."""
    run = CONTROL.run
    owner = twin(_lf_owner)
    if run is None:
        if CONTROL.ending:
            too_late()
        function = twin(getattr(owner, _lf_name))
        keeping.call(function, args)
        return frames.called(function, args, kwargs)
    known = type(owner), _lf_name
    if known in run.methods and not shadows(owner, _lf_name):
        return getattr(owner, _lf_name)(*args, **kwargs)
    if isinstance(owner, effects.KINDS) and effects.built_in(owner, _lf_name):
        found = of_container(run, _lf_line, owner, _lf_name, getattr(owner, _lf_name), args, kwargs)
        _after(run, False)
        return found
    if answers(run, known[0]) or owner_of(owner, _lf_name) is not None or varies(run, owner, _lf_name):
        return call(_lf_line, get(owner, _lf_name, _lf_line), *args, **kwargs)
    if is_rewritten(*known) and run.constants.constant(_lf_name + CODE):
        run.methods.add(known)
    return call(_lf_line, getattr(owner, _lf_name), *args, **kwargs)


# facts ---------------------------------------------------------------------------------------------------------------


def is_rewritten(kind: type, name: str) -> bool:
    """Return whether a method of a class is rewritten, so that its call needs no more than to be made."""
    held = class_attribute(kind, name)
    if not isinstance(held, tuple) or not isinstance(held[1], types.FunctionType) or issubclass(kind, type):
        return False
    return id(held[1].__code__) in REWRITTEN and kind.__getattribute__ is object.__getattribute__


def code_of(function: Any) -> types.CodeType | None:
    """Return the code of a function or method in Python, None of one in C, and of locks, which stand for some in C."""
    if isinstance(function, types.MethodType):
        function = function.__func__
    if not isinstance(function, types.FunctionType) or (function.__module__ or "").startswith(_OURS):
        return None
    return function.__code__


def _iterates_itself(value: Any) -> bool:
    """Return whether the iteration of a value is code that is rewritten."""
    held = class_attribute(type(value), "__iter__")
    return isinstance(held, tuple) and isinstance(held[1], types.FunctionType) and id(held[1].__code__) in REWRITTEN


def _gets_on(run: Run, function: Any, in_python: bool, args: tuple[Any, ...]) -> bool:
    """Return whether a loop gets on by a call though nothing of that is seen: a generator's, a file's, the world's."""
    if isinstance(function, types.BuiltinMethodType):
        owner = function.__self__
        if isinstance(owner, types.ModuleType | None):
            module = function.__module__ or ""
            if function is next and args:
                return not _is_new(run, args[0])
            return module not in _PURE or function in _READING_THE_WORLD
        return isinstance(owner, _RESUMABLE)
    if in_python:
        return not touched.passes_on(function) and function.__module__ not in _PURE_IN_PYTHON
    return isinstance(function, types.MethodWrapperType) and isinstance(function.__self__, _RESUMABLE)


def _is_new(run: Run, iterator: Any) -> bool:
    """Return whether an iterator was made for this very call; an older one gets on by it.

    A generator that was not resumed before may still be older: that shows in the next round of the loop.
    """
    if isinstance(iterator, types.GeneratorType):
        new = id(iterator) not in run.resumed
        if new and run.current is not None:
            run.current.doubt = True
        return new
    return run.names.is_fresh(iterator)


def _resumed_by(function: Any, args: tuple[Any, ...]) -> Any:
    """Return the generator that a call resumes, None if it resumes none."""
    if isinstance(function, types.BuiltinMethodType | types.MethodWrapperType):
        if isinstance(function.__self__, types.GeneratorType):
            return function.__self__
        if function is next and args and isinstance(args[0], types.GeneratorType):
            return args[0]
    return None


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
    if run is None:
        keeping.made(value)
    elif run.current is not None:
        run.names.born(value, run.current.number)
    return value


CONTROL.call = call
