"""Which thread lowers kernels without compiling them, see `latchfree.jit.lowering`.

The lock of numba's compiler guards the answer: whoever changes it holds the lock, and one thread at a time lowers.
"""

from __future__ import annotations

import threading

_lowering: int | None = None


def is_lowering() -> bool:
    """Return whether this thread lowers kernels."""
    return _lowering is not None and _lowering == threading.get_ident()


def begin_lowering() -> None:
    """Have this thread lower kernels; the caller holds the lock of numba's compiler."""
    global _lowering
    _lowering = threading.get_ident()


def end_lowering() -> None:
    """Have no thread lower kernels; the caller holds the lock."""
    global _lowering
    _lowering = None
