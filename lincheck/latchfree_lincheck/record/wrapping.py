"""Record the calls of a client's methods, without a change where they are called.

`@operation` marks a method as an operation. Inside ``with recording(recorder, process):`` each call of the method is
recorded; elsewhere the method is what it was. Which recorder and which process is a context variable, so threads and
asyncio tasks have their own. An operation that calls another one is recorded alone.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, overload

from latchfree_lincheck.record.shared import SharedRecorder

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class _Place:
    recorder: SharedRecorder
    process: int | str
    object: str | None


_place: ContextVar[_Place | None] = ContextVar("latchfree_recording", default=None)


@contextmanager
def recording(recorder: SharedRecorder, process: int | str, *, object: str | None = None) -> Iterator[None]:
    """Record the operations that this thread or task calls in the block.

    Parameters
    ----------
    recorder : SharedRecorder
        Where to.
    process : int or str
        Who calls. Tasks that call at the same time need blocks, and names, of their own.
    object : str, optional
        Which object is called, when there are several.
    """
    token = _place.set(_Place(recorder, process, object))
    try:
        yield
    finally:
        _place.reset(token)


@overload
def operation(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def operation(
    *, name: str | None = None, definite: tuple[type[BaseException], ...] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def operation(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    definite: tuple[type[BaseException], ...] = (),
) -> Any:
    """Make a method, or a function, an operation: plain, or a coroutine function.

    Its arguments are those of the operation, but for `self` and keyword-only parameters (such as a time-out).

    Parameters
    ----------
    function : callable, optional
        The method or function; without it a decorator is returned.
    name : str, optional
        The operation's name in the model; the function's if not given.
    definite : tuple of exception types
        Errors after which the operation has certainly not taken effect; see `SharedRecorder.call`.

    Raises
    ------
    TypeError
        If the function is a generator: a call of it does nothing yet.

    Examples
    --------
    >>> class Register:
    ...     value = None
    ...     @operation
    ...     def write(self, value): self.value = value
    >>> with SharedRecorder() as recorder:
    ...     with recording(recorder, process=0):
    ...         Register().write(5)
    ...     print(recorder.history("demo").operations[0])
    process 0: write(5) -> None, from 0 to 1
    """
    if function is None:
        return lambda wrapped: _wrapped(wrapped, name or wrapped.__name__, definite)
    return _wrapped(function, function.__name__, definite)


def _wrapped(function: Callable[..., Any], f: str, definite: tuple[type[BaseException], ...]) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"{f} is a generator: its call does nothing yet; make an operation of a function that returns")
    arguments = _arguments_of(function)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def later(*given: Any, **named: Any) -> Any:
            place = _place.get()
            if place is None:
                return await function(*given, **named)
            taken = arguments(given, named)
            with place.recorder.call(place.process, f, *taken, object=place.object, definite=definite) as call:
                token = _place.set(None)
                try:
                    call.result = result = await function(*given, **named)
                finally:
                    _place.reset(token)
            return result

        return later

    @functools.wraps(function)
    def now(*given: Any, **named: Any) -> Any:
        place = _place.get()
        if place is None:
            return function(*given, **named)
        taken = arguments(given, named)
        with place.recorder.call(place.process, f, *taken, object=place.object, definite=definite) as call:
            token = _place.set(None)
            try:
                call.result = result = function(*given, **named)
            finally:
                _place.reset(token)
        return result

    return now


def _arguments_of(function: Callable[..., Any]) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]:
    """Return what tells an operation's arguments from those of a call: without `self` and keyword-only ones."""
    signature = inspect.signature(function)
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    places = [n for n, kind in kinds.items() if kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)]
    more = next((n for n, kind in kinds.items() if kind is kind.VAR_POSITIONAL), "")

    def arguments(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        bound = signature.bind(*given, **named)
        last = max((at for at, name in enumerate(places) if name in bound.arguments), default=-1)
        bound.apply_defaults()  # a default that stands before an argument given by name is an argument, too
        taken = [bound.arguments[name] for name in places[: last + 1] if name != "self"]
        return (*taken, *bound.arguments.get(more, ()))

    return arguments
