"""Topic matching: which subscribers want a message published on a topic.

The names are declared in ``__init__.pyi`` and loaded at first use: importing the package loads neither the compiler nor
Arrow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
