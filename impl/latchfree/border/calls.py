"""Tables of calls, each made when it is first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from latchfree.border.builtins import SEVERAL, Definition, builtin, define
from latchfree.jit import aside, callback, is_varied, start
from latchfree.native.library import LATCHFREE


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


class Border:
    """The calls that a module declares; each is an attribute.

    Parameters
    ----------
    module : str
        The module's ``__name__``.
    calls : mapping of str to Call or Body
    """

    def __init__(self, module: str, calls: Mapping[str, Call | Body]) -> None:
        self.module = module
        self.calls = calls

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
        there = None if is_varied() else LATCHFREE.address(self.symbol(name))
        address = int(self.compiled(name).address) if there is None else there
        return define(name, address, call.passed if isinstance(call, Body) else SEVERAL)

    def symbol(self, name: str) -> str:
        """Return what a call is named in the library."""
        return f"{self.module.replace('.', '_')}__{name}"

    def compiled(self, name: str) -> Any:
        """Return a call compiled by numba."""
        return aside(lambda: self._compiled(name))

    def _compiled(self, name: str) -> Any:
        types, call = start().types, self.calls[name]
        word = types.uint64
        if isinstance(call, Body):
            given = (word, word, types.int64) if call.passed == SEVERAL else (word, word)
            return callback(word(*given), call.function)
        from latchfree.border.wrapper import wrapper

        file = str(sys.modules[self.module].__file__)
        return callback(word(word, word, types.int64), wrapper(name, self.module, file, call))
