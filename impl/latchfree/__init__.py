"""latchfree: a lock-free hash trie with O(1) snapshots, and topic matchers built on it, compiled by numba.

The names are declared in ``__init__.pyi`` and loaded at first use: importing the package loads neither the compiler nor
Arrow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
