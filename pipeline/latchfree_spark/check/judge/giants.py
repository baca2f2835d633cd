"""Judge giants: histories so long that several workers judge their parts.

Linearizability is local: a history is linearizable if and only if its part on each object is, and on each key where
every call has one (P-compositionality). A giant is set aside as a Parquet file of its own, sorted by part, whose row
groups are whole parts; each row group is then judged by itself. A part that cannot be divided any more is cut at its
quiescent points by the search, which carries every configuration from one piece to the next.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from latchfree_lincheck import History
from latchfree_lincheck.history.columns import Columns
from latchfree_model import UNKNOWN, Call, get_model
from latchfree_spark.check import reports
from latchfree_spark.check.files import file_name, publish
from latchfree_spark.check.judge.apart import judge_apart
from latchfree_spark.check.judge.batch import Batch, Ints, unpack
from latchfree_spark.check.judge.decoding import decode
from latchfree_spark.check.judge.judging import (
    Row,
    error,
    file_of,
    judge_batch,
    model_of,
    problem_of,
    said,
    unknown_model,
)
from latchfree_spark.check.judge.saving import command, locate, save_small
from latchfree_spark.check.options import Job, Options
from latchfree_spark.check.tables import TEXT, TIMES, as_rows, pack
from latchfree_spark.task import attempt, ends_after

SHARE: Final = 8
"""A row group has at least this fraction of the operations that make a giant."""

SEVERITY: Final = ("error", "violation", "unknown", "ok")
"""From worst to best: the worst verdict on a part is the verdict on the whole."""

GROUP_SCHEMA: Final = "giant string, part int"


def set_aside(alone: Batch, job: Job) -> Row | tuple[str, int]:
    """Write a giant, part by part, for `judge_groups`; return its name there and its groups.

    Of a giant that cannot be judged, return the row.
    """
    name = model_of(alone, 0, job)
    problem = alone.problems[0] or unknown_model(name)
    if problem:
        text = problem if alone.problems[0] else f"{file_of(alone, 0, job)}: {alone.names[0]}: {problem}"
        return error(alone, 0, text)
    columns, wrong, odd = decode(alone)
    unfit = problem_of(alone, 0, job) if odd.any() else None
    if unfit is not None:
        return error(alone, 0, unfit)
    try:
        if wrong.any():
            raise ValueError("a row is malformed")
        _validate(alone.names[0], columns)
        part = _parts(columns, str(name), job.options.divisible_by)
    except (ValueError, TypeError) as reason:
        return error(alone, 0, said(alone, 0, job, str(reason)))
    order = np.argsort(part, kind="stable")
    count = len(order)
    table = pa.table(
        {
            "history": pa.array([alone.names[0]] * count),
            **{each: alone.rows[each].take(pa.array(order)) for each in (*TEXT, *TIMES)},
            "model": pa.array([name] * count),
        }
    ).replace_schema_metadata({"source": alone.sources[0]})
    cuts = _cuts(part[order], max(1, job.options.giant // SHARE))

    def write(file: BinaryIO) -> None:
        with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
            for low, high in pairwise(cuts):
                writer.write_table(table.slice(low, high - low), row_group_size=high - low)

    stem = file_name(alone.names[0], alone.sources[0])
    publish(Path(job.folder, "giants", f"{stem}.parquet"), write)
    return stem, len(cuts) - 1


def _validate(name: str, columns: Columns) -> None:
    """Raise ValueError if the operations, all together, are no history."""
    History.of_columns(
        name,
        process=columns.process,
        f=columns.f,
        arguments=columns.arguments,
        result=columns.result,
        invoke=columns.invoke,
        return_=np.ma.masked_array(columns.return_, ~columns.returned),
        object=columns.object,
    )


def _parts(columns: Columns, name: str, by: Sequence[str]) -> Ints:
    """Return a number for the part of each operation; parts are independent.

    Raises
    ------
    ValueError
        If the model does not have a call.
    """
    model = get_model(name)
    calls = np.stack([columns.f.codes, *(column.codes for column in columns.arguments)], axis=1)
    _, first, which = np.unique(calls, axis=0, return_index=True, return_inverse=True)
    keys: dict[Any, int] = {}
    codes = []
    for row in first.tolist():
        call = Call(columns.f[row], columns.arguments_of(row), UNKNOWN)
        model.validate(call)
        key = model.partition(call) if "key" in by else None
        codes.append(-1 if key is None else keys.setdefault(key, len(keys)))
    key_of = np.array(codes, np.int64)[which.reshape(-1)]
    part = np.zeros(len(key_of), np.int64)
    if "object" in by and columns.object is not None:
        part = columns.object.codes - columns.object.codes.min()
    key_of[np.isin(part, np.unique(part[key_of < 0]))] = 0  # a call on all of an object keeps its keys together
    return part * max(len(keys), 1) + key_of


def _cuts(part: Ints, least: int) -> list[int]:
    """Return the ends of groups of whole parts; each group but the last has at least so many operations."""
    ends = [*(np.flatnonzero(part[1:] != part[:-1]) + 1).tolist(), len(part)]
    cuts = [0]
    for end in ends:
        if end - cuts[-1] >= least or end == len(part):
            cuts.append(end)
    return cuts


def groups(folder: str | Path) -> dict[str, int]:
    """Return the giants that were set aside, and the number of groups of each."""
    files = sorted(Path(folder, "giants").glob("*.parquet"))
    return {file.stem: pq.ParquetFile(file).metadata.num_row_groups for file in files}


def group_file(folder: str | Path, giant: str, number: int) -> Path:
    """Return where the verdict on a group is."""
    return Path(folder, "giants", f"{giant}.{number}.json")


def judge_groups(batches: Iterable[Any], job: Job) -> Iterator[Any]:
    """Judge the groups that the rows of `batches` name; yield a report on each."""
    careful = attempt() > 0
    for batch in batches:
        for asked in batch.to_pylist():
            row = _judge_group(asked["giant"], asked["part"], job, careful)
            text = json.dumps(row, ensure_ascii=False)
            publish(group_file(job.folder, asked["giant"], asked["part"]), text.encode())
            yield reports.batch([reports.group_judged(asked["giant"], asked["part"], text)])


def _judge_group(giant: str, number: int, job: Job, careful: bool) -> Row:
    table = pq.ParquetFile(Path(job.folder, "giants", f"{giant}.parquet")).read_row_group(number, use_threads=False)
    source = table.schema.metadata[b"source"].decode()
    alone = unpack(pa.Table.from_batches([pack(as_rows(table, 1), 0)]), [source])
    if careful:
        (row,) = judge_apart(alone, job)
    else:
        with ends_after(job.hang):
            (row,) = judge_batch(alone, job)
    if row["verdict"] == "violation":
        locate(alone, 0, row, job)
        if job.options.saved:
            save_small(alone, 0, job, Path(job.folder, "failing", f"{giant}.parquet"))
    return row


def fold(folder: str | Path, giant: str, options: Options) -> Row:
    """Return the verdict on a giant from those on its groups; keep the giant itself if it fails."""
    file = Path(folder, "giants", f"{giant}.parquet")
    metadata = pq.ParquetFile(file).metadata
    rows: list[Row] = [
        json.loads(group_file(folder, giant, number).read_text(encoding="utf-8"))
        for number in range(metadata.num_row_groups)
    ]
    worst = min(range(len(rows)), key=lambda number: (SEVERITY.index(rows[number]["verdict"]), number))
    row = dict(rows[worst])
    for name in ("operations", "states", "seconds"):
        row[name] = sum(each[name] for each in rows)
    if row["failing"] is not None:
        row["failing"] += sum(metadata.row_group(number).num_rows for number in range(worst))
    if row["verdict"] == "violation":
        row["saved"] = f"failing/{giant}.parquet"
        row["reproduce"] = command(row["saved"], options)
        publish(Path(folder, row["saved"]), file.read_bytes())
    return row
