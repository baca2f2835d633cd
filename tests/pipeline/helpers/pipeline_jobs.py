"""Jobs without Spark: what the shuffle does, done by hand."""

import zlib
from contextlib import nullcontext
from dataclasses import asdict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_lincheck import History, Operation
from latchfree_spark.check import Options, check_files
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.input.reading import read_units
from latchfree_spark.check.options import Job
from latchfree_spark.check.tables import FRAGMENTS


def fragments(inputs, folder, options=None, chunks=1, *, marked=False):
    """Read files; return the job and the fragments, as one table, with or without the marks."""
    options = options or Options("map")
    found = find(inputs, join=options.join)
    job = Job(options, str(folder), found.files, found.formats, found.sources, chunks)
    units = pa.RecordBatch.from_pylist([asdict(unit) for unit in found.units])
    table = pa.Table.from_batches(list(read_units([units], job)), FRAGMENTS)
    return job, table if marked else table.filter(pc.or_(table["history"].is_valid(), table["problem"].is_valid()))


def shuffled(table, chunks, rows):
    """Return batches of so many fragments, sorted as Spark sorts them."""
    names = table["history"].to_pylist()
    sources = table["source"].to_pylist()
    numbers = [
        (0 if name is None else zlib.crc32(name.encode()) % chunks) if for_chunk is None else for_chunk
        for name, for_chunk in zip(names, table["for_chunk"].to_pylist(), strict=True)
    ]
    files, firsts = table["file"].to_pylist(), table["first"].to_pylist()
    order = sorted(
        range(len(names)),
        key=lambda row: (
            numbers[row],
            sources[row],
            names[row] is not None,
            (names[row] or "").encode(),
            files[row],
            firsts[row],
        ),
    )
    numbered = (
        table.append_column("chunk", pa.array(numbers, pa.int32())).take(pa.array(order, pa.int64())).combine_chunks()
    )
    return numbered.to_batches(max_chunksize=rows)


def verdicts(out):
    """Return the rows of a job's table of verdicts."""
    rows = []
    for file in sorted((out / "verdicts").glob("*.parquet")):
        rows += pq.read_table(file).to_pylist()
    return rows


def content(out):
    """Return the bytes of each file of the table of verdicts."""
    return {file.name: file.read_bytes() for file in sorted((out / "verdicts").iterdir())}


def run(spark, inputs, out, options=None, **more):
    """Run a job on the tests' session."""
    options = options or Options("map")
    return check_files(inputs, out, options, open_session=lambda: nullcontext(spark), **{"chunks": 3, **more})


def put_and_get(name, value=1, seen=None, operations=1):
    """Return a history in which one process puts a value and another one then sees `seen`, if that is given."""
    made = [Operation(0, "put", ("k", value), None, 0, 1)]
    for turn in range(operations):
        made.append(Operation(1, "get", ("k",), value if seen is None else seen, 2 * turn + 2, 2 * turn + 3))
    return History(name, made)
