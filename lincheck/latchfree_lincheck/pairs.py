"""Calls that one thread makes in a row, so that a program comes to its end: what is taken is given back.

What was not taken is not given back: after a ``try_acquire()`` that returned False the ``release()`` is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOGETHER: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {"mutex": (("acquire", "release"), ("try_acquire", "release"))}
)
"""Operations that one thread calls in this order, by model; others are called one by one."""


def left_out(f: str, before: tuple[str, object] | None) -> bool:
    """Return whether a call is not made, for what the same thread called before it, with the result."""
    return f == "release" and before is not None and before[0] == "try_acquire" and before[1] is False
