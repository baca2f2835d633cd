"""Whether a function is what the source of its module says now: a file may have been edited since it was imported.

Only code that was compiled from the file as it is can be compared. Other loaders change it first, as that of pytest
does with assertions.
"""

from __future__ import annotations

import types
from importlib.machinery import SourceFileLoader
from typing import Any


def fits(function: types.FunctionType, code: types.CodeType) -> bool:
    """Return whether a function does what the code of its name and line does, as far as that can be told."""
    own = function.__code__
    if own == code or type(function.__globals__.get("__loader__")) is not SourceFileLoader:
        return True
    return _same(own, code)


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    """Compare what two functions do: flags that a decorator sets, and columns that an option leaves out, may differ."""
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_same_constant, one.co_consts, other.co_consts))
    )


def _same_constant(one: Any, other: Any) -> bool:
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return _same(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_same_constant, one, other))
    if isinstance(one, frozenset):
        return {(type(each), each) for each in one} == {(type(each), each) for each in other}
    return one is other or repr(one) == repr(other)
