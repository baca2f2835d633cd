"""Tables of operations for tests, and what the shuffle does to them, done by hand."""

import zlib

import pyarrow as pa

from latchfree_lincheck.formats.record import dumps, records
from latchfree_spark.check import Options
from latchfree_spark.frames.judging import judged
from latchfree_spark.frames.packing import packed

DDL = (
    "history string, process string, f string, arguments string, result string, invoke bigint, `return` bigint,"
    " object string, model string"
)
COLUMNS = ("process", "f", "arguments", "result", "invoke", "return", "object", "model")


def rows_of(histories):
    """Return the operations of histories as rows of text and integers."""
    rows = []
    for history in histories:
        for record in records(history):
            for name in ("process", "arguments", "result"):
                record[name] = dumps(record[name]) if name in record else None
            rows.append({name: record.get(name) for name in ("history", *COLUMNS)})
    return rows


def frame_of(spark, rows, ddl=DDL):
    """Return rows as a table of Spark."""
    names = [part.split()[0].strip("`") for part in ddl.split(", ")]
    return spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], ddl)


def by_hand(rows, names, partitions=1, batch=1000, options=None):
    """Judge rows with the columns `names` as Spark would: packed in batches, dealt out by a hash, sorted."""
    table = pa.Table.from_pylist(
        [{f"by{at}": row[name] for at, name in enumerate(names)} | {c: row[c] for c in COLUMNS} for row in rows],
        pa.schema(
            [(f"by{at}", pa.array([row[name] for row in rows]).type) for at, name in enumerate(names)]
            + [(name, pa.int64() if name in ("invoke", "return") else pa.string()) for name in COLUMNS]
        ),
    )
    fragments = [each for some in table.to_batches(batch) for each in packed([some], len(names))]
    found = []
    if not fragments:
        return found
    whole = pa.Table.from_batches(fragments)
    for partition in range(partitions):
        keys = [tuple(whole[f"by{at}"][row].as_py() for at in range(len(names))) for row in range(len(whole))]
        mine = [row for row, key in enumerate(keys) if zlib.crc32(repr(key).encode()) % partitions == partition]
        mine.sort(key=lambda row: repr(keys[row]))
        some = whole.take(pa.array(mine, pa.int64())).combine_chunks().to_batches(max(1, batch // 3))
        for answer in judged(some, options or Options("map"), tuple(names)):
            found += answer.to_pylist()
    return found
