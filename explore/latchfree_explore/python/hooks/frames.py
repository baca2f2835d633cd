"""Functions that look at the frames of their callers: they are to see the program's frames, and no frames of hooks.

This module is never compiled. A function of the library that calls one of these itself sees the hooks.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import traceback
import types
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from latchfree_explore.python.core.places import OURS

_HOOKS: Final = "latchfree_explore.python.hooks."
_LOGGING: Final = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})


def called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function; if it looks at frames, with arguments that have it see those of the program."""
    plain = getattr(function, "__func__", function)
    special = _SPECIAL.get(id(plain))
    if special is not None:
        return special[1](function, args, kwargs)
    if isinstance(plain, types.FunctionType) and plain.__module__ == "logging" and plain.__name__ in _LOGGING:
        return function(*args, **{**kwargs, "stacklevel": _deep(kwargs.get("stacklevel", 1))})
    result = function(*args, **kwargs)
    if isinstance(result, type) or type(result).__module__ == "typing":
        _belongs(result)
    return result


def _belongs(made: Any) -> None:
    """Give a class, or a type variable, the module of the function that has made it."""
    if str(getattr(made, "__module__", "")).startswith(_HOOKS):
        with contextlib.suppress(AttributeError, TypeError):
            made.__module__ = _visible(0).f_globals.get("__name__", "__main__")


def _visible(depth: int) -> FrameType:
    """Return a frame of the program: that of the caller, or one further out."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(OURS):
            if depth <= 0:
                return frame
            depth -= 1
        frame = frame.f_back
    raise ValueError("call stack is not deep enough")


def _deep(level: int) -> int:
    """Return how many frames out, counted from `called`, the frame is that the program means."""
    if level < 1:
        return level
    frame: FrameType | None = sys._getframe(1)
    real = 0
    while frame is not None:
        real += 1
        if not frame.f_code.co_filename.startswith(OURS):
            level -= 1
            if level == 0:
                break
        frame = frame.f_back
    return real


def _getframe(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) > 1 or kwargs or (args and not isinstance(args[0], int)):
        return function(*args, **kwargs)
    return _visible(args[0] if args else 0)


def _currentframe(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs) if args or kwargs else _visible(0)


def _stack(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return [each for each in function(*args, **kwargs) if not each.filename.startswith(OURS)]


def _warn(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if len(args) > 2:
        return function(args[0], args[1], _deep(args[2]), *args[3:], **kwargs)
    return function(*args, **{**kwargs, "stacklevel": _deep(kwargs.get("stacklevel", 1))})


def _outwards(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args or kwargs.get("f") is not None:
        return function(*args, **kwargs)
    return function(**{**kwargs, "f": _visible(0)})


_SPECIAL: Final[dict[int, tuple[Any, Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]]]] = {
    id(function): (function, how)
    for function, how in (
        (sys._getframe, _getframe),
        (inspect.currentframe, _currentframe),
        (inspect.stack, _stack),
        (warnings.warn, _warn),
        (traceback.extract_stack, _outwards),
        (traceback.format_stack, _outwards),
        (traceback.print_stack, _outwards),
    )
}
