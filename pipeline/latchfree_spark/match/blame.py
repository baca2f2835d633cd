"""Find the row that is no message, after a job has failed.

Workers match many rows together and fail as a whole. Only then are the rows read again, to name the file and the row
or line of the first bad one.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.match.checkpoint import local
from latchfree_spark.match.errors import BadMessages, UnreadableFile
from latchfree_spark.match.messages import Messages
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import Dialect

_UNREAD: Final = re.compile(r"FAILED_READ_FILE\S* Encountered error while reading file (.+?)\. ")
_JUDGE: Final = "latchfree_spark.match.invalid:defects"
_HEADER: Final = re.compile(r"CSV header[\s\S]*?CSV file: (\S+)")
_CAUSE: Final = re.compile(r"^Caused by: [^:\n]*: (.*)$", re.MULTILINE)


def blamed(error: Exception, place: Callable[[], str | None]) -> Exception:
    """Return the error that names the row or the file behind a failed job, or `error` itself if there is none.

    Parameters
    ----------
    error : Exception
        The job's.
    place : function
        Finds the first row that is no message.
    """
    text = str(error)
    if "InvalidTopic" in text or "topics must not be null" in text:
        found = place()
        if found is not None:
            return BadMessages(found)
    header = _HEADER.search(text)
    if header:
        return UnreadableFile(local(header[1]), "its columns are not those of the other files")
    unread = _UNREAD.search(text)
    if unread:
        causes = _CAUSE.findall(text)
        return UnreadableFile(local(unread[1]), causes[-1][:200] if causes else "")
    return error


def first_defect(spark: SparkSession, messages: Messages, dialect: Dialect) -> str | None:
    """Return the first row that is no message, by file and row or line, and what is wrong; None if all are good.

    One pass: each task stops looking at a file after its first bad row.
    """
    from pyspark.sql import functions as F

    parquet = messages.format == "parquet"
    row = F.col("_metadata.row_index" if parquet else "_metadata.file_block_start")
    judge = on_workers(spark, _JUDGE, dialect.name)
    found = []
    for frame in messages.frames(spark):
        places = frame.select(
            F.col("_metadata.file_path").alias("file"), row.alias("row"), F.col(f"`{messages.topic}`").alias("topic")
        )
        bad = places.mapInArrow(judge, "file string, row long, topic string, problem string")
        found += bad.orderBy("file", "row").limit(1).collect()
    if not found:
        return None
    first = min(found, key=lambda each: (each.file, each.row))
    file = local(first.file)
    if parquet:
        return f"{file}, row {first.row + 1:,}: {first.problem}"
    line = _line_of(file, messages, first.topic)
    return f"{file}{f', line {line:,}' if line else ''}: {first.problem}"


def first_defect_of(spark: SparkSession, frame: DataFrame, topic: str, dialect: Dialect) -> str | None:
    """Return what is wrong with a row of a table that has no files; None if all are good."""
    from pyspark.sql import functions as F

    judge = on_workers(spark, _JUDGE, dialect.name)
    rows = frame.select(F.lit("").alias("file"), F.lit(0).cast("long").alias("row"), F.col(f"`{topic}`").alias("topic"))
    found = rows.mapInArrow(judge, "file string, row long, topic string, problem string").first()
    return found.problem if found else None


def _line_of(file: str, messages: Messages, text: str | None) -> int | None:
    """Return the line of a file of text with a topic, or where it is missing, if it can be read here."""
    if "://" in file:
        return None
    with Path(file).open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        if messages.format == "csv":
            rows, limit = csv.DictReader(stream), csv.field_size_limit(1 << 30)
            try:
                return next((rows.line_num for row in rows if _is_it(row.get(messages.topic), text)), None)
            finally:
                csv.field_size_limit(limit)  # it is the whole process's
        for number, line in enumerate(stream, 1):
            if messages.format == "text":
                found: object = line.rstrip("\r\n")
            else:
                found = _topic_of(line, messages.topic)
            if _is_it(found, text):
                return number
    return None


def _is_it(found: object, text: str | None) -> bool:
    """Return whether a topic is the one that is sought; None stands for what is no text."""
    return (found or None) == (text or None) or (text is None and "\ufffd" in str(found))


def _topic_of(line: str, topic: str) -> object:
    try:
        row = json.loads(line)
    except ValueError:  # also an integer of thousands of digits
        return None
    return row.get(topic) if isinstance(row, dict) else None
