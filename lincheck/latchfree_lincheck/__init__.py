"""Record concurrent histories and judge whether they are linearizable.

>>> from latchfree_lincheck import History, Operation, check
>>> late = History("late", (Operation(0, "write", (1,), None, 1, 2), Operation(1, "read", (), None, 3, 4)))
>>> check(late, "register").verdict
'violation'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree_lincheck.checking.checker import check
    from latchfree_lincheck.checking.many import Verdicts, check_many
    from latchfree_lincheck.checking.verdict import Verdict
    from latchfree_lincheck.criteria import judge
    from latchfree_lincheck.formats import read_history, write_history
    from latchfree_lincheck.formats.errors import HistoryFormatError
    from latchfree_lincheck.history import History, Operation
    from latchfree_lincheck.history.columns import Column, Columns
    from latchfree_lincheck.history.recorder import Recorder
    from latchfree_lincheck.show.lanes import lanes
    from latchfree_lincheck.shrinking import shrink

__all__ = [
    "Column",
    "Columns",
    "History",
    "HistoryFormatError",
    "Operation",
    "Recorder",
    "Verdict",
    "Verdicts",
    "check",
    "check_many",
    "judge",
    "lanes",
    "read_history",
    "shrink",
    "write_history",
]

_HOME = {
    "Column": "history.columns",
    "Columns": "history.columns",
    "History": "history",
    "HistoryFormatError": "formats.errors",
    "Operation": "history",
    "Recorder": "history.recorder",
    "Verdict": "checking.verdict",
    "Verdicts": "checking.many",
    "check": "checking.checker",
    "check_many": "checking.many",
    "judge": "criteria",
    "lanes": "show.lanes",
    "read_history": "formats",
    "shrink": "shrinking",
    "write_history": "formats",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use: numba and pyarrow load only when needed."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
