"""A recorder that threads and processes share: a file to which each of them appends.

Process 0 writes 1, process 1 reads 1 while the write is under way::

    ["call","1f4.9c.0",0,"write",[1],null,881]
    ["call","1f5.3b.0",1,"read",[],null,905]
    ["return","1f5.3b.0",933,1]
    ["return","1f4.9c.0",951,null]

Invariant: the number of a line is its ticket. A line is one `write` to a file that is open for appending, and such
writes come one after the other (POSIX: no change of the file comes between finding its end and writing there). So a
line whose write began after another line's write had returned stands after that line. The line of a call is written
before the call is made and the line of its return after the answer is there, so an operation that seems to precede
another one did precede it. Clocks say only where a point is drawn on a chart; they order nothing.

A line begins with the end of the line before. A write that is cut short, by SIGKILL or a full disk, leaves a line that
is no JSON and damages no other line. Whoever reads the file skips such a line: the call was never made, or the
operation stays pending. Both are what happened.
"""

from __future__ import annotations

import errno
import itertools
import os
import secrets
import tempfile
import time
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any

from latchfree_lincheck.history import History
from latchfree_lincheck.history.recorder import Recording
from latchfree_lincheck.record.entries import Records, operations_of, records_of
from latchfree_lincheck.record.faults import Fault
from latchfree_lincheck.record.values import Unrecordable, dumps, encode
from latchfree_model import UNKNOWN


class SharedRecorder:
    """Records operations of any number of threads, tasks and processes of one machine.

    A recorder can be pickled: the copy in another process appends to the same file. What a killed process had begun
    is in the file, and pending.

    Parameters
    ----------
    path : str or Path, optional
        A file to be made on a local file system. Without it the file is a temporary one, removed by `close`.

    Raises
    ------
    FileExistsError
        If there is such a file.
    OSError
        If it cannot be made.

    Examples
    --------
    >>> m = {}
    >>> with SharedRecorder() as recorder:
    ...     with recorder.call(0, "put", "k", 1) as call:
    ...         call.result = m.get("k"); m["k"] = 1
    ...     print(recorder.history("demo").operations[0])
    process 0: put('k', 1) -> None, from 0 to 1
    """

    def __init__(self, path: str | Path | None = None) -> None:
        if path is None:
            fd, name = tempfile.mkstemp(prefix="latchfree-", suffix=".record")
            os.close(fd)
            self.path, removed = Path(name), True
        else:
            self.path, removed = Path(path).absolute(), False
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
        self._open(removed)

    def _open(self, removed: bool) -> None:
        self._file = self.path.open("ab", buffering=0)  # closed, it refuses to write; its number may be another file's
        self._token = secrets.token_hex(4)
        self._numbers = itertools.count()
        self._finish = weakref.finalize(self, _close, self._file, os.getpid(), self.path if removed else None)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self.path,)

    @contextmanager
    def call(
        self,
        process: int | str,
        f: str,
        *arguments: Hashable,
        object: str | None = None,
        definite: tuple[type[BaseException], ...] = (),
    ) -> Iterator[Recording]:
        """Record the operation that the block runs; the block stores what it got in ``result``.

        Parameters
        ----------
        process : int or str
            Who calls: one call at a time. After an operation that stays pending, the history gives the process a new
            name (``"0"`` becomes ``"0'1"``).
        f : str
            The operation's name in the model.
        *arguments
            Its arguments.
        object : str, optional
            Which object is called, when there are several.
        definite : tuple of exception types
            Errors after which the operation has certainly not taken effect, and never will. Such an operation is left
            out of the history. Any other exception makes the operation pending: it may take effect at any later
            time, or never.

        Raises
        ------
        Unrecordable
            If an argument cannot be recorded (the block does not run then), or the result (the operation is pending).
        OSError
            If the file cannot be written.
        """
        seen = Recording()
        if not isinstance(process, int | str):
            raise Unrecordable(f"the process {process!r} is neither a number nor text")
        number = f"{os.getpid():x}.{self._token}.{next(self._numbers):x}"
        given = [encode(argument, f"an argument of {f}") for argument in arguments]
        self._append("call", number, process, f, given, object, time.monotonic_ns())
        try:
            yield seen
            got = [] if seen.result is UNKNOWN else [encode(seen.result, f"the result of {f}")]
        except BaseException as error:
            kind = "fail" if seen.dropped or isinstance(error, definite) else "lost"
            self._append(kind, number, time.monotonic_ns(), _text(error))
            raise
        if seen.dropped:
            self._append("fail", number, time.monotonic_ns(), "")
        else:
            self._append("return", number, time.monotonic_ns(), *got)

    @contextmanager
    def fault(self, fault: Fault) -> Iterator[None]:
        """Let a fault begin before the block and end after it, whatever happens in the block; both are recorded.

        Parameters
        ----------
        fault : Fault
            See `latchfree_lincheck.record.faults`.
        """
        number = f"{os.getpid():x}.{self._token}.{next(self._numbers):x}"
        self._append("begin", number, time.monotonic_ns(), fault.name)
        try:
            fault.begin()
            yield
        finally:
            fault.end()
            self._append("end", number, time.monotonic_ns())

    def records(self) -> Records:
        """Return the operations and faults recorded so far, with their tickets and times."""
        return records_of(self.path.read_bytes())

    def history(self, name: str, model_hint: str | None = None) -> History:
        """Return what was recorded so far; calls that still run are pending in it, those that failed are left out.

        Raises
        ------
        ValueError
            If two threads, tasks or processes called at once under one process name.
        """
        return History(name, operations_of(self.records().calls), model_hint)

    def close(self) -> None:
        """Close the file, and remove a temporary one."""
        self._finish()

    def _append(self, *record: Any) -> None:
        line = b"\n" + dumps(list(record))
        if (self._file.write(line) or 0) < len(line):
            raise OSError(errno.ENOSPC, "no room to record an operation; make room or record elsewhere", str(self.path))

    def __enter__(self) -> SharedRecorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _opened(path: Path) -> SharedRecorder:
    """Open the file of a recorder that another process made."""
    recorder = SharedRecorder.__new__(SharedRecorder)
    recorder.path = path
    recorder._open(removed=False)
    return recorder


def _close(file: FileIO, owner: int, removed: Path | None) -> None:
    """Close the file; the process that made a temporary file removes it, no child of that process does."""
    file.close()
    if removed is not None and os.getpid() == owner:
        with suppress(FileNotFoundError):
            removed.unlink()


def _text(error: BaseException) -> str:
    """Return an error as text of one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:200] if text else type(error).__name__
