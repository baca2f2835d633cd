"""Which thread lowers kernels without compiling them, see `latchfree.jit.lowering`.

The lock of numba's compiler guards the answer: whoever changes it holds the lock, and one thread at a time lowers.
"""

from __future__ import annotations

import threading

_lowering: int | None = None


def is_lowering() -> bool:
    """Return whether this thread lowers kernels."""
    return _lowering is not None and _lowering == threading.get_ident()


def begin_lowering() -> int | None:
    """Have this thread lower kernels, and return who did before; the caller holds the lock of numba's compiler.

    That is this thread, where a finalizer needs a kernel in the midst of the compiling of another one.
    """
    global _lowering
    before, _lowering = _lowering, threading.get_ident()
    return before


def end_lowering(before: int | None) -> None:
    """End what `begin_lowering` began; the caller holds the lock."""
    global _lowering
    _lowering = before
