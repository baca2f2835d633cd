"""What makes an object, and which methods the object has.

Those of a class are known. A function is called once, in a schedule of its own: what it starts ends with the schedule.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from latchfree_explore.python.code import Code
from latchfree_explore.python.given.arguments import require_arguments
from latchfree_explore.python.given.making import CannotMake, made
from latchfree_explore.python.program import Machine, Threads
from latchfree_explore.python.search.strategies import Fixed

Methods: TypeAlias = Mapping[str, str | Callable[..., Any]]


@dataclass(frozen=True)
class Owner:
    """What the calls of a scenario are made on.

    Attributes
    ----------
    name : str
        Of the class, or of the function that makes the object.
    it : object
        The class, or an object; None if nothing is known of the object.
    in_a_loop : bool
        Whether the object can only be made by a coroutine, or while an event loop runs.
    """

    name: str
    it: Any = None
    in_a_loop: bool = False

    def has(self, f: str, methods: Methods) -> bool:
        """Return whether there is a method for an operation, as far as is known."""
        chosen = methods.get(f, f)
        if not isinstance(chosen, str) or self.it is None:
            return True
        return hasattr(self.it, chosen) or hasattr(self.it, "__getattr__")

    def is_coroutine(self, f: str, methods: Methods) -> bool:
        """Return whether the method for an operation is a coroutine function."""
        chosen = methods.get(f, f)
        return inspect.iscoroutinefunction(getattr(self.it, chosen, None) if isinstance(chosen, str) else chosen)

    def require_arguments(self, f: str, arguments: tuple[Any, ...], methods: Methods) -> None:
        """Raise ValueError if the method for an operation cannot be called with some arguments."""
        chosen = methods.get(f, f)
        if not isinstance(chosen, str):
            require_arguments(f"the method for {f!r}", chosen, self.it, *arguments)
        elif self.it is not None:
            held = inspect.getattr_static(self.it, chosen, None)
            if inspect.isfunction(held):
                require_arguments(f"{self.name}: the method {chosen!r}", held, self.it, *arguments)


class _Making(Threads):
    """A thread that makes an object."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.found: list[Any] = []
        self.error: CannotMake | None = None
        super().__init__([self._thread_that_makes])
        self._make = make

    def _thread_that_makes(self) -> None:
        try:
            self.found.append(made(self._make))
        except CannotMake as error:
            self.error = error

    def roots(self) -> list[Any]:
        """Return what makes the object."""
        return [self._make]


def owner_of(make: Callable[[], Any], code: Code | None = None) -> Owner:
    """Return what the calls will be made on.

    Parameters
    ----------
    make : callable
        A class, or a function.
    code : Code, optional
        What is rewritten at present.

    Raises
    ------
    CannotMake
        If the function raises an exception.
    """
    name = getattr(make, "__qualname__", "the object")
    if isinstance(make, type):
        return Owner(name, make)
    if inspect.iscoroutinefunction(make):
        return Owner(name, in_a_loop=True)
    making = _Making(make)
    machine = Machine(making, polls=False, code=code)
    with machine.ready():
        machine.execute(Fixed([]))
    found = making.found
    if not found:
        error = making.error
        if error is not None:
            cause = error.__cause__
            if isinstance(cause, RuntimeError) and "event loop" in str(cause):
                return Owner(name, _annotated(make), in_a_loop=True)
            raise error
        return Owner(name, _annotated(make))
    if inspect.iscoroutine(found[0]):
        found[0].close()
        return Owner(name, in_a_loop=True)
    return Owner(name, found[0])


def _annotated(make: Callable[[], Any]) -> type | None:
    """Return the class that a function says to return, if it does."""
    returned = inspect.get_annotations(make).get("return") if inspect.isfunction(make) else None
    return returned if isinstance(returned, type) else None
