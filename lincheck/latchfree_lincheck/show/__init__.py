"""Draw histories: one self-contained HTML page with lanes per process, linearization points and states.

>>> from latchfree_lincheck import History, Operation
>>> from latchfree_lincheck.show import judge_parts, page
>>> late = History("late", (Operation(0, "write", (1,), None, 1, 2), Operation(1, "read", (), None, 3, 4)))
>>> page([judge_parts(late, "register")]).startswith("<!DOCTYPE html>")
True
"""

from latchfree_lincheck.history.picture import history_svg
from latchfree_lincheck.show.judging import Judged, Part, judge_parts
from latchfree_lincheck.show.report import page, save
from latchfree_lincheck.show.steps import Step

__all__ = ["Judged", "Part", "Step", "history_svg", "judge_parts", "page", "save"]
