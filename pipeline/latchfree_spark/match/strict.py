r"""Find the files of text that Spark reads otherwise than this library: they count as damaged, and nothing is guessed.

Example: ``{"topic": "a"}{"topic": "b"}`` on one line is one message to Spark, which passes over the rest, and no JSON
to anybody else. A row of CSV that ends with ``\n`` where the header ends with ``\r\n`` is a part of the row before.

JSON is read line by line. Of CSV only files with carriage returns need a look, and of these only such as do not end
each line with one, outside of quotes: each of them comes to one worker as a whole.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from latchfree_spark.hadoop import literally, reader
from latchfree_spark.match.checkpoint import local
from latchfree_spark.match.errors import UnreadableFile
from latchfree_spark.match.messages import Messages, exact
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DDL: Final = "file string, line binary, problem string"
_SUSPECT: Final = (
    "bool_or(instr(value, '\\r') > 0) AND bool_or(NOT endswith(value, '\\r')"
    " OR instr(value, '\\r') < length(value) OR (length(value) - length(replace(value, '\"', ''))) % 2 = 1)"
)
"""Whether a file of CSV has carriage returns other than one at the end of each line, or quotes around a line's end."""


def refuse_ambiguous(spark: SparkSession, messages: Messages) -> None:
    """Raise UnreadableFile for a file of CSV or JSON that Spark reads otherwise than this library."""
    if messages.format == "json":
        found = _looked_at(_lines(spark, messages.files, "CAST(value AS BINARY) AS line"), "of_json", messages.topic)
    elif messages.format == "csv":
        found = _ambiguous_csv(spark, messages.files)
    else:
        return
    first = found.orderBy("file").first()
    if first is not None:
        file = local(first["file"])
        line = _number(file, bytes(first["line"])) if first["line"] is not None else None
        raise UnreadableFile(file, f"{f'line {line:,}: ' if line else ''}{first['problem']}")


def _lines(spark: SparkSession, files: Iterable[str], value: str) -> DataFrame:
    """Return the lines of files of text; only a line feed ends one."""
    lines = reader(spark).option("lineSep", "\n").text([exact(file) for file in files])
    return lines.selectExpr("_metadata.file_path AS file", value)


def _looked_at(frame: DataFrame, function: str, *arguments: Any) -> DataFrame:
    return frame.mapInArrow(on_workers(frame.sparkSession, f"{__name__}:{function}", *arguments), _DDL)


def _ambiguous_csv(spark: SparkSession, files: Iterable[str]) -> DataFrame:
    from pyspark.sql import functions as F

    judged = _lines(spark, files, "value").groupBy("file").agg(F.expr(_SUSPECT).alias("suspect"))
    suspects = [literally(unquote(row["file"])) for row in judged.where("suspect").collect()]
    if not suspects:
        return spark.createDataFrame([], _DDL).where("false")  # which Spark knows to be empty
    whole = reader(spark).format("binaryFile").load(suspects)
    return _looked_at(whole.selectExpr("_metadata.file_path AS file", "content"), "of_csv")


def _number(file: str, line: bytes) -> int | None:
    """Return the number of a line of a file, if it can be read here."""
    if "://" in file:
        return None
    with Path(file).open("rb") as lines:
        return next((number for number, each in enumerate(lines, 1) if _bare(each) == _bare(line)), None)


def _bare(line: bytes) -> bytes:
    """Return a line without the mark of UTF-8 and its end."""
    return line.removeprefix(codecs.BOM_UTF8).removesuffix(b"\n")


def of_json(batches: Iterable[Any], topic: str) -> Iterator[Any]:
    """Yield, of each file of a batch, the first line that is not one value, or whose topic is no text."""
    for batch in batches:
        told: dict[str, tuple[bytes, str]] = {}
        for file, line in zip(batch["file"].to_pylist(), batch["line"].to_pylist(), strict=True):
            if file not in told and (problem := ambiguity(line or b"", topic)):
                told[file] = line, problem
        yield _told(told)


def of_csv(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the files whose rows do not all end alike, or that have a carriage return within quotes."""
    for batch in batches:
        told = {}
        for file, content in zip(batch["file"].to_pylist(), batch["content"].to_pylist(), strict=True):
            if problem := ends_differ(content):
                told[file] = None, problem
        yield _told(told)


def _told(told: dict[str, Any]) -> Any:
    import pyarrow as pa

    rows = [{"file": file, "line": line, "problem": problem} for file, (line, problem) in told.items()]
    schema = pa.schema([("file", pa.string()), ("line", pa.binary()), ("problem", pa.string())])
    return pa.RecordBatch.from_pylist(rows, schema=schema)


def ambiguity(line: bytes, topic: str) -> str:
    """Return what Spark would read otherwise in a line of JSON; "" for nothing: to Spark, too, broken JSON is none."""
    text = line.decode("utf-8-sig", errors="replace").strip()
    if not text:
        return ""
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return ""
    if text[end:].strip():
        return f"expected one JSON object, got more after column {end}: {text[end : end + 40]!r}"
    if not isinstance(value, dict):
        return ""
    if value.get(topic) is not None and not isinstance(value[topic], str):
        return f"expected text as {topic!r}, got {value[topic]!r}"
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            return "half of a pair of surrogates is no text"
    return ""


_DECODER: Final = json.JSONDecoder()


def ends_differ(content: bytes) -> str:
    """Return how the ends of the rows of a file of CSV differ; "" if they do not."""
    pulled: list[str] = []

    def lines() -> Iterator[str]:
        for line in io.BytesIO(content):
            pulled.append(line.decode("utf-8", errors="replace"))
            yield pulled[-1]

    usual = ""
    rows = csv.reader(lines())
    limit = csv.field_size_limit(1 << 30)
    try:
        for _ in rows:
            *inner, last = pulled
            pulled.clear()
            if any("\r" in each for each in (*inner, last.removesuffix("\n").removesuffix("\r"))):
                return (
                    f"line {rows.line_num:,}: a carriage return within a field, which Spark would take for a line's end"
                )
            end = "\\r\\n" if last.endswith("\r\n") else "\\n" if last.endswith("\n") else usual
            usual = usual or end
            if end != usual:
                return f"line {rows.line_num:,}: a row that ends with {end}, others end with {usual}"
    except csv.Error as error:
        return f"line {rows.line_num:,}: {error}"
    finally:
        csv.field_size_limit(limit)  # it is the whole process's
    return ""
