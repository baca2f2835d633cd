"""Find the row that is no message, after a job has failed.

Workers match many rows together and fail as a whole. Only then are the rows read again, to name the file and the row
or line of the first bad one.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from latchfree_spark.match.errors import BadMessages, UnreadableFile
from latchfree_spark.match.messages import Messages
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from latchfree.topics import Dialect

_UNREAD: Final = re.compile(r"FAILED_READ_FILE\S* Encountered error while reading file (.+?)\. ")
_CAUSE: Final = re.compile(r"^Caused by: [^:\n]*: (.*)$", re.MULTILINE)


def blamed(error: Exception, spark: SparkSession, messages: Messages, dialect: Dialect) -> Exception:
    """Return the error that names the row or the file behind a failed job, or `error` itself if there is none."""
    text = str(error)
    if "InvalidTopic" in text or "topics must not be null" in text:
        place = first_defect(spark, messages, dialect)
        if place is not None:
            return BadMessages(place)
    unread = _UNREAD.search(text)
    if unread:
        causes = _CAUSE.findall(text)
        return UnreadableFile(local(unread[1]), causes[-1][:200] if causes else "")
    return error


def defect(text: object, dialect: Dialect) -> str | None:
    """Return what is wrong with a topic."""
    from latchfree.topics import InvalidTopic

    if text is None:
        return "there is no topic"
    try:
        dialect.topic(str(text))
    except InvalidTopic as error:
        return str(error)
    return None


def first_defect(spark: SparkSession, messages: Messages, dialect: Dialect) -> str | None:
    """Return the first row that is no message, by file and row or line, and what is wrong; None if all are good."""
    from pyspark.sql import functions as F

    parquet = messages.format == "parquet"
    row = F.col("_metadata.row_index") if parquet else F.lit(0).cast("long")
    places = messages.read(spark).select(
        F.col("_metadata.file_path").alias("file"), row.alias("row"), F.col(messages.topic).alias("topic")
    )

    judge = on_workers(spark, f"{__name__}:defects", dialect.name)
    found = places.mapInArrow(judge, "file string, row long, topic string, problem string")
    first = found.orderBy("file", "row").limit(1).collect()
    if not first:
        return None
    file = local(first[0].file)
    if parquet:
        return f"{file}, row {first[0].row + 1:,}: {first[0].problem}"
    line = _line_of(file, messages, first[0].topic)
    return f"{file}{f', line {line:,}' if line else ''}: {first[0].problem}"


def defects(batches: Iterator[Any], dialect: str) -> Iterator[Any]:
    """Yield the rows of record batches that are no messages, with what is wrong as one more column."""
    import pyarrow as pa

    from latchfree.topics import get_dialect

    rules = get_dialect(dialect)
    for batch in batches:
        problems = [defect(text, rules) for text in batch.column("topic").to_pylist()]
        yield batch.append_column("problem", pa.array(problems, pa.string())).filter(
            pa.array([problem is not None for problem in problems])
        )


def local(address: str) -> str:
    """Return the path of a file that Spark names; addresses of other file systems as they are."""
    return unquote(urlsplit(address).path) if address.startswith("file:") else address


def _line_of(file: str, messages: Messages, text: str | None) -> int | None:
    """Return the line of a file of text with a topic, or where it is missing, if it can be read here."""
    if "://" in file:
        return None
    with Path(file).open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        if messages.format == "csv":
            rows = csv.DictReader(stream)
            return next((rows.line_num for row in rows if (row.get(messages.topic) or None) == text), None)
        for number, line in enumerate(stream, 1):
            if messages.format == "text":
                found: object = line.rstrip("\r\n")
            else:
                found = _topic_of(line, messages.topic)
            if found == text:
                return number
    return None


def _topic_of(line: str, topic: str) -> object:
    try:
        row = json.loads(line)
    except json.JSONDecodeError:
        return None
    return row.get(topic) if isinstance(row, dict) else None
