"""The shared library of the checker's compiled functions."""

from pathlib import Path
from typing import Final

from latchfree.native.library import LATCHFREE, Library
from latchfree_support.library_keys import CHECKER, UNDERNEATH

_HOME: Final = Path(__file__).parents[1]
LINCHECK: Final = Library(_HOME, [*(_HOME / name for name in CHECKER), *(LATCHFREE.home / name for name in UNDERNEATH)])
"""The library of this package; it has kernels of `latchfree` in it, too."""
