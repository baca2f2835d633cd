"""Have functions that exist run rewritten code for a while: their ``__code__`` is exchanged, and put back.

Classes stay the objects that they are, closures and defaults keep their values. Everything that changes is listed
while it changes, so that an exception or Ctrl-C in between leaves nothing behind.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import types
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from latchfree_explore.python.core.names import reachable
from latchfree_explore.python.core.run import CONTROL
from latchfree_explore.python.core.undo import Undo
from latchfree_explore.python.facts.whole import REWRITTEN
from latchfree_explore.python.hooks import caches
from latchfree_explore.python.library.twins import is_instance, twin
from latchfree_explore.python.rewriting.codes import is_of_hooks, nested, of_module
from latchfree_explore.python.rewriting.fitting import fits
from latchfree_explore.python.rewriting.heap import HEAP, made_since
from latchfree_explore.python.rewriting.unreadable import is_left_behind, stand_in

_LIBRARY: Final = tuple(
    str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


class CannotControl(RuntimeError):
    """A program cannot be explored: the message names the part that is out of control."""


class Instrumented:
    """A context in which the functions of some modules are rewritten.

    Parameters
    ----------
    roots : list
        Functions, classes and objects of the program; the modules of what they reach are rewritten, but for the
        standard library, installed packages and this one.
    include : tuple of str
        Installed packages, or modules, to be rewritten as well.
    imported : sequence of str
        Modules that the program has imported while it ran.
    variables : collection of str
        Variables that are written from outside their module, as ``module.name``.

    Raises
    ------
    CannotControl
        If the source of a function is not what it was.
    """

    def __init__(
        self,
        roots: list[Any],
        include: tuple[str, ...] = (),
        imported: Sequence[str] = (),
        variables: Collection[str] = (),
    ) -> None:
        self._include = include
        self._variables = variables
        self._namespaces = {id(space): space for space in self._spaces(roots, imported)}
        self._restore: list[Callable[[], object]] = []
        self._originals: dict[int, types.CodeType] = {}
        self._mark: list[Any] = []
        self._instances: list[tuple[dict[str, Any], str, Any]] = []
        self._caches: list[Any] = []  # of calls of the program's functions

    # which modules ---------------------------------------------------------------------------------------------------

    def _spaces(self, roots: list[Any], imported: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the namespaces of the modules that a program reaches."""
        waiting: list[str] = list(imported)
        seen: set[str] = set()
        functions: list[types.FunctionType] = []
        for root in roots:
            if isinstance(root, type):
                waiting += _modules_of(root)
                functions += _methods_of(root)
        for value in reachable(roots):
            functions += _functions_of(value)
            waiting += [value.__module__] if isinstance(value, types.FunctionType) else _modules_of(type(value))
        for function in functions:
            if self.is_own(function.__globals__.get("__name__") or ""):  # a wrapper says another `__module__`
                yield function.__globals__
        while waiting:
            name = waiting.pop()
            module = sys.modules.get(name)
            if name in seen or module is None or not self.is_own(name):
                continue
            seen.add(name)
            yield vars(module)
            for value in list(vars(module).values()):
                if isinstance(value, types.ModuleType):
                    waiting.append(value.__name__)
                elif isinstance(value, type):
                    waiting += _modules_of(value)
                elif isinstance(getattr(value, "__module__", None), str):
                    waiting.append(value.__module__)

    def covers(self, other: Instrumented) -> bool:
        """Return whether all modules of another one are among those of this one."""
        return other._namespaces.keys() <= self._namespaces.keys()

    def is_own(self, name: str) -> bool:
        """Return whether a module is the caller's: not of the library, not installed, not ours."""
        if any(name == each or name.startswith(each + ".") for each in self._include):
            return True
        if name.partition(".")[0].startswith("latchfree"):
            return False
        if name == "__main__" or name not in sys.modules:
            return True
        file = getattr(sys.modules.get(name), "__file__", None)
        return file is not None and not _is_of_a_package(file, "" if file.startswith(os.sep) else str(Path.cwd()))

    def has_variable(self, name: str) -> bool:
        """Return whether a variable, as ``module.name``, is one of a module whose functions are rewritten."""
        module = name.rpartition(".")[0]
        return any(space.get("__name__") == module for space in self._namespaces.values())

    # in and out ------------------------------------------------------------------------------------------------------

    def __enter__(self) -> Instrumented:
        self._mark = []
        try:
            self._exchange()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._put_back_what_was_made()
        for restore in reversed(self._restore):
            restore()
        self._restore.clear()
        CONTROL.namespaces = []
        self._instances.clear()
        self._caches.clear()
        caches.OLDER.clear()
        self._originals.clear()

    def _put_back_what_was_made(self) -> None:
        """Give functions that rewritten functions have made, and somebody has kept, the code that they would have.

        What was made is as young as the mark, or younger.
        """
        if not self._originals:
            return
        for value in made_since(self._mark, types.FunctionType):
            if id(value.__code__) in self._originals:
                value.__code__ = self._originals[id(value.__code__)]

    def place_twins(self, undo: Undo) -> None:
        """Put fresh twins of locks and queues in the variables of modules, until the run is undone; empty caches."""
        for space, name, value in self._instances:
            undo.item(space, name)
            space[name] = twin(value)
        for cache in self._caches:
            cache.cache_clear()
            undo.restore(cache.cache_clear)

    def _exchange(self) -> None:
        functions: dict[str, list[types.FunctionType]] = defaultdict(list)
        names = {space.get("__name__") for space in self._namespaces.values()}
        found = HEAP.look(self._namespaces)
        for function in found.functions:
            if not is_of_hooks(function.__code__):
                functions[function.__code__.co_filename].append(function)
        classes = [cls for cls in found.classes if cls.__module__ in names]
        self._caches += [cache for cache in found.caches if caches.found(cache, self._namespaces)]
        left = {id(each) for cls in classes for each in _asked_by_all(cls)}
        CONTROL.namespaces = list(self._namespaces.values())
        for space in self._namespaces.values():  # before the code that uses them, so they are put back after it
            self._exchange_names(space)
        for file, group in functions.items():
            self._exchange_code(file, [each for each in group if id(each) not in left])
        for cls in classes:
            self._exchange_bases(cls)

    def _exchange_code(self, file: str, functions: list[types.FunctionType]) -> None:
        linecache.checkcache(file)
        lines = linecache.getlines(file)
        if not lines:
            for function in functions:  # methods that `exec` made, as those of a dataclass, stay
                if not (function.__name__.startswith("__") and function.__name__.endswith("__")):
                    why = f"{function.__qualname__} has no source to be rewritten ({file}); fix: put it into a file"
                    self._assign(function, stand_in(function, why))
            return
        modules = {function.__globals__.get("__name__") for function in functions}
        outside = [each.rpartition(".") for each in self._variables]
        shared = frozenset(name for module, _, name in outside if module in modules)
        try:
            old, new = of_module("".join(lines), file, shared)
        except SyntaxError as error:
            where = f"{file}:{error.lineno}"
            raise CannotControl(f"{where}: {error.msg}; fix: was the file changed after it was imported?") from None
        for key, codes in new.items():
            self._originals.update((id(a), b) for a, b in zip(codes, old.get(key, ()), strict=False))
        for function in functions:
            code = function.__code__
            key = code.co_qualname, code.co_firstlineno
            candidates = new.get(key, [])
            at = 0
            if len(candidates) > 1:
                at = next((k for k, each in enumerate(old[key]) if each == code), 0)
            shaped = candidates and candidates[at].co_freevars == code.co_freevars
            if shaped and (at >= len(old.get(key, ())) or fits(function, old[key][at])):
                self._assign(function, candidates[at])
                continue
            why = (
                f"{code.co_qualname} at {file}:{code.co_firstlineno}: the source does not fit the function; "
                "fix: was the file changed after it was imported?"
            )
            if not is_left_behind(function):
                raise CannotControl(why)
            self._assign(function, stand_in(function, why))

    def _assign(self, function: types.FunctionType, code: types.CodeType) -> None:
        old = self._originals.get(id(function.__code__), function.__code__)
        inner = list(nested(code))

        def restore() -> None:
            function.__code__ = old
            for each in inner:
                REWRITTEN.pop(id(each), None)

        self._restore.append(restore)
        function.__code__ = code
        REWRITTEN.update((id(each), each) for each in inner)

    def _exchange_names(self, space: dict[str, Any]) -> None:
        for name, value in list(space.items()):
            if is_instance(value):
                self._instances.append((space, name, value))
            elif not name.startswith("__") and (new := twin(value)) is not value:
                self._restore.append(lambda name=name, value=value: space.__setitem__(name, value))  # type: ignore[misc]
                space[name] = new

    def _exchange_bases(self, cls: type) -> None:
        old = cls.__bases__
        new = tuple(twin(each) for each in old)
        if all(a is b for a, b in zip(old, new, strict=True)):
            return

        def assign(bases: tuple[type, ...]) -> None:
            cls.__bases__ = bases

        try:
            assign(new)
        except TypeError as error:
            raise CannotControl(f"{cls.__qualname__} cannot stand on controlled classes: {error}") from None
        self._restore.append(lambda: assign(old))


