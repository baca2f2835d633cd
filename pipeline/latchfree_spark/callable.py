"""Let a package be called: ``latchfree_spark.check`` has modules, and is a function of tables, too.

Example: ``latchfree_spark.check(df)`` calls `latchfree_spark.frames.check`, and ``from latchfree_spark.check import
Options`` goes on to work. A function of that name in the package above would be replaced by the package at its import.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A package that is called like a function of `latchfree_spark.frames`."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function that has the package's name."""
        function = getattr(importlib.import_module("latchfree_spark.frames"), self.__name__.rpartition(".")[2])
        return function(*arguments, **options)


def make_callable(package: str) -> None:
    """Let a package of `latchfree_spark` be called."""
    sys.modules[package].__class__ = _Callable
