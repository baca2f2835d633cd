"""Find the files of messages at a URI, as any file system of Hadoop lists them: nothing is opened by path.

The files say what columns they have while Spark reads them, Parquet with ``mergeSchema``. Rows are counted on their
way.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from latchfree_spark.errors import in_a_line
from latchfree_spark.hadoop import files_at, is_uri, literally
from latchfree_spark.match.blame import blamed
from latchfree_spark.match.errors import BadMessages, NoMessages, UnreadableFile
from latchfree_spark.match.messages import FORMATS, Messages, one_format

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def find_at(
    spark: SparkSession, address: str, topic: str = "topic", *, schema: str | None = None, keep_going: bool = False
) -> Messages:
    """Find the files of messages at a URI, and look at the columns of those that are Parquet.

    Parameters
    ----------
    spark : SparkSession
        The session whose file systems list the files.
    address : str
        A file, a folder (its files, also in folders below, but for hidden ones) or a pattern.
    topic, schema, keep_going
        As `latchfree_spark.match.find` takes them.

    Raises
    ------
    NoMessages
        If there is no file.
    BadMessages
        If nothing is at that address, a file is unreadable, or there are files of several formats.
    """
    from pyspark.errors import AnalysisException

    try:
        found = files_at(spark, address)
    except AnalysisException as error:
        raise BadMessages(f"{address}: {in_a_line(error)}") from None
    files = [_quoted(path) for path in found if PurePosixPath(path).suffix.lower() in FORMATS]
    if not files:
        raise NoMessages(f"{address}: there is no file of messages ({', '.join(FORMATS)})")
    messages = Messages(tuple(files), one_format(address, files), topic, schema)
    while messages.format == "parquet" and schema is None:
        try:
            messages.read(spark)
            break
        except BadMessages:
            raise
        except Exception as error:
            reason = blamed(error, lambda: None)
            if not isinstance(reason, UnreadableFile):
                said = [line for line in str(error).splitlines() if "[" in line]
                raise BadMessages(f"{address}: {said[0].strip() if said else in_a_line(error)}") from error
            fewer = messages.without(reason.file, str(reason))
            if not (keep_going and 0 < len(fewer.files) < len(messages.files)):
                raise reason from error
            messages = fewer
    return messages


def _quoted(path: str) -> str:
    """Return the address of a file as Spark takes it; for a local one it lists ``file:/x``."""
    whole = path if is_uri(path) else path.replace(":/", ":///", 1)
    return literally(whole)
