"""Check millions of histories and match streams of topics on Spark.

>>> from latchfree_spark import spark_session
>>> with spark_session() as spark:
...     spark.range(3).count()
3
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree_spark.frames import check, match, register, sketch
    from latchfree_spark.session import spark_session

__all__ = ["check", "match", "register", "sketch", "spark_session"]

_HOME = {"register": "frames.sql", "spark_session": "session"}
_PACKAGES = ("check", "match", "sketch")


def __getattr__(name: str) -> Any:
    """Import a public name at its first use, so that PySpark loads only where a job runs."""
    if name in _PACKAGES:  # they can be called; see `latchfree_spark.callable`
        return importlib.import_module(f"{__name__}.{name}")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
