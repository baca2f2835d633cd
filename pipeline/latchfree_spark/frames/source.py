"""Read files of histories as a table: ``spark.read.format("latchfree").load("runs/")``.

Example: a folder has a Parquet file, JSON Lines and a log of Jepsen. The table has a row for each operation of all of
them, with the columns of the Parquet format and ``source``, which tells a history from one with the same name in
another file. A file that cannot be read, and a row that is no operation, fail the query by name: a row less might turn
a history into another one. So does a file that has another size where it is read than where it was looked at: that
host has another file at the path. The classes are made inside a function, so that they reach workers by value.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from latchfree_spark.check.input.finding import compression, find
from latchfree_spark.check.input.inputs import CUT, Inputs
from latchfree_spark.check.input.reading import read_units
from latchfree_spark.check.options import BadInput, Job, Options
from latchfree_spark.check.tables import TEXT, TIMES
from latchfree_spark.shipping import on_workers
from latchfree_spark.task import host

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSource

NAME: Final = "latchfree"
"""What ``spark.read.format`` calls it."""

SCHEMA: Final = pa.schema(
    [("source", pa.string()), ("history", pa.string())]
    + [(name, pa.string()) for name in TEXT[:4]]
    + [(name, pa.int64()) for name in TIMES]
    + [("object", pa.string()), ("model", pa.string())]
)
"""One row an operation; process, arguments and result are JSON text."""

_FIX: Final = "a file must be the same on all hosts, and must not change while it is read"

DDL: Final = ", ".join(f"`{field.name}` {'bigint' if field.type == pa.int64() else 'string'}" for field in SCHEMA)


def data_source(spark: SparkSession) -> type[DataSource]:
    """Return the data source, to be registered with the session."""
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

    look = on_workers(spark, f"{__name__}:look")
    read = on_workers(spark, f"{__name__}:operations")
    ddl, called = DDL, NAME

    class Reader(DataSourceReader):
        """Deals the units of files out to tasks."""

        def __init__(self, path: str) -> None:
            self._path = path

        def partitions(self) -> list[InputPartition]:
            return [InputPartition(piece) for piece in look([self._path])]

        def read(self, partition: InputPartition) -> Iterator[Any]:
            yield from read([partition.value])

    class Latchfree(DataSource):
        """Files of histories, in every format that `latchfree check` reads."""

        @classmethod
        def name(cls) -> str:
            return called

        def schema(self) -> str:
            return ddl

        def reader(self, schema: Any) -> Reader:
            if "path" not in self.options:
                raise ValueError(f'name a file, a folder or a pattern: spark.read.format("{called}").load("runs/")')
            return Reader(self.options["path"])

    return Latchfree


def look(paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the pieces that tasks read, pickled: Spark hands them to a worker before it has these packages.

    Raises
    ------
    BadInput
        If a file cannot be read, as far as a look at it tells.
    """
    found = find([path.removeprefix("file://") for path in paths])
    if found.problems:
        raise BadInput(found.problems)
    for task in dict.fromkeys(unit.task for unit in found.units):
        mine = tuple(unit for unit in found.units if unit.task == task)
        yield pickle.dumps(replace(found, units=mine))


def operations(pieces: Iterable[bytes]) -> Iterator[Any]:
    """Yield record batches with the operations of some pieces.

    Raises
    ------
    BadInput
        If a file is damaged, or a row is no operation.
    """
    for piece in pieces:
        found: Inputs = pickle.loads(piece)
        _refuse_others(found)
        job = Job(Options(), "", found.files, found.formats, found.sources)
        units = [asdict(unit) for unit in found.units]
        for batch in read_units([pa.RecordBatch.from_pylist(units)], job):
            problems = [text for text in batch["problem"].unique().to_pylist() if text is not None]
            if problems:
                raise BadInput(problems)
            operations = batch.filter(batch["history"].is_valid())  # the rest is a mark
            if len(operations):
                yield flat(operations, found.sources)


def _refuse_others(found: Inputs) -> None:
    """Raise BadInput unless this host has the files that were looked at; lines may have grown since."""
    problems = []
    for number in dict.fromkeys(unit.file for unit in found.units):
        file, size = found.files[number], found.stamps[number].size
        grows = found.formats[number] in ("jsonl", CUT) and not compression(Path(file))
        try:
            there = Path(file).stat().st_size
        except OSError as error:
            problems.append(f"{file} on {host()}: {error.strerror}; {_FIX}")
        else:
            if there < size or (there > size and not grows):
                problems.append(f"{file} on {host()}: {there:,} bytes, and {size:,} where it was looked at; {_FIX}")
    if problems:
        raise BadInput(problems)


def flat(fragments: Any, sources: tuple[str, ...]) -> Any:
    """Return the operations of fragments, a row each."""
    lengths = pc.list_value_length(fragments["invoke"]).to_numpy(zero_copy_only=False).astype(np.int64)
    owner = pa.array(np.repeat(np.arange(len(lengths)), lengths))
    named = pa.array(sources, pa.string()).take(fragments["source"])
    columns = []
    for name in SCHEMA.names:
        if name in ("source", "history", "model"):
            columns.append((named if name == "source" else fragments[name]).take(owner))
        elif fragments[name].null_count:
            lists = fragments[name].to_pylist()
            entries = [entry for each, length in zip(lists, lengths, strict=True) for entry in each or [None] * length]
            columns.append(pa.array(entries, SCHEMA.field(name).type))
        else:
            columns.append(fragments[name].flatten())
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)
