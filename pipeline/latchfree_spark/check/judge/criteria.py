"""Judge histories one by one by a criterion that is not linearizability: there is no compiled search for those."""

from __future__ import annotations

import time
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from latchfree_lincheck.checking.many import alone
from latchfree_lincheck.criteria import judge
from latchfree_lincheck.history.columns import Columns

if TYPE_CHECKING:
    from latchfree_spark.check.options import Options

_NAMES: Final = ("verdict", "reason", "engine", "states", "failing", "seconds")


def judge_by(columns: Columns, history: Any, model: str, options: Options) -> Any:
    """Return the verdicts on histories, as columns like those of `latchfree_lincheck.check_many`.

    A verdict is the one that `latchfree check --criterion` gives on the history alone; what that command refuses is an
    error. ``states`` is 0: these searches do not count steps.
    """
    owner = np.asarray(history)
    begins = np.flatnonzero(np.append(True, owner[1:] != owner[:-1])) if len(owner) else np.zeros(0, np.int64)
    bounds = [*begins.tolist(), len(owner)]
    rows = [_judged(columns, low, high, model, options) for low, high in pairwise(bounds)]
    return SimpleNamespace(**{name: np.array([row[at] for row in rows], object) for at, name in enumerate(_NAMES)})


def _judged(columns: Columns, low: int, high: int, model: str, options: Options) -> tuple[Any, ...]:
    started = time.perf_counter()
    try:
        history = alone(columns, "history", low, high)
        verdict = judge(history, model, criterion=options.criterion, timeout=options.timeout, memory=options.memory)
    except (ValueError, TypeError) as error:
        return "error", str(error), "", 0, -1, time.perf_counter() - started
    failing = -1 if verdict.failing is None else verdict.failing
    return verdict.verdict, verdict.reason, verdict.engine, 0, failing, time.perf_counter() - started
