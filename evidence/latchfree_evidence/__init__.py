"""The evidence that latchfree holds against its own code: targets, stress, mutants, lemmas, refinement."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree_evidence.exploring import explore, replay

__all__ = ["explore", "replay"]

_HOME = {"explore": "exploring", "replay": "exploring"}


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: a mutant must be applied before the structure is loaded."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
