"""Record concurrent histories and judge whether they are linearizable.

>>> from latchfree_lincheck import History, Operation, check
>>> late = History("late", (Operation(0, "write", (1,), None, 1, 2), Operation(1, "read", (), None, 3, 4)))
>>> check(late, "register").verdict
'violation'

The names are declared in ``__init__.pyi`` and loaded at first use: importing the package loads neither numba nor Arrow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
