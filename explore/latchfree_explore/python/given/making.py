"""Making what the threads share: an exception of the maker is told as what it is, an error of the caller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from latchfree.extras import require
from latchfree_explore.python.library.fake_thread import StartedBefore
from latchfree_explore.python.verdicts import in_a_line


class CannotMake(ValueError):
    """There is no object to be explored: making it raised an exception."""


def made(make: Callable[[], Any]) -> Any:
    """Return an object.

    Raises
    ------
    CannotMake
        If making it raises an exception.
    """
    try:
        return make()
    except (StartedBefore, KeyboardInterrupt, require("greenlet", "explore").GreenletExit):
        raise
    except BaseException as error:  # also what pytest.skip raises
        name = getattr(make, "__qualname__", "the object")
        missing = isinstance(error, TypeError) and "missing" in str(error) and "argument" in str(error)
        fix = "; fix: give a function that makes one with its arguments" if missing else ""
        raise CannotMake(f"{name}() raised {in_a_line(error)}{fix}") from error


def set_up(setup: Callable[[], Any]) -> Any:
    """Return what a setup returns; its exceptions are the caller's, but for an exit, which would end the program.

    Raises
    ------
    CannotMake
        If it raises SystemExit.
    """
    try:
        return setup()
    except SystemExit as error:
        raise CannotMake(f"setup raised SystemExit({error.code!r}); fix: a setup that returns") from error
