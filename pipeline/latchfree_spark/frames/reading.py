"""Read histories at any URI that Spark reads, as one table of operations.

Example: ``webhdfs://host:9870/runs`` has Parquet files, JSON Lines and a log. Spark lists them and reads each kind its
own way: Parquet as tables, JSON Lines as lines of text, logs as bytes; workers parse the latter two. A line that is no
JSON object, and a log that is none, become an operation of the history null of their source, with nothing in it but
what is wrong: nobody knows which history they belong to, so no history of that source can be judged.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from latchfree_lincheck.formats import HistoryFormatError, read_history
from latchfree_lincheck.formats.record import dumps, records
from latchfree_spark.check.options import BadInput
from latchfree_spark.check.tables import KNOWN
from latchfree_spark.frames.columns import canonical, quoted
from latchfree_spark.hadoop import is_there, literally
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BY: Final = ("source", "history")
"""What names a history."""

READ: Final = pa.schema(
    [(name, pa.string()) for name in ("source", "history", "process", "f", "arguments", "result")]
    + [("invoke", pa.int64()), ("return", pa.int64())]
    + [(name, pa.string()) for name in ("object", "model", "problem")]
)
_DDL: Final = ", ".join(f"`{field.name}` {'bigint' if field.type == pa.int64() else 'string'}" for field in READ)

_LINES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_PATTERN: Final = re.compile(r"[*?\[{]")
_PART: Final = r"/part[-.][^/]*$"
_BATCH: Final = 1 << 14
_INTEGERS: Final = range(-(2**63) + 1, 2**63)


def operations(
    spark: SparkSession, inputs: Sequence[str], model: str | None = None, *, join: bool = False
) -> DataFrame:
    """Return the operations at some URIs, with columns as `canonical` makes them for `BY`, and ``problem``.

    Parameters
    ----------
    spark : SparkSession
    inputs : sequence of str
        Files, folders (all files below, but for hidden ones) or patterns.
    model : str, optional
        That of the logs, if it is not the one that their format implies.
    join : bool
        A name is one history in all files: all are of one source, without a name.

    Raises
    ------
    BadInput
        If there is no file, or a table lacks a column.
    """
    frames = [_canonical(frame) for name in inputs for frame in _frames(spark, name, len(inputs) == 1, model)]
    if not frames:
        raise BadInput([f"{name}: there are no files" for name in inputs])
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame)
    return whole.selectExpr("'' AS by0", *(quoted(name) for name in whole.columns if name != "by0")) if join else whole


def _canonical(frame: DataFrame) -> DataFrame:
    """Return a table of operations with text and integers only."""
    try:
        made = canonical(frame, BY, ("problem",) if "problem" in frame.columns else ())
    except ValueError as error:
        raise BadInput([str(error)]) from None
    return made if "problem" in frame.columns else made.selectExpr("*", "CAST(NULL AS STRING) AS problem")


def _frames(spark: SparkSession, name: str, alone: bool, model: str | None) -> Iterator[DataFrame]:
    """Yield a table for each kind of file below a URI."""
    exact = is_there(spark, name) or not _PATTERN.search(name)
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", "true")
    found = sorted(row["path"] for row in reader.load(literally(name) if exact else name).select("path").collect())
    if not found:
        raise BadInput([f"{name}: there are no files"])
    root = name.rstrip("/") if alone and exact else ""
    kinds: dict[str, list[str]] = {"parquet": [], "lines": [], "logs": []}
    for path in found:
        kind = "parquet" if path.endswith(".parquet") else "lines" if path.endswith(_LINES) else "logs"
        kinds[kind].append(literally(path))
    source = f"{_source(root)} AS source"
    if kinds["parquet"]:
        frame = spark.read.option("mergeSchema", "true").parquet(*kinds["parquet"])
        columns = [quoted(each) for each in frame.columns if each in KNOWN]
        if "history" in frame.columns:
            nameless = "CASE WHEN history IS NULL THEN concat(source, ': expected a name of a history, got null') END"
            yield frame.selectExpr(source, *columns).selectExpr("*", f"{nameless} AS problem")
        else:
            yield frame.selectExpr(source, *columns)
    if kinds["lines"]:
        lines = spark.read.text(kinds["lines"]).selectExpr(source, "value")
        yield lines.mapInArrow(on_workers(spark, f"{__name__}:parsed"), _DDL)
    if kinds["logs"]:
        logs = spark.read.format("binaryFile").load(kinds["logs"]).selectExpr(source, "path", "content")
        yield logs.mapInArrow(on_workers(spark, f"{__name__}:of_logs", model), _DDL)


def _source(root: str) -> str:
    """Return what tells the histories of one writer from those of another, as SQL.

    That is the file, or the folder of part files that one job wrote together, below `root`.
    """
    path = "url_decode(replace(_metadata.file_path, '+', '%2B'))"
    home = f"regexp_replace({path}, '{_PART}', '')"
    if not root:
        return home
    # Spark writes file:/x as file:///x; whatever comes before the path does not count.
    top = re.sub(r"^[A-Za-z][\w+.-]*:(//[^/]*)?", "", root).replace("\\", "\\\\").replace("'", "\\'")
    below = f"regexp_replace({home}, '^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?', '')"
    return (
        f"CASE WHEN {below} = '{top}' THEN regexp_extract({below}, '([^/]*)$', 1)"
        f" WHEN startswith({below}, '{top}/') THEN substring({below}, {len(top) + 2}) ELSE {home} END"
    )


def parsed(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the operations of lines of JSON, given as source and value."""
    for batch in batches:
        rows = []
        for source, text in zip(batch["source"].to_pylist(), batch["value"].to_pylist(), strict=True):
            if text and not text.isspace():
                rows.append(_operation(source, text))
        yield pa.RecordBatch.from_pylist(rows, schema=READ)


