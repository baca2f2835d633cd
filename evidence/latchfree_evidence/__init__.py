"""The evidence that latchfree holds against its own code: targets, stress, mutants, lemmas, refinement.

>>> from latchfree_evidence import explore
>>> explore("ctrie", scenario="put(1, 1) | put(1, 2) | get(1)").verdict
'ok'

The names are declared in ``__init__.pyi`` and loaded at first use: a mutant must be applied before the structure is
loaded.
"""

import lazy_loader

from latchfree.extras import naming

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__getattr__ = naming(__getattr__)
