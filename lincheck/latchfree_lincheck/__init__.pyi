"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from . import record, show, testing, transactions
from .checking.checker import check
from .checking.many import Verdicts, check_many
from .checking.verdict import Verdict
from .criteria import CRITERIA, judge
from .criteria.weak_queue import without_excused
from .engine.decide import NoWitness
from .failures import NotLinearizable
from .formats import read_history, read_maps, write_history
from .formats.errors import HistoryFormatError
from .history import History, Operation
from .history.columns import Column, Columns
from .history.recorder import Recorder
from .show import judge_parts, page, save
from .show.lanes import lanes
from .shrinking import shrink
from .testing import linearizable, stateful
from .watching import Event, InvalidEvent, Journal, Monitor

__all__ = [
    "CRITERIA",
    "Column",
    "Columns",
    "Event",
    "History",
    "HistoryFormatError",
    "InvalidEvent",
    "Journal",
    "Monitor",
    "NoWitness",
    "NotLinearizable",
    "Operation",
    "Recorder",
    "Verdict",
    "Verdicts",
    "check",
    "check_many",
    "judge",
    "judge_parts",
    "lanes",
    "linearizable",
    "page",
    "read_history",
    "read_maps",
    "record",
    "save",
    "show",
    "shrink",
    "stateful",
    "testing",
    "transactions",
    "without_excused",
    "write_history",
]
