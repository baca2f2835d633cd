"""Run work in a child process, so that work that dies or hangs does not end its parent.

>>> with Child(lambda send: [send(number * number) for number in range(3)]) as child:
...     [child.receive(60) for _ in range(3)]
[0, 1, 4]

A child that is killed, or is silent for too long, is a `ChildLost` in the parent.

Invariant: a child is gone when its context is left, and the kernel kills it if its parent dies before. It never returns
to the code of its parent: it leaves by `os._exit`, so nothing of the parent is closed, flushed or removed twice.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from types import TracebackType
from typing import Any, Final

_PR_SET_PDEATHSIG: Final = 1

Send = Callable[[Any], None]


class ChildLost(Exception):
    """A child died or fell silent; the text says which."""


class Child:
    """A forked process that sends what it finds; a context.

    Parameters
    ----------
    work : callable
        Called in the child with a function that sends an object to the parent. Objects must pickle.
    """

    def __init__(self, work: Callable[[Send], object]) -> None:
        self._here, there = Pipe(duplex=False)
        parent = os.getpid()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Python warns of threads that hold locks at a fork; those of Arrow and NumPy free theirs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._pid = os.fork()
        if self._pid == 0:
            code = 1
            try:
                die_with(parent)
                self._here.close()
                work(there.send)
                code = 0
            finally:
                os._exit(code)
        there.close()

    def receive(self, seconds: float) -> Any:
        """Return the next object that the child sends.

        Raises
        ------
        ChildLost
            If the child ended without sending one, or sent nothing for so many seconds.
        """
        try:
            if self._here.poll(seconds):
                return self._here.recv()
        except (EOFError, OSError):
            raise ChildLost(self._ended()) from None
        self._kill()
        raise ChildLost(f"was silent for {seconds:g} s")

    def _ended(self) -> str:
        code = os.waitstatus_to_exitcode(self._waited())
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def _waited(self) -> int:
        pid, self._pid = self._pid, 0
        return os.waitpid(pid, 0)[1]

    def _kill(self) -> None:
        if self._pid:
            os.kill(self._pid, signal.SIGKILL)
            self._waited()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._kill()
        self._here.close()


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends; where that cannot be had, it goes on to its own end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent ended before the kernel knew
            os._exit(1)
