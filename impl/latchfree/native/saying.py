"""Say on a terminal that something is being compiled, while it is: it takes seconds, once for a machine.

Example: ``latchfree: compiling ctrie put, once for this machine (the library was not built) ■■■ 3``. The line goes when
the work is done.
``LATCHFREE_QUIET=1`` leaves it out.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Final

#: Set to anything: nothing is said.
QUIET: Final = "LATCHFREE_QUIET"

_WIDEST: Final = 40
_numbers: Final = count(1)


def line(name: str, why: str, number: int) -> str:
    """Return what is said of the function of a number that this process compiles."""
    bar = "■" * min(number, _WIDEST)
    return f"latchfree: compiling {name}, once for this machine ({why}) {bar} {number}"


@contextmanager
def said(name: str, why: str) -> Iterator[None]:
    """Say so while the block runs, if standard error is a terminal."""
    number = next(_numbers)
    shown = not os.environ.get(QUIET) and _write("\r\x1b[K" + line(name, why, number))
    try:
        yield
    finally:
        if shown:
            _write("\r\x1b[K")


def _write(text: str) -> bool:
    """Write to standard error if it is a terminal; return whether it was possible."""
    with suppress(Exception):  # closed, replaced by anything, or of an encoding without the bar
        if sys.stderr is not None and sys.stderr.isatty():
            sys.stderr.write(text)
            sys.stderr.flush()
            return True
    return False
