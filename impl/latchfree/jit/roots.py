"""Where compiled code is kept."""

from __future__ import annotations

import functools
import os
from pathlib import Path


def cache_root() -> Path:
    """Folder that holds one cache per source hash: ``$NUMBA_CACHE_DIR``, else the user's cache folder.

    Where the user's cache folder cannot be written, as in a container without a home, it is a folder of the user's own
    in the temporary directory.
    """
    configured = os.environ.get("NUMBA_CACHE_DIR")
    if configured:
        return Path(configured) / "latchfree"
    base = os.environ.get("XDG_CACHE_HOME")
    # Without a home this leaves "~", which the fallback replaces.
    return _writable_root(base or str(Path(os.path.expanduser("~"), ".cache")))  # noqa: PTH111


@functools.cache
def _writable_root(base: str) -> Path:
    from latchfree_support.private import private_folder

    root = Path(base, "latchfree")
    return root if root.is_absolute() and usable(root) else private_folder() or root


def usable(folder: Path) -> bool:
    """Return whether a folder can be written, making it if need be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