def of_logs(batches: Iterable[Any], model: str | None) -> Iterator[Any]:
    """Yield the operations of whole files of other formats, given as source, path and content."""
    for batch in batches:
        for log in batch.to_pylist():
            with tempfile.NamedTemporaryFile(suffix=PurePosixPath(log["path"]).suffix) as file:
                file.write(log["content"])
                file.flush()
                try:
                    rows = [
                        _row(log["source"], record | {"history": log["source"]})
                        for history in read_history(Path(file.name), None, model)
                        for record in records(history)
                    ]
                except HistoryFormatError as error:
                    rows = [{"source": log["source"], "problem": str(error).replace(file.name, log["path"])}]
            for begin in range(0, len(rows), _BATCH):
                yield pa.RecordBatch.from_pylist(rows[begin : begin + _BATCH], schema=READ)


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_reject)


def _operation(source: str, text: str) -> dict[str, Any]:
    """Return the operation of a line; null for what is missing or of the wrong type: its history is then malformed."""
    try:
        record = _DECODER.decode(text.strip().lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        return {"source": source, "problem": f"{source}: expected a JSON object, got {text.strip()[:60]!r} ({error})"}
    if not isinstance(record, dict):
        return {"source": source, "problem": f"{source}: expected a JSON object, got {text.strip()[:60]!r}"}
    if _text(record.get("history")) is None:
        return {"source": source, "problem": f'{source}: expected a string as "history", got {text.strip()[:60]!r}'}
    return _row(source, record)


def _text(value: object) -> str | None:
    """Return a string that Arrow and Spark can hold; half a pair of surrogates is none."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _row(source: str, record: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source, "history": record["history"]}
    for name in ("process", "arguments", "result"):
        row[name] = dumps(record[name]) if name in record else None
    for name in ("f", "object", "model"):
        row[name] = _text(record.get(name))
    for name in ("invoke", "return"):
        time = record.get(name)
        row[name] = time if type(time) is int and time in _INTEGERS else None
    wrong = record.get("return") is not None and row["return"] is None
    if (
        wrong
        or "return" not in record
        or not all(record.get(name) is None or row[name] is not None for name in ("object", "model"))
    ):
        row["invoke"] = None
    return row
