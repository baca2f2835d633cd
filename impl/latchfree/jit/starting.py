"""Load numba when it is first needed, and only then.

Example: a program that imports `latchfree.Ctrie` does not load numba, which takes a third of a second. What compiled
code needs to know (our overloads, the instructions of `latchfree.llvm`) waits here until numba is there.

Invariant: nothing of ours is compiled before all that waits is registered. Registering and compiling both hold the lock
of numba's compiler.

A process that ends takes LLVM's memory with it, also from under a thread that compiles at that moment. So the end of
the interpreter waits for that thread, and no other thread begins to compile.
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

_waiting: list[Callable[[], object]] = []


def when_started(register: Callable[[], object]) -> None:
    """Have a function called before anything more of ours is compiled; the function must not call `start`."""
    _waiting.append(register)


def start() -> Any:
    """Return numba, with all registered that waits."""
    import numba
    from numba.core.compiler_lock import global_compiler_lock

    if _waiting:
        with global_compiler_lock:
            while _waiting:
                _waiting[0]()  # registered before it is removed: a thread that finds the list empty may compile
                del _waiting[0]
    return numba


def _stop() -> None:
    if "numba.core.compiler_lock" in sys.modules:
        sys.modules["numba.core.compiler_lock"].global_compiler_lock.acquire()  # never released


#: Registered by the first import, so what other modules do at the end comes before it.
atexit.register(_stop)
