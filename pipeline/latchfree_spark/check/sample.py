"""Look at the first histories before Spark starts, and tell if none of them is a history of the model.

Example: ``--model queue`` for a million histories of a map. No call is one of a queue, so every verdict would be an
error, after minutes. The look takes at most `HISTORIES` histories and ends at the first one that is right, so it costs
a good input next to nothing.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from latchfree_lincheck.formats import HistoryFormatError
from latchfree_spark.check.input.inputs import CUT, Inputs, Unit
from latchfree_spark.check.input.places import first_problems
from latchfree_spark.check.input.reading import read_units
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.judging import file_of, model_of, unknown_model
from latchfree_spark.check.judge.single import history_of
from latchfree_spark.check.options import Job

HISTORIES: Final = 1000
"""Histories that are looked at; more only where they cannot even be read, up to the end of a unit's beginning."""

UNITS: Final = 100
"""Units that are looked at, each at its beginning."""

_BYTES: Final = 1 << 20
"""Of a unit of lines."""

_OPERATIONS: Final = 1 << 12
"""Operations that are read at a time."""


def first_look(job: Job, inputs: Inputs) -> list[str]:
    """Return what is wrong with the first histories if all of them are wrong, else nothing."""
    problems: list[str] = []
    histories = read = 0
    for unit in inputs.units[:UNITS]:
        asked = pa.RecordBatch.from_pylist([asdict(_beginning(unit))])
        for batch in read_units([asked], job, _OPERATIONS):
            named = batch.filter(batch["history"].is_valid())
            problems += batch.filter(pc.is_null(batch["history"]))["problem"].drop_null().to_pylist()
            if not len(named):
                continue
            whole = unpack(pa.Table.from_batches([named]), job.sources)
            for number in range(len(whole)):
                problem = _problem(whole, number, job)
                if problem is None:
                    return []
                problems.append(problem)
                histories += 1
                read += whole.problems[number] is None
                if read == HISTORIES:
                    return _told(problems, inputs)
        if histories >= HISTORIES:  # of one unit, what cannot be read comes before what can
            break
    return _told(problems, inputs)


def _told(problems: list[str], inputs: Inputs) -> list[str]:
    named, count = first_problems(problems, inputs.cut)
    return [*named, *([f"and {count - len(named):,} more"] if count > len(named) else [])]


def _beginning(unit: Unit) -> Unit:
    if unit.format in ("jsonl", CUT):
        return replace(unit, end=min(unit.end, unit.begin + _BYTES))
    return replace(unit, end=min(unit.end, unit.begin + 1)) if unit.format == "parquet" else unit


def _problem(batch: Any, number: int, job: Job) -> str | None:
    if batch.problems[number] is not None:
        return str(batch.problems[number])
    name = model_of(batch, number, job)
    problem = unknown_model(name)
    if problem:
        return f"{file_of(batch, number, job)}: {batch.names[number]}: {problem}"
    try:
        history_of(batch, number, name, job)
    except HistoryFormatError as error:
        return str(error)
    return None
