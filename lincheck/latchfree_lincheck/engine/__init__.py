"""Search engines: each decides whether some legal order explains a part of a history.

=====================  ==========================================================================
``compiled_models``    the built-in models as compiled code: rows, states, transitions
``encoding``           from histories to problems: rows of integers, split into independent parts
``monitors``           judges that need no search, because every value is written once
``frontier``           just-in-time linearization
``wgl``                depth-first search
``product``            key by key
``dequeues``           queues, by their dequeues
``smt``                Z3
=====================  ==========================================================================

Compiled code stands in ``compiled_models``, ``monitors`` and the folders named ``kernels``.
"""
