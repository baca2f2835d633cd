"""Load a library, if there is one of these sources for this processor and this interpreter."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from latchfree_support.library_keys import UNDERNEATH, fits, library_name, processor

#: Set to ``jit``: libraries are not used.
SETTING: Final = "LATCHFREE_COMPILED"


class Library:
    """A library.

    Parameters
    ----------
    home : Path
        The package that has the library, in its folder ``native``.
    sources : sequence of Path
        The sources that it is made of, and folders of such.
    """

    def __init__(self, home: Path, sources: Sequence[Path]) -> None:
        self.home = home
        self.sources = sources
        self.why = ""
        """Once it was tried: why it is not used."""
        self._loaded: ctypes.PyDLL | None = None
        self._tried = False

    def file(self) -> Path | None:
        """Return where the library for this processor is, or would be."""
        found = processor()
        return None if found is None else self.home / "native" / library_name(found)

    def load(self) -> ctypes.PyDLL | None:
        """Return the library, None if there is none that fits."""
        if not self._tried:
            self._loaded = self._load()
            self._tried = True
        return self._loaded

    def _load(self) -> ctypes.PyDLL | None:
        file = self.file()
        try:
            if os.environ.get(SETTING) == "jit":
                self.why = f"{SETTING}=jit"
            elif file is None:
                self.why = "there is no library for this system"
            elif not file.exists():
                self.why = "the library was not built"
            elif not fits(file, *self.sources):
                self.why = "the library is of other sources"
            else:
                return ctypes.PyDLL(str(file))
        except OSError as error:
            self.why = f"the library cannot be loaded: {error}"
        return None

    def address(self, symbol: str) -> int | None:
        """Return the address of a function, None if it has to be compiled; then `why` says why."""
        loaded = self.load()
        if loaded is None:
            return None
        try:
            return ctypes.cast(getattr(loaded, symbol), ctypes.c_void_p).value
        except AttributeError:
            return None


_HOME: Final = Path(__file__).parents[1]
_STRUCTURES: Final = ("arena", "ctrie", "limiting", "sketches", "streams", "topics/concurrent", "topics/mask")
LATCHFREE: Final = Library(
    _HOME,
    [
        *(_HOME / name for name in (*UNDERNEATH, "words.py", "arena/layout.py")),
        *(_HOME / structure / name for structure in _STRUCTURES for name in ("border.py", "kernels")),
    ],
)
"""The library of this package."""
