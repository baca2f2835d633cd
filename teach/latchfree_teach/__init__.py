"""Teaching on the machine code itself: what a learner plays, reads and hands in.

The names are declared in ``__init__.pyi`` and loaded at first use: a mutant must be applied before the structure is
loaded.
"""

import lazy_loader

from latchfree.extras import naming

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming(__getattr__)