def is_installed(file: str) -> bool:
    """Return whether a file is of the standard library or of an installed package, also if ``pip -t`` put it there."""
    return file.startswith(_LIBRARY) or any(map(_holds_packages, Path(file).parents))


@lru_cache(maxsize=4096)
def _is_of_a_package(file: str, folder: str) -> bool:
    """Return whether a module's file is installed; a file that is not told in full is told from a folder."""
    return is_installed(str(Path(folder, file).resolve()))


@lru_cache(maxsize=1024)
def _holds_packages(folder: Path) -> bool:
    return any(folder.glob("*.dist-info"))


def _asked_by_all(cls: type) -> Iterator[Any]:
    """Yield the functions of a class that are asked whatever is done to an object: the hooks ask them as well.

    They stay as they are, so what they read is no step.
    """
    held = vars(cls).get("__class__")
    yield vars(cls).get("__getattribute__")
    if isinstance(held, property):
        yield held.fget


def _functions_of(value: Any) -> Iterator[types.FunctionType]:
    """Yield a function, or the functions of an object's class."""
    if isinstance(value, types.FunctionType):
        yield value
        return
    yield from _methods_of(type(value))


def _methods_of(kind: type) -> Iterator[types.FunctionType]:
    for cls in kind.__mro__:
        yield from (each for each in vars(cls).values() if isinstance(each, types.FunctionType))


def _modules_of(cls: type) -> list[str]:
    return [each.__module__ for each in cls.__mro__]
