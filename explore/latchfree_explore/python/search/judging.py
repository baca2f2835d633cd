"""Name the call whose result cannot be judged: comparing values, and their texts, is code of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from latchfree_explore.python.rewriting.instrument import CannotControl
from latchfree_explore.python.verdicts import in_a_line


@contextmanager
def judging(calls: Sequence[tuple[str, tuple[Any, ...], Any]]) -> Iterator[None]:
    """Have errors of the values of calls name the call.

    Parameters
    ----------
    calls : sequence of (str, tuple, object)
        Operation, arguments and result of each call.

    Raises
    ------
    CannotControl
        If a result cannot be compared or told.
    """
    try:
        yield
    except CannotControl:
        raise
    except Exception as error:
        names = next(([_named(call)] for call in calls if _fails(call[2])), [_named(call) for call in calls])
        raise CannotControl(
            f"the result of {' or '.join(dict.fromkeys(names))} cannot be judged: {in_a_line(error)}; "
            "fix: methods= with a function that returns what can be compared and printed"
        ) from error


def _named(call: tuple[str, tuple[Any, ...], Any]) -> str:
    return f"{call[0]}({', '.join(map(repr, call[1]))})"


def _fails(value: Any) -> bool:
    """Return whether a value cannot be compared or told."""
    try:
        repr(value)
        bool(value == value)
        bool(value == None)  # noqa: E711
    except Exception:
        return True
    return False
