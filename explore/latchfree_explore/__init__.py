"""Explore the interleavings of compiled code, one atomic access at a time.

Threads run as fibers of one OS thread; before each atomic access the scheduler decides who goes on. What the
operations returned is judged by the linearizability checker. Memory is sequentially consistent.

>>> from latchfree_explore import explore
>>> from latchfree_explore.examples.counter import COUNTER
>>> explore(COUNTER, scenario="increment | increment").verdict
'ok'

The names are declared in ``__init__.pyi`` and loaded at first use: a mutant must be applied before the structure is
loaded.
"""

import lazy_loader

from latchfree.extras import naming

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming(__getattr__)
