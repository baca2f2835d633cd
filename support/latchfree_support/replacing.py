"""Replace a file by complete content in one step: the part of `publishing` that needs nothing but `os`.

Commands that last 20 ms use this alone, so that little is imported here: no `pathlib`, `typing` or `contextlib`.
"""

from __future__ import annotations

import os

__all__ = ["private_name", "replace_file"]


def private_name() -> str:
    """Return a private name for a file or folder: hidden, short, and with 64 bits that nobody can guess."""
    return f".latchfree-{os.urandom(8).hex()}.tmp"


def replace_file(path: str, content: bytes, mode: int | None = None) -> None:
    """Write a file that appears under its name complete, or not at all; it is not brought to disk.

    Parameters
    ----------
    path : str
        Where the file goes; a link is replaced.
    content : bytes
        All of the file.
    mode : int, optional
        The permissions of the file that is replaced; those of a new file without.

    Raises
    ------
    OSError
        If the file cannot be written: whatever was there is unchanged.
    """
    private = f"{path.rpartition('/')[0] or '.'}/{private_name()}"
    number = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else 0o600)
    try:
        try:
            if mode is not None:
                os.fchmod(number, mode)
            left = memoryview(content)
            while left:
                left = left[os.write(number, left) :]
        finally:
            os.close(number)
        os.replace(private, path)  # noqa: PTH105 -- pathlib is slow to load
    except BaseException:
        os.unlink(private)  # noqa: PTH108
        raise
