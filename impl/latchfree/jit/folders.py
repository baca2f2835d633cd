"""The folder of compiled code: named by what compiles, and by all sources that the code can reach."""

from __future__ import annotations

import os
from pathlib import Path

from latchfree.jit.roots import cache_root, usable
from latchfree_support.sources import digest_of


def digest(module: str, file: Path) -> str:
    """Return the digest of a module's sources; nobody edits those that were unpacked into the cache folder."""
    return digest_of(module, file, str(cache_root() / "packages") + os.sep)


def folder_of(module: str, file: Path, toolchain: str, variant: str) -> Path | None:
    """Return where code of a module may be kept, None if nowhere.

    Parameters
    ----------
    module : str
        The full name of the module.
    file : Path
        The module's.
    toolchain : str
        A digest of what compiles.
    variant : str
        See `latchfree.jit.lazy.set_variant`.
    """
    file = file.resolve()
    if not file.is_file():
        return None
    sources = digest(module, file)
    if not sources:
        return None
    key = f"{toolchain}-{sources}"
    if variant:
        key += "-" + variant
    folder = cache_root() / key
    return folder if usable(folder) else None
