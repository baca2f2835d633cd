"""Explore the interleavings of compiled code, one atomic access at a time.

Threads run as fibers of one OS thread; before each atomic access the scheduler decides who goes on. What the
operations returned is judged by the linearizability checker. Memory is sequentially consistent.

>>> from latchfree_explore import explore
>>> from latchfree_explore.examples.counter import COUNTER
>>> explore(COUNTER, scenario="increment | increment").verdict
'ok'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree_explore.api import explore
    from latchfree_explore.replay_files import replay
    from latchfree_explore.result import Exploration, Failure
    from latchfree_explore.scenario import Invocation, Scenario
    from latchfree_explore.target import Memory, Operation, Target

__all__ = ["Exploration", "Failure", "Invocation", "Memory", "Operation", "Scenario", "Target", "explore", "replay"]

_HOME = {
    "Exploration": "result",
    "Failure": "result",
    "Invocation": "scenario",
    "Memory": "target",
    "Operation": "target",
    "Scenario": "scenario",
    "Target": "target",
    "explore": "api",
    "replay": "replay_files",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: a mutant must be applied before the structure is loaded."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
