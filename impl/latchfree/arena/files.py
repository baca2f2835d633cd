"""The file under a shared arena: where the file is, and how it appears.

Example: two processes create the arena ``stock`` at the same moment. Each formats a file without a name and links it at
``/dev/shm/latchfree-stock``. One link succeeds; the other process gets `FileExistsError` and leaves nothing behind.

Invariant: a file gets its final name in one step, by a link that fails where the name is taken. (`latchfree_support`
replaces what is there; an arena must never be replaced, and stays mapped through the file that is linked.)
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from latchfree.arena.header import TABLE_BYTES
from latchfree_support.publishing import temporary_beside

#: Where named arenas are.
SHARED_MEMORY = Path("/dev/shm")

_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")

#: How file systems say that they cannot make a file without a name.
_NO_UNNAMED_FILES = (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL)


def locate(*, name: str | None = None, path: str | os.PathLike[str] | None = None) -> Path:
    """Return the file of an arena, given either its name or its path.

    Parameters
    ----------
    name : str
        Of an arena in shared memory.
    path : path-like
        Of an arena in a file.

    Raises
    ------
    TypeError
        If both or none are given.
    ValueError
        If the name has other characters than ``A-Z a-z 0-9 . _ -``, or not 1 to 100 of them.
    """
    if (name is None) == (path is None):
        raise TypeError("an arena is at a name or at a path: give one of the two")
    if path is not None:
        return Path(path).resolve()
    if name is None or _NAME.fullmatch(name) is None:
        raise ValueError(f"an arena's name has 1 to 100 of the characters A-Z a-z 0-9 . _ - , got {name!r}")
    return SHARED_MEMORY / f"latchfree-{name}"


_MEANING = {
    errno.EBADF: "its descriptor was closed while it was opened: close all descriptors before threads begin",
    errno.EEXIST: "exists already: open it, remove it, or choose another place",
    errno.EAGAIN: "in use: a repair needs it for itself; close it everywhere first",
    errno.EALREADY: "being checked or repaired by another process (latchfree arena fsck); open it afterwards",
    errno.ENOSPC: f"no room for the header of an arena ({TABLE_BYTES} bytes)",
    errno.EFBIG: "the file system does not allow a file of that capacity",
}


@contextmanager
def errors_name(target: Path) -> Iterator[None]:
    """Have errors of the operating system name the file of the arena."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        text = _MEANING.get(error.errno, os.strerror(error.errno))
        raise OSError(error.errno, text, str(target)) from None


def new_file(folder: Path) -> tuple[int, Path | None]:
    """Open a new file without a name, or with a temporary one where the file system needs names."""
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600), None
    except OSError as error:
        if error.errno not in _NO_UNNAMED_FILES:
            raise
    temporary = temporary_beside(folder / "arena")
    return os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), temporary


def require_same(fd: int, file: os.stat_result) -> None:
    """Raise OSError if a descriptor has become another file's: somebody closed it, and its number was used again."""
    if not os.path.samestat(os.fstat(fd), file):
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def close_same(fd: int, file: os.stat_result) -> None:
    """Close a descriptor, unless it has become another file's."""
    with suppress(OSError):
        require_same(fd, file)
        os.close(fd)


def give_name(fd: int, temporary: Path | None, target: Path) -> None:
    """Link a file at its final name, unless the name is taken: the one step in which the arena appears."""
    if temporary is not None:
        os.link(temporary, target)
        return
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    try:
        # With a folder Python uses linkat, which follows the link to the file itself.
        os.link(f"/proc/self/fd/{fd}", target, src_dir_fd=root, follow_symlinks=True)
    finally:
        os.close(root)
