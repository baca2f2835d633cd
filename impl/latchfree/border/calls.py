"""Tables of calls, each made when it is first asked for.

What only compiling needs is imported when something is compiled: a program that uses a library pays nothing for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from latchfree.border.builtins import SEVERAL, Definition, builtin, define
from latchfree.errors import MissingExtra
from latchfree.jit import aside, is_varied, start
from latchfree.jit.lazy import variant_of
from latchfree.native.library import LATCHFREE, Library


class Call(NamedTuple):
    """A compiled function that Python calls with objects; a wrapper converts them.

    Attributes
    ----------
    kernel : callable
    arguments : tuple
        Kinds, see `latchfree.border.kinds`.
    result : str
        WORD, INT, FLAG, NONE or PAIR.
    nogil : bool
        Whether the kernel runs without the interpreter lock.
    """

    kernel: Callable[..., Any]
    arguments: tuple[Any, ...]
    result: str
    nogil: bool = False


class Body(NamedTuple):
    """A compiled function that is the body of a builtin itself.

    Attributes
    ----------
    function : callable
        Not compiled yet.
    passed : int
        How the interpreter passes arguments, see `latchfree.border.builtins`.
    """

    function: Callable[..., Any]
    passed: int


class Bare(NamedTuple):
    """A compiled function of words, which a slot of a type or other compiled code calls by its address.

    Attributes
    ----------
    function : callable
        Not compiled yet.
    words : int
        How many it takes; it returns one.
    """

    function: Callable[..., Any]
    words: int


def _has_compiler() -> bool:
    return find_spec("numba") is not None


class Border:
    """The calls that a module declares; each is an attribute.

    Parameters
    ----------
    module : str
        The module's ``__name__``.
    calls : mapping of str to Call, Body or Bare
    library : Library
        Where they are if they are compiled already.
    """

    def __init__(self, module: str, calls: Mapping[str, Call | Body | Bare], library: Library = LATCHFREE) -> None:
        self.module = module
        self.calls = calls
        self._library = library
        self._addresses: dict[str, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self.calls:
            raise AttributeError(f"{self.module} declares no call {name!r}")
        made = builtin(self.definition(name), None)
        self.__dict__[name] = made
        return made

    def prepare(self, *names: str) -> None:
        """Make some of the calls now: later there may be no descriptor left to load them, or no compiler."""
        for name in names:
            getattr(self, name)

    @cache  # noqa: B019 -- borders are never freed
    def definition(self, name: str) -> Definition:
        """Return the C description of a builtin."""
        call = self.calls[name]
        return define(name, self.address_of(name), call.passed if isinstance(call, Body) else SEVERAL)

    def address_of(self, name: str) -> int:
        """Return where a call is; one that is not in the library is compiled now."""
        there = self.ready(name)
        if there is None:
            there = self._addresses[name] = aside(lambda: self._made(name))
        return there

    def ready(self, name: str) -> int | None:
        """Return where a call is, None if it is neither in the library nor has been compiled in this process."""
        there = self._addresses.get(name)
        if there is None:
            there = self._address(name)
            if there is not None:
                self._addresses[name] = there
        return there

    def is_there(self, name: str) -> bool:
        """Return whether a call can be made without compiling: it was made, or is in the library or on disk."""
        return (
            name in self.__dict__
            or self.ready(name) is not None
            or (_has_compiler() and aside(lambda: self._is_kept(name)))
        )

    def symbol(self, name: str) -> str:
        """Return what a call is named in the library."""
        return f"{self.module.replace('.', '_')}__{name}"

    def lowered(self, name: str) -> Any:
        """Return a call as numba lowers it, see `latchfree.jit.lowering.lower`."""
        types, call = start().types, self.calls[name]
        from latchfree.jit.lowering import lower

        word = types.uint64
        if isinstance(call, Bare):
            return lower(word(*[word] * call.words), call.function)
        if isinstance(call, Body):
            given = (word, word, types.int64) if call.passed == SEVERAL else (word, word)
            return lower(word(*given), call.function)
        from latchfree.border.wrapper import wrapper

        return lower(word(word, word, types.int64), wrapper(name, self.module, str(self._file), call))

    def _address(self, name: str) -> int | None:
        """Return where a call is in the library, None if it is not or this process patches kernels of the package."""
        return None if self._is_varied() else self._library.address(self.symbol(name))

    def _made(self, name: str) -> int:
        """Return the address of a call that is not in the library: kept on disk, or compiled now.

        Raises
        ------
        MissingExtra
            If there is no compiler.
        """
        if not _has_compiler():
            raise MissingExtra("numba", "jit")
        why = "this process changes compiled code" if self._is_varied() else self._library.why
        with_words = f"{self.module.split('.')[-2:][0]} {name}"

        from latchfree.native import kept
        from latchfree.native.saying import said

        def make() -> Any:
            with said(with_words, why):
                return self.lowered(name)

        return kept.address(self._folder(name), self.symbol(name), make)

    def _is_varied(self) -> bool:
        return is_varied(self.module.partition(".")[0])

    def _is_kept(self, name: str) -> bool:
        from latchfree.native import kept

        return kept.is_kept(self._folder(name), self.symbol(name))

    @property
    def _file(self) -> Path:
        return Path(str(sys.modules[self.module].__file__))

    def _folder(self, name: str) -> Path | None:
        from latchfree.jit.folders import folder_of
        from latchfree.native import kept

        call = self.calls[name]
        if isinstance(call, Body | Bare):
            module, file = call.function.__module__, Path(call.function.__code__.co_filename)
        else:
            module, file = self.module, self._file
        return folder_of(module, file, kept.toolchain(), variant_of(module))
