"""Scopes of anyio have one order while a loop runs: they are kept in sets, where addresses would differ."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def in_order(next_number: Callable[[], int]) -> Iterator[None]:
    """Have the cancel scopes of anyio numbered meanwhile, if the program uses anyio."""
    backend: Any = sys.modules.get("anyio._backends._asyncio")
    kind = getattr(backend, "CancelScope", None)
    if kind is None:
        yield
        return
    numbers: dict[int, tuple[int, Any]] = {}  # the scopes stay alive, so that no other one gets their address

    def numbered(self: Any) -> int:
        known = numbers.get(id(self))
        if known is None:
            known = numbers[id(self)] = next_number(), self
        return known[0]

    before = kind.__dict__.get("__hash__")
    kind.__hash__ = numbered
    try:
        yield
    finally:
        if before is None:
            del kind.__hash__
        else:
            kind.__hash__ = before
