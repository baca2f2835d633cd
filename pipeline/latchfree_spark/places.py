"""Keep files where this user can write: in the cache folder, else in the user's own folder among the temporary ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from latchfree.jit import cache_root
from latchfree_support.private import private_folder
from latchfree_support.publishing import publish_file

T = TypeVar("T")


def roots() -> Iterator[Path]:
    """Yield the folders to try, the best one first."""
    yield cache_root()
    own = private_folder()
    if own is not None:
        yield own


def kept(write: Callable[[Path], T]) -> T:
    """Return what `write` returns for the first folder that it can write to.

    Raises
    ------
    OSError
        If it can write to none.
    """
    refused: OSError | None = None
    for root in roots():
        try:
            return write(root)
        except OSError as error:
            refused = refused or error
    assert refused is not None
    fix = "set $NUMBA_CACHE_DIR to a folder you can write to"
    raise OSError(refused.errno, f"{refused.strerror}; {fix}", refused.filename)


def kept_archive(stem: str, content: bytes) -> Path:
    """Return a file of this content, which is made unless it is there; its name holds a hash of the content."""
    name = f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.zip"

    def write(root: Path) -> Path:
        path = root / "packages" / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            publish_file(path, content)
        return path

    return kept(write)
