"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from . import show
from .checking.checker import check
from .checking.many import Verdicts, check_many
from .checking.verdict import Verdict
from .criteria import judge
from .criteria.weak_queue import without_excused
from .formats import read_history, write_history
from .formats.errors import HistoryFormatError
from .history import History, Operation
from .history.columns import Column, Columns
from .history.recorder import Recorder
from .show import page, save
from .show.lanes import lanes
from .shrinking import shrink
from .testing import NotLinearizable, linearizable, stateful

__all__ = [
    "Column",
    "Columns",
    "History",
    "HistoryFormatError",
    "NotLinearizable",
    "Operation",
    "Recorder",
    "Verdict",
    "Verdicts",
    "check",
    "check_many",
    "judge",
    "lanes",
    "linearizable",
    "page",
    "read_history",
    "save",
    "show",
    "shrink",
    "stateful",
    "without_excused",
    "write_history",
]
