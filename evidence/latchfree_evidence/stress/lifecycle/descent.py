"""Descendants of a process and files of programs: how to have none."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_SET_CHILD_SUBREAPER: Final = 36
_LOOK: Final = 0.005


def adopt_descendants() -> None:
    """Become the parent of every descendant whose parent ends."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> set[int]:
    """Return the children of this process, its only thread being the main one."""
    pid = os.getpid()
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def descendants() -> set[int]:
    """Return the children of this process, their children, and so on."""
    found: set[int] = set()
    waiting = [*children()]
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            with suppress(OSError):  # processes and threads come and go
                for task in Path(f"/proc/{pid}/task").iterdir():
                    waiting += map(int, (task / "children").read_text().split())
    return found


def kill_all() -> None:
    """Kill all descendants; those who are adopted meanwhile, too."""
    while True:
        for child in children():
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not children():
            return
        time.sleep(_LOOK)


def clean_up(folder: Path) -> None:
    """Remove the folder of all programs, and the arenas with names."""
    for path in Path("/dev/shm").glob(f"latchfree-{folder.name}-*"):
        path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
