"""Copies of what a call was given and what it returned, so that a later change is not taken for what was seen.

An object may return its live list, and change the list afterwards. A recorder that keeps the list judges the call by
what the list holds in the end; a recorder that keeps a copy judges it by what the caller saw.

A copy stands for its original in a judgement only if both are equal. So numbers, text and what cannot change are kept
as they are, built-in containers are copied item by item, an object without an equality of its own is kept (whatever
happens to it, it equals itself and nothing else), and the copy of any other object must equal it.
"""

from __future__ import annotations

import copy
import operator
from types import CoroutineType, EllipsisType, FunctionType, NoneType
from typing import Final

from latchfree_model import UNKNOWN

_ATOMS: Final = frozenset({
    int, str, NoneType, bool, float, bytes, complex, range, type, EllipsisType, FunctionType, type(UNKNOWN),
})  # fmt: skip
"""Kinds of values that cannot change."""


class CannotFreeze(TypeError):
    """A value was to be recorded that cannot be copied, or whose copy is another value."""


def frozen(value: object, what: str) -> object:
    """Return a value that stays as `value` is now: itself if it cannot change, else a copy of it and all it holds.

    Parameters
    ----------
    value : object
        What a call was given, or returned.
    what : str
        What to call the value in an error: ``"the result of snapshot()"``.

    Raises
    ------
    CannotFreeze
        A TypeError: if there is no copy of the value, or the copy does not equal it; the text names both.
    """
    if type(value) in _ATOMS:
        return value
    try:
        return _copied(value)
    except CannotFreeze as error:
        raise CannotFreeze(f"{what}, {_short(value)}: {error}") from None
    except RecursionError:
        raise CannotFreeze(f"{what}, {_short(value)}: it is nested too deeply to copy; {_FIX}") from None


def _copied(value: object) -> object:
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple:
        assert isinstance(value, tuple)
        if _ATOMS.issuperset(map(type, value)):
            return value
        items = tuple([_copied(item) for item in value])
        return value if all(map(operator.is_, items, value)) else items
    if kind is list or kind is set or kind is frozenset:
        assert isinstance(value, list | set | frozenset)
        now = value.copy()  # in one step, lest another thread change it on the way
        return now if _ATOMS.issuperset(map(type, now)) else kind([_copied(item) for item in now])
    if kind is dict:
        assert isinstance(value, dict)
        pairs = value.copy()
        if _ATOMS.issuperset(map(type, pairs)) and _ATOMS.issuperset(map(type, pairs.values())):
            return pairs
        return {_copied(key): _copied(item) for key, item in pairs.items()}
    return _other(value)


def _other(value: object) -> object:
    """Return the copy of an object of any other kind."""
    kind = type(value)
    if isinstance(value, CoroutineType):
        value.close()
        raise CannotFreeze("nobody awaited this coroutine; record what it returns: call.result = await ...")
    if kind.__eq__ is object.__eq__ and not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        return value
    try:
        now = copy.deepcopy(value)
    except RecursionError:
        raise
    except Exception as error:
        raise CannotFreeze(f"there is no copy of a {kind.__name__} ({error}); {_FIX}") from None
    if now is not value and not _equal(now, value):
        raise CannotFreeze(f"the copy of a {kind.__name__} does not equal it; {_FIX}")
    return now


_FIX: Final = "record what it stands for, such as list(...) or its number, or use Recorder(freeze=False)"


def _equal(one: object, other: object) -> bool:
    """Return whether a copy equals its original, as far as their kind can tell: arrays answer item by item."""
    try:
        return bool(one == other)
    except ValueError:
        return True
    except Exception as error:
        raise CannotFreeze(f"a {type(one).__name__} cannot be compared with its copy ({error}); {_FIX}") from None


def _short(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"a {type(value).__name__} without a repr ({error!r})"
    return text if len(text) <= 60 else f"{text[:57]}..."
