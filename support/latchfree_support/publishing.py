"""Publish a file or a folder whole or not at all.

Example: `publish_file("report.html", text.encode())` writes ``.latchfree-1f0c….tmp`` beside ``report.html``, brings it
to disk and renames it to ``report.html``. A reader opens the old report or the new one, never half of either.

Invariant: a name refers to complete content at every instant, which is on disk unless the caller does without. Content
is written under a private name in the same folder, synchronised, and gets its own name by one rename, which the file
system makes atomic. A failure before the rename removes the private name and leaves the target untouched; a killed
process leaves a hidden ``.latchfree-*.tmp`` that nobody reads. Two savers never share a private name, so the later
rename wins.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from latchfree_support.replacing import private_name

__all__ = ["publish_file", "publish_filled", "publish_folder", "published_file", "published_folder", "temporary_beside"]


def publish_file(
    path: str | os.PathLike[str],
    content: bytes | memoryview | Callable[[BinaryIO], object],
    *,
    synchronised: bool = True,
) -> None:
    """Write a file that appears under its name complete, or not at all.

    Parameters
    ----------
    path : path-like
        A symbolic link is followed. A file that is there is replaced; the new one has its permissions.
    content : bytes, memoryview or callable
        The content, or a function that writes the content to a binary file.
    synchronised : bool
        Whether the content is brought to disk before it gets its name. Without, a file that can be made again is
        written in a tenth of the time, and may be empty after the power failed.

    Raises
    ------
    OSError
        If the file cannot be written: the error names `path`, and whatever was there is unchanged.
    """
    with published_file(path, synchronised=synchronised) as file:
        if callable(content):
            content(file)
        else:
            file.write(content)


def publish_folder(path: str | os.PathLike[str], fill: Callable[[Path], object]) -> None:
    """Fill a folder that appears under its name complete, or not at all.

    Parameters
    ----------
    path : path-like
        Nothing but an empty folder may be there.
    fill : callable
        Called with the private folder, which it fills.

    Raises
    ------
    FileExistsError
        If something is at `path`, at the start or at the end.
    OSError
        If the folder cannot be written: the error names `path`, and nothing has appeared there.
    """
    with published_folder(path) as folder:
        fill(folder)


@contextmanager
def published_file(path: str | os.PathLike[str], *, synchronised: bool = True) -> Iterator[BinaryIO]:
    """Yield a binary file that takes the place of `path` when the block ends without an error.

    See `publish_file`, which says more.
    """
    target = Path(os.path.realpath(path))
    temporary = temporary_beside(target)
    with _errors_name(path, temporary):
        mode = _permissions(target)
        # Until it has the old permissions, nobody else may read what only some were allowed to read.
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
        try:
            with os.fdopen(fd, "wb") as file:
                if mode is not None:
                    os.fchmod(fd, mode)
                yield file
                file.flush()
                if synchronised:
                    os.fsync(fd)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    if synchronised:
        _sync(target.parent)


@contextmanager
def published_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a private folder that gets the name `path` when the block ends without an error.

    See `publish_folder`, which says more.
    """
    target = Path(os.path.realpath(path))
    temporary = temporary_beside(target)
    with _errors_name(path, temporary):
        if os.path.lexists(target) and not (target.is_dir() and next(target.iterdir(), None) is None):
            raise FileExistsError(errno.EEXIST, "exists already", str(path))
        temporary.mkdir()
        try:
            yield temporary
            _take_name(temporary, target)
        except BaseException:
            import shutil  # which loads three compressors

            shutil.rmtree(temporary, ignore_errors=True)
            raise
    _sync(target.parent)


def temporary_beside(target: Path) -> Path:
    """Return a private name in the folder of `target`: hidden, short, and with 64 bits that nobody can guess."""
    return target.with_name(private_name())


def _permissions(target: Path) -> int | None:
    """Return the permissions of the file to be replaced, None if there is none; refuse any other thing."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL, "not a regular file")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected")
    return stat.S_IMODE(found.st_mode)


def publish_filled(folder: Path, path: str | os.PathLike[str]) -> None:
    """Give a folder that has been filled its final name beside it, all at once, when all of it is on disk.

    Use it where the folder could not be private: work in it went on after a crash.

    Parameters
    ----------
    folder : Path
        The folder, beside `path`.
    path : path-like
        Nothing but an empty folder may be there.

    Raises
    ------
    FileExistsError
        If something is at `path`.
    OSError
        If what is in the folder cannot be brought to disk: it has its old name then.
    """
    target = Path(os.path.realpath(path))
    _take_name(folder, target)
    _sync(target.parent)


def _take_name(temporary: Path, target: Path) -> None:
    """Bring what is in a folder to disk, then give the folder its name."""
    for folder, _, files in os.walk(temporary):
        for name in files:
            _sync(Path(folder, name), must=True)
        _sync(Path(folder))
    try:
        temporary.rename(target)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise FileExistsError(errno.EEXIST, "exists already") from None
        raise


def _sync(path: Path, *, must: bool = False) -> None:
    """Bring a file or the names in a folder to disk; not every file system can do so for a folder."""
    if not must:
        with suppress(OSError):
            _sync(path, must=True)
        return
    if not stat.S_ISREG(path.lstat().st_mode) and not stat.S_ISDIR(path.lstat().st_mode):
        return  # a link or a pipe has no content of its own
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


@contextmanager
def _errors_name(path: str | os.PathLike[str], temporary: Path) -> Iterator[None]:
    """Have an error of the system name the path that the caller gave, unless it is about another file."""
    try:
        yield
    except OSError as error:
        if error.errno is None or not _is_about(error, path, temporary):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _is_about(error: OSError, path: str | os.PathLike[str], temporary: Path) -> bool:
    about = error.filename
    if not isinstance(about, (str, bytes)):
        return True
    about = os.path.realpath(os.fsdecode(about))
    private = os.path.realpath(temporary)
    return about in (private, os.path.realpath(path)) or about.startswith(private + os.sep)
