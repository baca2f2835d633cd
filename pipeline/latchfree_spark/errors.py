"""The errors of outputs that cannot be, and of clusters that are not as a job needs them; those of Spark, in a line.

Whatever raises a `ClusterError` publishes nothing, and exits with 70.
"""

from __future__ import annotations

import re
from typing import Final

from latchfree.errors import LatchfreeError

_RAISED: Final = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)")
"""A traceback of Python, and the line that ends it."""
_THROWN: Final = re.compile(r"(?:: |py4j\.Py4JException: )(.+)")


def in_a_line(error: Exception) -> str:
    """Return what an error of Spark's says, in one line: that of Python or Java, not the call that met it."""
    text = str(error).strip()
    first, _, rest = text.partition("\n")
    python = _RAISED.findall(text)
    if python:
        return str(python[-1]).strip()
    java = _THROWN.match(rest)
    return java[1].strip() if java and first.startswith("An error occurred while calling") else first or repr(error)


class ClusterError(LatchfreeError, RuntimeError):
    """The machines of a cluster did not do what the job relies on; the message names them and the way out."""


class NotShared(ClusterError):
    """An executor does not see the folder or the files that the driver sees."""


class RowsLost(ClusterError):
    """Fewer or more rows can be read than were written: some are on a disk that the driver does not see."""


class SparkTooOld(LatchfreeError, RuntimeError):
    """Spark lacks what was asked for; the message has its version, the one that is needed, and the command for it."""


class BadOutput(LatchfreeError, ValueError):
    """Nothing can be published at an address; the message says why."""


class OutputExists(LatchfreeError, FileExistsError):
    """The output exists already, or belongs to another job; the job left it unchanged."""


def refuse_counts(most: int, **counts: int | None) -> None:
    """Raise TypeError or ValueError for a count that is no whole number from 1 to `most`; None is no count."""
    for name, count in counts.items():
        if count is None:
            continue
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"{name} must be a whole number, not {count!r}")
        if not 0 < count <= most:
            raise ValueError(f"{name} must be from 1 to {most:,}, not {count:,}")
