"""What is given to the library in place of a function that would touch shared state unseen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Substitute:
    """Calls a function in a way that tells what it touches; equal to the function, with its attributes.

    Parameters
    ----------
    function : callable
        What the program gave.
    how : callable
        Calls the function, with arguments.
    """

    def __init__(self, function: Any, how: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self._how = how

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._how(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the function."""
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        """Return whether another function, or what stands for one, is equal."""
        same: bool = self.__wrapped__ == (other.__wrapped__ if isinstance(other, Substitute) else other)
        return same

    def __hash__(self) -> int:
        """Return the hash of the function."""
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        """Return the text of the function."""
        return repr(self.__wrapped__)
