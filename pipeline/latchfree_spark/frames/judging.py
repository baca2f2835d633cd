"""Judge fragments on the workers: each history of a table gives exactly one row.

The fragments of a partition are sorted by the columns that name a history, so a history ends where these change. The
operations of a history are put in order of their times, then of everything else, before they are judged. So neither
the order of a table's rows nor its partitions make a difference to a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from latchfree_spark.check.judge.apart import judge_apart
from latchfree_spark.check.judge.batch import Batch, unpack
from latchfree_spark.check.judge.judging import Row, judge_steadily
from latchfree_spark.check.judge.saving import locate
from latchfree_spark.check.meters import NOT_COUNTED, Meters
from latchfree_spark.check.options import Job, Options
from latchfree_spark.check.tables import FRAGMENTS, LISTS, TEXT
from latchfree_spark.frames.columns import key
from latchfree_spark.frames.packing import changes
from latchfree_spark.frames.witness import Witnesses
from latchfree_spark.task import attempt

VERDICTS: Final = pa.schema(
    [
        ("verdict", pa.string()),
        ("reason", pa.string()),
        ("engine", pa.string()),
        ("operations", pa.int64()),
        ("states", pa.int64()),
        ("failing", pa.int64()),
        ("object", pa.string()),
        ("key", pa.string()),
        ("witness", pa.string()),
        ("reproduce", pa.string()),
        ("seconds", pa.float64()),
    ]
)
"""What is known of each history, beside its name."""

ALSO_NAMES: Final = ("object", "key")
"""Columns that may name a history, too: then the output has the name, and not what the failing operation touches."""

FILE: Final = "operation"
"""Errors begin with the name of a file and a line: here ``operation:3``, in order of times."""


def judged(
    batches: Iterable[Any], options: Options, names: tuple[str, ...], meters: Meters = NOT_COUNTED
) -> Iterator[Any]:
    """Yield the verdicts on sorted fragments.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Fragments as `latchfree_spark.frames.packing.packed` makes them, those of one history together.
    options : Options
        How histories are judged.
    names : tuple of str
        The columns that name a history, as the output calls them.
    meters : Meters
        Count what is judged.
    """
    meters.began(attempt())
    witnesses = Witnesses(options)
    for table in _whole(batches, len(names)):
        begins = np.append(0, changes(table, len(names)))
        rows = verdicts(table, begins, options, witnesses)
        meters.judged(rows)
        columns = [table[key(each)].combine_chunks().take(pa.array(begins)) for each in range(len(names))]
        told = [field for field in VERDICTS if field.name not in names]
        columns += [pa.array([row[field.name] for row in rows], field.type) for field in told]
        yield pa.RecordBatch.from_arrays(columns, names=[*names, *(field.name for field in told)])


def verdicts(table: Any, begins: Any, options: Options, witnesses: Witnesses) -> list[Row]:
    """Return a row for each history of a table of fragments; the first fragments of histories are given."""
    job = Job(options, "", (FILE,), ("table",), hang=2 * options.timeout + 60)
    batch = ordered(_batch(table, begins))
    rows = _judge(batch, job)
    for number, row in enumerate(rows):
        locate(batch, number, row, job)
        witnesses.show(batch, number, row, job)
    return rows


def _whole(batches: Iterable[Any], keys: int) -> Iterator[Any]:
    """Gather batches into tables of whole histories."""
    kept: list[Any] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        table = pa.Table.from_batches([batch])
        if kept and _name(kept[-1], -1, keys) != _name(table, 0, keys):
            yield pa.concat_tables(kept)
            kept = []
        ends = changes(table, keys)
        if len(ends):
            last = int(ends[-1])
            yield pa.concat_tables([*kept, table.slice(0, last)])
            kept, table = [], table.slice(last)
        kept.append(table)
    if kept:
        yield pa.concat_tables(kept)


def _name(table: Any, row: int, keys: int) -> tuple[Any, ...]:
    return tuple(table[key(each)][row].as_py() for each in range(keys))


def _batch(table: Any, begins: Any) -> Batch:
    """Return the histories of fragments, each under a text that tells it to a reader."""
    count = len(table)
    history = np.zeros(count, np.int64)
    history[begins[1:]] = 1
    known = {"history": pa.array(np.cumsum(history)).cast("string")}
    known |= {name: table[name].combine_chunks() for name in ("model", *LISTS)}
    columns = []
    for name, kind in zip(FRAGMENTS.names, FRAGMENTS.types, strict=True):
        if name in known:
            columns.append(known[name].cast(kind))
        else:
            columns.append(pa.array(np.zeros(count, np.int64), kind) if kind != pa.string() else pa.nulls(count, kind))
    batch = unpack(pa.table(columns, schema=FRAGMENTS))
    keys = [name for name in table.column_names if name not in known]
    texts = zip(*(table[name].combine_chunks().take(pa.array(begins)).to_pylist() for name in keys), strict=True)
    return replace(batch, names=["/".join(_text(part) for part in parts) for parts in texts])


def _text(part: object) -> str:
    return part.hex() if isinstance(part, bytes) else "null" if part is None else str(part)


def ordered(batch: Batch) -> Batch:
    """Return the batch with the operations of each history in order of their times, then of their texts."""
    count = len(batch.files)
    owner = np.repeat(np.arange(len(batch)), np.diff(batch.bounds))
    invoke = _filled(batch.rows["invoke"])
    places = pa.array(np.arange(count) - np.repeat(batch.bounds[:-1], np.diff(batch.bounds)) + 1)
    steps = (owner[1:] > owner[:-1]) | (invoke[1:] > invoke[:-1])
    rows = batch.rows
    if not steps.all():
        ranks = [_ranks(rows[name]) for name in reversed(TEXT)] if _tied(owner, invoke) else []
        order = pa.array(np.lexsort([*ranks, _filled(rows["return"]), invoke, owner]))
        rows = {name: rows[name].take(order) for name in LISTS}
    return replace(batch, rows={**rows, "place": places})


def _filled(values: Any) -> Any:
    """Return integers; null is the largest."""
    return pc.fill_null(values, np.iinfo(np.int64).max).to_numpy(zero_copy_only=False)


def _tied(owner: Any, invoke: Any) -> bool:
    order = np.lexsort([invoke, owner])
    owner, invoke = owner[order], invoke[order]
    return bool(((owner[1:] == owner[:-1]) & (invoke[1:] == invoke[:-1])).any())


def _ranks(column: Any) -> Any:
    """Return the place of each text among the texts of a column."""
    encoded = column.dictionary_encode()
    ranks = np.empty(len(encoded.dictionary) + 1, np.int64)
    ranks[-1] = -1
    ranks[pc.array_sort_indices(encoded.dictionary).to_numpy()] = np.arange(len(encoded.dictionary))
    return ranks[encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]


def _judge(batch: Batch, job: Job) -> list[Row]:
    """Judge a batch; if that has failed, judge its histories one by one, so that a defect costs one verdict."""
    if attempt() == 0:
        with suppress(Exception):
            return [row for _, rows in judge_steadily(batch, job) for row in rows]
    return list(judge_apart(batch, job))
