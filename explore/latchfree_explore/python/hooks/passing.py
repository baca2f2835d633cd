"""The hook of ``yield from``."""

from __future__ import annotations

import types
from typing import Any

from latchfree_explore.python.hooks.items import each


def delegated(value: Any, line: int) -> Any:
    """Hand on to a value: a coroutine as it is, the items of anything else one by one."""
    return value if isinstance(value, types.CoroutineType) else each(value, line)
