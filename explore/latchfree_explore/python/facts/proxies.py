"""Objects that stand for others: weak proxies, wrappers of `wrapt`, and generic classes with arguments.

A wrapper says that it is of the class of what it wraps, so ``isinstance`` does not tell the two apart.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

WEAK: Final = "weak"
GENERIC: Final = "generic"
WRAPPER: Final = "wrapper"
_KNOWN: Final[dict[type, str]] = {}


def kind_of(value: Any) -> str:
    """Return what kind of proxy a value is, nothing if it is none."""
    kind = type(value)
    known = _KNOWN.get(kind)
    if known is None:
        known = _KNOWN[kind] = _kind_of(kind)
    return known


def _kind_of(kind: type) -> str:
    if issubclass(kind, weakref.ProxyTypes):
        return WEAK
    if any(cls.__module__ == "typing" and cls.__name__ == "_BaseGenericAlias" for cls in kind.__mro__):
        return GENERIC
    return WRAPPER if any(cls.__name__ == "ObjectProxy" and "wrap" in cls.__module__ for cls in kind.__mro__) else ""


def unwrapped(value: Any) -> Any:
    """Return what a wrapper wraps, any other value as it is."""
    while kind_of(value) == WRAPPER:
        value = value.__wrapped__
    return value
