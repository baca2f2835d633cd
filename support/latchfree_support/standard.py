"""Standard input, which a program may have been started without."""

from __future__ import annotations

import errno
import sys
from typing import TextIO


def standard_input() -> TextIO:
    """Return standard input.

    Raises
    ------
    OSError
        If it is closed: Python has none then.
    """
    if sys.stdin is None:
        raise OSError(errno.EBADF, "standard input is closed", "-")
    return sys.stdin
