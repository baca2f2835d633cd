"""Describe where a stream reads: the files that appear in a folder, or any other source that Spark knows.

Example of the second kind: format ``kafka`` with the options ``kafka.bootstrap.servers`` and ``subscribe``, and the
columns ``topic`` and ``CAST(value AS STRING) AS payload``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.hadoop import uri
from latchfree_spark.match.checkpoint import Read
from latchfree_spark.match.columns import footers
from latchfree_spark.match.errors import BadMessages
from latchfree_spark.match.messages import FORMATS, Messages, exact, find, suffixes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_AGE: Final = "36500d"
"""Spark passes over files that are so much older than the newest one; its default, a week, loses what rsync brings."""


@dataclass(frozen=True)
class Source:
    """Where a stream reads.

    Parameters
    ----------
    address : str
        A folder or a glob of files; what other sources load, "" for nothing.
    messages : Messages
        Of files: format, columns and topic. Of other sources only the topic counts.
    format : str
        As Spark names the source; "" for files.
    options : mapping of str to str
        What the source is told.
    select : tuple of str
        Expressions of SQL, the columns; by default those of the source.
    columns : frozenset of str, optional
        The columns of the files that were there, in lower case; a file with others is refused. None if they were given.
    """

    address: str
    messages: Messages
    format: str = ""
    options: Mapping[str, str] | None = None
    select: tuple[str, ...] = ()
    columns: frozenset[str] | None = None

    def reader(self, spark: SparkSession, max_files: int | None = None) -> DataFrame:
        """Return the table without end."""
        messages = self.messages
        if self.format:
            made = spark.readStream.format(self.format).options(**(self.options or {}))
            made = made if messages.schema is None else made.schema(messages.schema)
            return made.load(self.address) if self.address else made.load()
        made = spark.readStream.format(messages.format).options(**messages.options).schema(str(messages.schema))
        names = ",".join(
            "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in each) for each in suffixes(messages)
        )
        made = made.option("recursiveFileLookup", "true").option("pathGlobFilter", f"*{{{names}}}")
        made = made.option("maxFileAge", _AGE).options(**(self.options or {}))
        if max_files is not None:
            made = made.option("maxFilesPerTrigger", max_files)
        if "://" in self.address:
            return made.load(self.address)
        folder = Path(self.address)
        return made.load(exact(self.address) if folder.is_dir() else uri(self.address))

    def prepared(self, frame: DataFrame) -> DataFrame:
        """Return a table of this source with the columns chosen, and that of the topics checked."""
        from pyspark.sql import functions as F

        topic = self.messages.topic
        if self.select:
            frame = frame.selectExpr(*self.select)
        if self.format and dict(frame.dtypes).get(topic) == "binary":
            frame = frame.withColumn(topic, F.col(f"`{topic}`").cast("string"))
        named = replace(self.messages, format="parquet") if self.format else self.messages
        return named.prepared(frame, self.address or self.format)

    def of(self, spark: SparkSession, read: Sequence[Read]) -> Messages:
        """Return the messages of one batch, with the number of rows if the files say it.

        Raises
        ------
        BadMessages
            If a file has a column that the stream would leave out.
        """
        made = replace(self.messages, files=tuple(each.path for each in read))
        remote = any("://" in file for file in made.files)
        if not made.files or (remote and made.format == "parquet"):
            return made
        if made.format == "parquet":
            seen = footers(made.files, made.topic)
            for each in seen:
                self._refuse(each.file, [name for name, _ in each.columns])
            known = all(each.rows is not None for each in seen)
            return replace(made, rows={each.file: int(each.rows or 0) for each in seen}) if known else made
        if made.format == "json" and self.columns is not None:
            table = spark.read.format("json").load([exact(file) for file in made.files])
            self._refuse(", ".join(made.files[:3]), [name for name in table.columns if name != "_corrupt_record"])
        return made

    def _refuse(self, file: str, names: Sequence[str]) -> None:
        more = [] if self.columns is None else [name for name in names if name.lower() not in self.columns]
        if more:
            raise BadMessages(
                f"{file}: the column {more[0]} came after the stream was started; start it again, and it goes on"
                f" with all columns, or name those that count with --schema"
            )


def described(
    spark: SparkSession,
    address: str,
    topic: str,
    schema: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    select: Sequence[str] = (),
) -> tuple[Source, DataFrame]:
    """Return a source, and a table of its columns.

    Raises
    ------
    BadMessages
        If there is no column of topics that is text, or CSV files have different columns.
    NoMessages
        If there are no files to learn the columns from.
    """
    if format in FORMATS.values():
        raise BadMessages(f"files of the format {format} are known by their suffix; leave --format out")
    if select and not format:
        raise BadMessages("--select is for the sources of --format; files say what their columns are, see --schema")
    if format:
        source = Source(address, Messages((), format, topic, schema), format, dict(options or {}), tuple(select))
        return source, source.prepared(source.reader(spark))
    told = dict(options or {})
    if schema is not None:
        source = Source(address, Messages((), _kind(address), topic, schema), options=told)
        return source, source.prepared(spark.createDataFrame([], schema))
    messages = find(address, topic)
    if len(messages.groups) > 1 and messages.format == "csv":
        one, other = (group[0] for group in messages.groups[:2])
        raise BadMessages(f"{other}: the columns are not those of {one}; a stream of CSV needs the same in all files")
    frame = messages.read(spark)
    kinds = ", ".join(f"`{name}` {kind}" for name, kind in frame.dtypes)
    schema = "value string" if messages.format == "text" else kinds
    columns = None if messages.format == "text" else frozenset(name.lower() for name in frame.columns)
    source = Source(address, Messages((), messages.format, topic, schema), columns=columns, options=told)
    return source, frame


def _kind(address: str) -> str:
    """Return the format of files whose columns are given: that of the files that are there, else of the suffix."""
    from latchfree_spark.match.messages import kinds_of

    found = set() if "://" in address else kinds_of(address)
    if len(found) > 1:
        raise BadMessages(
            f"{address}: there are files of several formats ({', '.join(sorted(found))}); name one by a glob"
        )
    return found.pop() if found else FORMATS.get(Path(address).suffix.lower(), "parquet")
