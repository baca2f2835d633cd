"""Judge whole histories, many at a time, and name the problem of each history that cannot be judged."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np

from latchfree_lincheck.formats import HistoryFormatError
from latchfree_lincheck.history.columns import Columns
from latchfree_model import MODELS, get_model
from latchfree_model.models.loading import load_model
from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.judge.criteria import judge_by
from latchfree_spark.check.judge.decoding import decode
from latchfree_spark.check.judge.single import history_of
from latchfree_spark.check.options import LINEARIZABILITY, Job, Options
from latchfree_spark.check.tables import SEVERAL
from latchfree_spark.task import ends_after

FIRST: Final = 256
"""Histories that are judged at a time, at first."""

SLICE: Final = 2.0
"""Seconds after which fewer are judged at a time."""

Row = dict[str, Any]


def judge(columns: Columns, history: Any, model: str, options: Options) -> Any:
    """Return the verdicts on histories that are given as columns; see `latchfree_lincheck.check_many`."""
    from latchfree_lincheck import check_many

    if options.criterion != LINEARIZABILITY:
        return judge_by(columns, history, model, options)
    return check_many(columns, history, model, timeout=options.timeout, memory=options.memory, budget=options.budget)


def judge_batch(batch: Batch, job: Job) -> list[Row]:
    """Return a row of verdict for each history of a batch, in order."""
    found = {number: error(batch, number, text) for number, text in enumerate(batch.problems) if text is not None}
    columns, wrong, odd = decode(batch)
    owner = np.repeat(np.arange(len(batch)), np.diff(batch.bounds))
    for number in np.unique(owner[wrong]).tolist():
        found.setdefault(number, error(batch, number, said(batch, number, job, "a row is malformed")))
    for number in np.unique(owner[odd]).tolist():
        text = problem_of(batch, number, job)
        if text is not None:
            found.setdefault(number, error(batch, number, text))
    models: dict[str, list[int]] = {}
    for number in range(len(batch)):
        if number not in found:
            name = model_of(batch, number, job)
            problem = unknown_model(name)
            if problem:
                found[number] = error(batch, number, f"{file_of(batch, number, job)}: {batch.names[number]}: {problem}")
            else:
                models.setdefault(str(name), []).append(number)
    verdict_on: Callable[..., Any] = function_of(job.options.judge)
    for name, numbers in models.items():
        mine = columns
        if len(numbers) < len(batch):
            kept = np.flatnonzero(np.isin(owner, numbers))
            mine, owners = columns.take(kept), owner[kept]
        else:
            owners = owner
        rows = dict(_rows(batch, numbers, verdict_on(mine, owners, name, job.options), job))
        refused = [number for number in numbers if rows[number]["verdict"] == "error"]
        if odd.any() and len(batch) > 1:  # it may be the value of another history that the model does not take
            rows |= {number: judge_batch(batch.part(number, number + 1), job)[0] for number in refused}
        found |= rows
    return [found[number] for number in range(len(batch))]


def judge_steadily(batch: Batch, job: Job) -> Iterator[tuple[Batch, list[Row]]]:
    """Judge slices of about a second each, so that a worker that hangs is told from one that has much to do."""
    begin, size = 0, FIRST
    while begin < len(batch):
        some = batch.part(begin, min(begin + size, len(batch)))
        started = time.monotonic()
        with ends_after(job.hang):
            rows = judge_batch(some, job)
        yield some, rows
        begin += size
        took = time.monotonic() - started
        size = size * 4 if took < SLICE / 4 else max(1, size // 2) if took > SLICE else size


def _rows(batch: Batch, numbers: list[int], verdicts: Any, job: Job) -> Iterable[tuple[int, Row]]:
    told = zip(
        numbers,
        verdicts.verdict.tolist(),
        verdicts.reason.tolist(),
        verdicts.engine.tolist(),
        verdicts.states.tolist(),
        verdicts.failing.tolist(),
        verdicts.seconds.tolist(),
        strict=True,
    )
    for number, verdict, reason, engine, states, failing, seconds in told:
        if verdict == "error":
            yield number, error(batch, number, said(batch, number, job, reason))
            continue
        yield (
            number,
            {
                "history": batch.names[number],
                "source": batch.sources[number],
                "verdict": verdict,
                "reason": reason,
                "engine": engine,
                "operations": int(batch.bounds[number + 1] - batch.bounds[number]),
                "states": states,
                "failing": failing if verdict == "violation" and failing >= 0 else None,
                "object": None,
                "key": None,
                "saved": None,
                "reproduce": None,
                "seconds": seconds,
            },
        )


def error(batch: Batch, number: int, text: str) -> Row:
    """Return the row of a history that is malformed or that its model cannot read."""
    operations = int(batch.bounds[number + 1] - batch.bounds[number])
    return bare(batch.names[number], "error", text, operations, batch.sources[number])


def bare(history: str | None, verdict: str, reason: str, operations: int = 0, source: str = "") -> Row:
    """Return a row without an engine."""
    return {
        "history": history,
        "source": source,
        "verdict": verdict,
        "reason": reason,
        "engine": "",
        "operations": operations,
        "states": 0,
        "failing": None,
        "object": None,
        "key": None,
        "saved": None,
        "reproduce": None,
        "seconds": 0.0,
    }


def model_of(batch: Batch, number: int, job: Job) -> str | None:
    """Return the name of a history's model: as asked for, else as its file implies."""
    asked = job.options.model
    if asked is None:
        return batch.models[number]
    with suppress(ValueError):  # `unknown_model` says why
        load_model(asked)  # one of the user's own: in this process nobody has loaded it yet
    return asked


def unknown_model(name: str | None) -> str:
    """Return what is wrong with a model's name, if anything is."""
    if name is None:
        return f"say what to check against: --model {'|'.join(MODELS)}"
    if SEVERAL in name:
        return f"expected one model for a history, got {name}; choose one: --model {name.split(SEVERAL)[0]}"
    try:
        get_model(name)
    except ValueError as error:
        return str(error)
    return ""


def said(batch: Batch, number: int, job: Job, otherwise: str) -> str:
    """Return the problem of a history, with file and line."""
    return problem_of(batch, number, job) or f"{file_of(batch, number, job)}: {batch.names[number]}: {otherwise}"


def problem_of(batch: Batch, number: int, job: Job) -> str | None:
    """Return what is wrong with a history, read operation by operation, with file and line."""
    try:
        history_of(batch, number, model_of(batch, number, job), job)
    except HistoryFormatError as error:
        return str(error)
    return None


def file_of(batch: Batch, number: int, job: Job) -> str:
    """Return the file in which a history begins."""
    row = int(batch.bounds[number])
    return job.files[batch.files[row]] if row < len(batch.files) else "input"


def function_of(judge: str) -> Any:
    """Return the function that judges; raise ValueError if there is none of that name."""
    module, _, function = judge.partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"judge: {judge!r} names no function as module:function ({error})") from None
