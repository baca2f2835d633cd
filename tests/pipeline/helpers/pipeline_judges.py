"""Judges for jobs under test: the plain one, and some that do not behave. Workers import them by name."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np

from latchfree_lincheck import History, Operation, check


def histories(columns, owner):
    """Return the histories of columns, operation by operation."""
    made = []
    for number in dict.fromkeys(owner.tolist()):
        operations = [
            Operation(
                columns.process[row],
                columns.f[row],
                columns.arguments_of(row),
                columns.result[row],
                int(columns.invoke[row]),
                int(columns.return_[row]) if columns.returned[row] else None,
                None if columns.object is None else columns.object[row],
            )
            for row in np.flatnonzero(owner == number).tolist()
        ]
        made.append(History(str(number), operations))
    return made


def one_by_one(columns, owner, model, options):
    """Judge each history by itself with `latchfree_lincheck.check`."""
    rows = []
    for history in histories(columns, owner):
        try:
            verdict = check(history, model, timeout=options.timeout, memory=options.memory)
        except ValueError as error:
            rows.append(("error", str(error), "", 0, -1, 0.0))
        else:
            failing = -1 if verdict.failing is None else verdict.failing
            rows.append((verdict.verdict, verdict.reason, verdict.engine, 0, failing, verdict.seconds))
    names = ("verdict", "reason", "engine", "states", "failing", "seconds")
    return SimpleNamespace(**{name: np.array([row[at] for row in rows]) for at, name in enumerate(names)})


def _is_marked(columns):
    """Whether a history has a value that no other test data has."""
    return any(
        666 in (column.table or ()) and (column.codes == column.table.index(666)).any() for column in columns.arguments
    )


def dies(columns, owner, model, options):
    """Kill the worker at each attempt on histories that put 666."""
    if _is_marked(columns):
        os.kill(os.getpid(), signal.SIGKILL)
    return one_by_one(columns, owner, model, options)


def hangs(columns, owner, model, options):
    """Say nothing more on histories that put 666."""
    if _is_marked(columns):
        time.sleep(600)
    return one_by_one(columns, owner, model, options)


def raises(columns, owner, model, options):
    """Fail on histories that put 666."""
    if _is_marked(columns):
        raise RuntimeError("a defect of the judge")
    return one_by_one(columns, owner, model, options)


def condemns(columns, owner, model, options):
    """Call every history a violation."""
    count = len(np.unique(owner))
    rows = {"verdict": "violation", "reason": "condemned", "engine": "", "states": 0, "failing": 0, "seconds": 0.0}
    return SimpleNamespace(**{name: np.array([value] * count) for name, value in rows.items()})


def slowly(columns, owner, model, options):
    """Take a while for each call."""
    time.sleep(0.3)
    return one_by_one(columns, owner, model, options)
