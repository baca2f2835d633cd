"""Give each driver a folder for what Spark writes while it runs, and remove the folders of drivers that are gone.

Example: a job is killed together with its virtual machine, which cannot remove its shuffle files and artifacts then.
They are in ``/tmp/latchfree-1000/spark/k3j9x0aq``, and the next driver of this user removes that folder.

Invariant: a driver holds the lock of its folder as long as it lives. Who removes a folder holds its lock.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from latchfree_support.private import private_folder

LONGEST: Final = 60
"""Characters of a folder's path: Spark puts sockets there, and the path of a socket has at most 107."""

_held: list[int] = []
"""Descriptors of this driver's folders; the system closes them, and so unlocks, when the process ends in any way."""


def scratch_folder() -> Path | None:
    """Return a new folder that belongs to this process, None where there is no place for one."""
    own = private_folder()
    if own is None:
        return None
    root = own / "spark"
    try:
        root.mkdir(mode=0o700, exist_ok=True)
        clean(root)
        while True:
            folder = Path(tempfile.mkdtemp(prefix="", dir=root))
            if len(str(folder)) > LONGEST or not re.fullmatch(r"[\w./+-]+", str(folder)):
                folder.rmdir()
                return None
            held = _locked(folder)
            if held is not None:
                _held.append(held)
                return folder
    except OSError:
        return None


def clean(root: Path) -> None:
    """Remove the folders whose drivers are gone."""
    for folder in root.iterdir():
        held = _locked(folder)
        if held is not None:
            try:
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)


def _locked(folder: Path) -> int | None:
    """Return a descriptor that locks a folder, None if another one does or the folder is gone."""
    with suppress(OSError):
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(held), folder.stat()):
                return held
        except OSError:
            pass
        os.close(held)
    return None
