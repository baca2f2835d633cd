"""The code under proof: the Python functions that numba compiles, run on symbolic words instead.

A compiled function keeps its Python function. That function is given other globals here: numbers become symbolic words,
atomic instructions become functions on symbolic words, and every compiled function that it calls is treated the same
way. The code itself is not rewritten. So a proof is about the very source that is compiled; it does not cover numba and
the machine.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from latchfree_evidence.symbolic.words import Word


@dataclass(frozen=True, slots=True)
class Twin:
    """A wrong version of a function: its source with one piece of text replaced.

    Attributes
    ----------
    function : callable
        The compiled function.
    old, new : str
        What is replaced, which must be there exactly once, and by what.
    says : str
        What is wrong then.
    """

    function: Callable[..., Any]
    old: str
    new: str
    says: str

    def python(self) -> FunctionType:
        """Return the wrong version.

        Raises
        ------
        ValueError
            If the text is not in the source exactly once: the function has changed.
        """
        original = _python(self.function)
        source = textwrap.dedent(inspect.getsource(original))
        source = source[source.index("def ") :]
        if source.count(self.old) != 1:
            raise ValueError(f"{original.__qualname__} has {self.old!r} {source.count(self.old)} times, expected once")
        made: dict[str, FunctionType] = {}
        exec(source.replace(self.old, self.new), dict(original.__globals__), made)  # its own source, but for the edit
        return made[original.__name__]


class Code:
    """Functions of compiled code, made to run on symbolic words.

    Parameters
    ----------
    meaning : mapping
        What takes the place of some functions, by name: those that exist in compiled code alone, and those that the
        proof abstracts from.
    twin : Twin, optional
        A wrong version to use instead of the real function.
    """

    def __init__(self, meaning: Mapping[str, Callable[..., Any]], twin: Twin | None = None) -> None:
        self._meaning = dict(meaning)
        self._twin = twin
        self._made: dict[FunctionType, FunctionType] = {}
        self._reached: dict[FunctionType, None] = {}
        self._numpy = SimpleNamespace(uint64=Word)

    def abstracting(self, **meaning: Callable[..., Any]) -> Code:
        """Return the same code with more functions replaced."""
        other = Code({**self._meaning, **meaning}, self._twin)
        other._reached = self._reached
        return other

    def reached(self) -> list[FunctionType]:
        """Return the real functions that were run so far, also by what `abstracting` has returned."""
        return list(self._reached)

    def __getitem__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function on symbolic words."""
        python = _python(function)
        if python not in self._made:
            twisted = self._twin is not None and _python(self._twin.function) is python
            source = self._twin.python() if self._twin is not None and twisted else python
            if not twisted:
                self._reached[python] = None
            scope: dict[str, Any] = {"__builtins__": {"range": range, "min": _least, "max": _greatest}}
            self._made[python] = FunctionType(source.__code__, scope, python.__name__)
            for name in source.__code__.co_names:
                if name in python.__globals__:
                    scope[name] = self._meaning_of(name, python.__globals__[name])
        return self._made[python]

    def _meaning_of(self, name: str, thing: Any) -> Any:
        if name in self._meaning:
            return self._meaning[name]
        if thing is np:
            return self._numpy
        if isinstance(thing, np.unsignedinteger | int) and not isinstance(thing, bool):
            return Word(thing)
        if callable(thing):
            return self[thing]
        raise TypeError(f"nothing is known of {name!r} on symbolic words")


def _python(function: Callable[..., Any]) -> FunctionType:
    python = getattr(function, "py_func", function)
    if not isinstance(python, FunctionType):
        raise TypeError(f"{function!r} is no compiled function")
    return python


def _least(a: Any, b: Any) -> Any:
    return a if bool(Word(a) <= b) else b


def _greatest(a: Any, b: Any) -> Any:
    return a if bool(Word(a) >= b) else b
