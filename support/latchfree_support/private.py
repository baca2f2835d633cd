"""A folder for files that only this user may change, where there is no home to put them.

Example: a container runs as user 1000 without a home. Compiled code goes to ``/tmp/latchfree-1000``.

Invariant: the folder belongs to this user, and nobody else can write in it. Anybody may make files in the temporary
directory, so a folder of that name that somebody else made, or a link, is not used: whoever writes there chooses the
code that is loaded from there.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["private_folder"]


def private_folder() -> Path | None:
    """Return the user's own folder in the temporary directory, made if needed; None if there cannot be one."""
    try:
        folder = Path(tempfile.gettempdir(), f"latchfree-{os.geteuid()}")
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError:
        return None
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022
    return folder if mine and os.access(folder, os.W_OK | os.X_OK) else None
