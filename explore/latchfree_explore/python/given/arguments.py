"""Arguments of an exploration: numbers, names and functions, refused by name where they make no sense."""

from __future__ import annotations

import importlib.util
import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final, SupportsIndex


def require_callable(name: str, given: object) -> None:
    """Raise TypeError unless what was given as `name` can be called."""
    if not callable(given):
        raise TypeError(f"{name} must be a function, got {type(given).__name__}")


def require_function(name: str, given: object) -> None:
    """Raise TypeError unless what was given as `name` is a function that has done its work when it returns."""
    require_callable(name, given)
    function = given.func if isinstance(given, partial) else given
    for what, asks in _LATER.items():
        if asks(function):
            fix = "; fix: explore_async" if what == "coroutine" else ""
            raise TypeError(f"{name} must be an ordinary function, got a {what} function, whose call does nothing{fix}")


def require_arguments(name: str, function: Callable[..., object], *given: object) -> None:
    """Raise ValueError if a function cannot be called with some arguments, as far as it says what it takes."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # functions in C need not say it
        return
    try:
        signature.bind(*given)
    except TypeError as error:
        called = getattr(function, "__qualname__", type(function).__name__)
        raise ValueError(
            f"{name} is called with {len(given)} argument(s), but {called}{signature} takes others: {error}; "
            "fix: a function of these arguments"
        ) from None


_LATER: Final[dict[str, Callable[[object], bool]]] = {
    "coroutine": inspect.iscoroutinefunction,
    "generator": inspect.isgeneratorfunction,
    "asynchronous generator": inspect.isasyncgenfunction,
}


def seconds(name: str, given: float | None) -> float | None:
    """Return what was given as `name` as a number of seconds, None for no limit.

    Raises
    ------
    TypeError, ValueError
        If it is no number, or not above 0.
    """
    if given is None:
        return None
    if isinstance(given, str | bytes | bool) or not hasattr(given, "__float__"):
        raise TypeError(f"{name} must be a number of seconds, got {type(given).__name__}")
    try:
        number = float(given)
    except OverflowError:
        raise ValueError(f"{name} is more seconds than a float can be; fix: None for no limit") from None
    if not number > 0:
        raise ValueError(f"{name} must be above 0 seconds, got {number:g}")
    return number


def packages(include: Sequence[str]) -> tuple[str, ...]:
    """Return the names of packages that were given to be included.

    Raises
    ------
    TypeError, ValueError
        If it is no sequence of names, or there is no such package.
    """
    if isinstance(include, str | bytes) or not isinstance(include, Iterable):
        raise TypeError(f"include must be a sequence of names of packages, got {include!r}")
    names = tuple(include)
    for each in names:
        if not isinstance(each, str):
            raise TypeError(f"include must be a sequence of names of packages, got {each!r} in it")
        top = each.partition(".")[0]
        if top.startswith("latchfree"):
            raise ValueError(
                f"include: {each} is the explorer's own, whose steps cannot be explored; fix: leave it out"
            )
        if top in _CONTROLLED:
            raise ValueError(f"include: {each} is under control as it is, its accesses are steps; fix: leave it out")
        if not _is_there(each):
            raise ValueError(f"include: there is no package {each!r}")
    return names


_CONTROLLED: Final = ("threading", "queue", "asyncio", "concurrent", "_thread")


def _is_there(name: str) -> bool:
    """Return whether there is a module of a name."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def whole(name: str, given: SupportsIndex, least: int | None = None) -> int:
    """Return what was given as `name` as a number of `int`: code of the argument's class runs here, and not later.

    Raises
    ------
    TypeError, ValueError
        If it is no whole number, or less than `least`.
    """
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, got {type(given).__name__}") from None
    if least is not None and number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number
