"""Lines of a file while it grows, or of a pipe.

Of a file, what is there is read, then what is added, for ever. A file that becomes shorter, that has other bytes where
some were read, or whose name leads to another file, is not the history that was begun, and is refused. A pipe ends when
nobody writes into it any more; a part of a line that stands in it before, when the reader is told to stop, is no line.
"""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from latchfree_support.standard import standard_input

POLL: Final = 0.05
"""Seconds between two looks at a file that does not grow."""

LONGEST: Final = 1 << 24
"""The most bytes of a line."""

_CHUNK: Final = 1 << 16
_KNOWN: Final = 1 << 10
"""How many bytes of the beginning and of the end of what was read are looked at again."""


class NotTheSameFile(ValueError):
    """A file that was followed has been replaced, or made shorter."""


def lines(path: str, over: Callable[[], bool] = lambda: False) -> Iterator[bytes | None]:
    """Yield each line of a file when it is complete, and None when it is open, and when there is no line for now.

    Parameters
    ----------
    path : str
        The file, a named pipe, or ``-`` for standard input.
    over : callable
        Whether to stop; asked before each read, so what was read is yielded to its end.

    Raises
    ------
    NotTheSameFile
        A ValueError: if the file becomes shorter or is written anew, or its name leads to another file.
    ValueError
        If a line is longer than `LONGEST`.
    OSError
        If it cannot be read.
    """
    # A named pipe that nobody writes into yet must not block: whoever follows it may press Ctrl-C.
    descriptor = os.dup(standard_input().fileno()) if path == "-" else os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        grows = path != "-" and stat.S_ISREG(os.fstat(descriptor).st_mode)
        rest, known = b"", _Known()
        yield None
        while not over():
            if not grows and not select.select([descriptor], [], [], POLL)[0]:
                yield None
                continue
            try:
                chunk = os.read(descriptor, _CHUNK)
            except BlockingIOError:
                continue
            if chunk and grows:
                _require_added(path, descriptor, known, len(chunk))
                known.add(chunk)
            if chunk:
                if len(rest) > LONGEST:
                    raise ValueError(f"a line of {path} is longer than {LONGEST >> 20} MB: is this a file of events?")
                *complete, rest = (rest + chunk).split(b"\n")
                yield from complete
                continue
            if not grows:
                if rest.strip():
                    yield rest
                return
            yield None
            _require_the_same(path, descriptor)
            time.sleep(POLL)
    finally:
        os.close(descriptor)


class _Known:
    """The first and the last bytes that were read of a file."""

    def __init__(self) -> None:
        self.first = self.last = b""

    def add(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if len(self.first) < _KNOWN:
            self.first = (self.first + chunk)[:_KNOWN]
        self.last = (self.last + chunk)[-_KNOWN:]


def _require_added(path: str, descriptor: int, known: _Known, size: int) -> None:
    """Raise NotTheSameFile unless the bytes just read follow those that were read before.

    A file may become shorter and grow again between two looks, as when a program that rotates logs copies and truncates
    it. Then other bytes stand before those just read.
    """
    here = os.lseek(descriptor, 0, os.SEEK_CUR) - size
    for expected, at in ((known.first, 0), (known.last, here - len(known.last))):
        if os.pread(descriptor, len(expected), at) != expected:
            raise NotTheSameFile(f"{path} was written anew while it was followed; follow a file that is only added to")


def _require_the_same(path: str, descriptor: int) -> None:
    """Raise NotTheSameFile unless the name leads to the open file, and that is no shorter than what was read."""
    here = os.fstat(descriptor)
    if here.st_size < os.lseek(descriptor, 0, os.SEEK_CUR):
        raise NotTheSameFile(f"{path} was made shorter while it was followed; follow a file that is only added to")
    try:
        now = Path(path).stat()
    except FileNotFoundError:
        now = None
    if now is None or (now.st_dev, now.st_ino) != (here.st_dev, here.st_ino):
        raise NotTheSameFile(
            f"{path} was removed, or replaced by another file, while it was followed; "
            "write one history into one file, without rotation"
        )
