"""Find the files of messages, and read them as a table of Spark that has all their columns.

Spark takes the columns of a folder of Parquet from one file, and refuses a file of CSV whose header differs from the
first one. So footers and headers are read first (`columns`). Parquet that differs is read with Spark's
``mergeSchema``, CSV that differs group by group; a file that lacks a column has nulls there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.hadoop import is_uri, literally, reader, uri
from latchfree_spark.match.checkpoint import local
from latchfree_spark.match.columns import Seen, alike, footers, headers
from latchfree_spark.match.errors import BadMessages, NoMessages
from latchfree_spark.match.worker import refuse_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

FORMATS: Final = {".parquet": "parquet", ".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".txt": "text"}
"""How files are read, by suffix."""
_OPTIONS: Final[dict[str, dict[str, str]]] = {
    "parquet": {},
    # Quotes as the library reads them: doubled within quotes, where lines may end, too; a backslash is one.
    "csv": {"header": "true", "enforceSchema": "false", "multiLine": "true", "escape": '"'},
    "json": {},
    "text": {},
}


@dataclass(frozen=True)
class Messages:
    """Files of messages of one format.

    Parameters
    ----------
    files : tuple of str
        Paths, or addresses of another file system.
    format : str
        As Spark names it: ``parquet``, ``csv``, ``json`` or ``text``.
    topic : str
        The column with the topics; lines of text are topics.
    schema : str, optional
        The columns, as in ``id long, topic string``; by default found in the files.
    unreadable : tuple of str
        What is wrong with each of the files that were left out.
    groups : tuple of tuple of str
        The files in groups of the same columns.
    rows : mapping of str to int, optional
        How many rows each file has, if the files say it.
    """

    files: tuple[str, ...]
    format: str
    topic: str = "topic"
    schema: str | None = None
    unreadable: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] = ()
    rows: Mapping[str, int] | None = None

    @property
    def options(self) -> dict[str, str]:
        """Return the options with which Spark reads the files."""
        merged = self.format == "parquet" and (len(self.groups) > 1 or any("://" in file for file in self.files))
        return {**_OPTIONS[self.format], **({"mergeSchema": "true"} if merged else {})}

    @property
    def total(self) -> int | None:
        """How many rows the files have, if all say it."""
        return None if self.rows is None else sum(self.rows[file] for file in self.files)

    def without(self, file: str, why: str) -> Messages:
        """Return the messages without one of the files."""
        files = tuple(each for each in self.files if _named(each) != file)
        groups = tuple(tuple(each for each in group if each in files) for group in self.groups)
        left = tuple(group for group in groups if group)
        return replace(self, files=files, unreadable=(*self.unreadable, why), groups=left)

    def parts(self) -> tuple[Messages, ...]:
        """Return tables that Spark can read in one go each; together they are these messages."""
        if self.format != "csv" or not self.groups:
            return (self,)
        return tuple(replace(self, files=group, groups=(group,)) for group in self.groups)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the table.

        Raises
        ------
        BadMessages
            If it has no column of topics that is text.
        """
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), self.frames(spark))

    def frames(self, spark: SparkSession) -> list[DataFrame]:
        """Return the table of each of the parts; such a table knows the file of each row."""
        made = []
        for part in self.parts():
            files = [exact(file) for file in part.files]
            read = reader(spark).format(part.format).options(**part.options)
            schema: Any = part.schema or (_headers(spark, files, part.options) if part.format == "csv" else None)
            frame = (read if schema is None else read.schema(schema)).load(files)
            made.append(part.prepared(frame, ", ".join(part.files[:3])))
        return made

    def prepared(self, frame: DataFrame, source: str) -> DataFrame:
        """Return a table that was read from these files with its column of topics checked."""
        from pyspark.sql.functions import expr

        if self.format == "text":
            frame = frame.withColumnRenamed("value", self.topic)
        frame = frame.drop("_corrupt_record")
        refuse_topic(frame, self.topic, source)
        if self.format == "parquet":
            return frame
        # Bytes that are not UTF-8 become U+FFFD, in Java at the latest: another topic, which nobody has sent.
        topic = f"`{self.topic.replace('`', '``')}`"
        return frame.withColumn(self.topic, expr(f"CASE WHEN {topic} RLIKE '\ufffd' THEN NULL ELSE {topic} END"))


def find(path: str, topic: str = "topic", *, schema: str | None = None, keep_going: bool = False) -> Messages:
    """Find the files of messages that a path names and read the footers of those that are Parquet.

    Parameters
    ----------
    path : str
        A file, a folder (its files, also in folders below; names that start with ``_`` or ``.`` are passed over), a
        glob, or the address of another file system, which is left to Spark.
    topic : str
        The column with the topics.
    schema : str, optional
        The columns, as Spark writes them.
    keep_going : bool
        Leave unreadable files out instead of stopping at the first.

    Raises
    ------
    NoMessages
        If there is no file.
    BadMessages
        If a file is unreadable, or there are files of several formats.
    """
    if "://" in path:
        return Messages((path,), FORMATS.get(Path(path).suffix, "parquet"), topic, schema)
    files = [str(file) for file in _files(path)]
    if not files:
        raise NoMessages(f"{path}: there is no file of messages ({', '.join(FORMATS)})")
    kind = one_format(path, files)
    if kind not in ("parquet", "csv"):
        return Messages(tuple(files), kind, topic, schema)
    seen = footers(files, topic) if kind == "parquet" else headers(files, topic)
    if kind == "csv" and schema is not None:
        _refuse_headers(seen)
    good, unreadable = [each for each in seen if not each.defect], tuple(each.defect for each in seen if each.defect)
    if unreadable and not (keep_going and good):
        raise BadMessages(unreadable[0])
    rows = {each.file: each.rows for each in good if each.rows is not None} if kind == "parquet" else None
    return Messages(tuple(each.file for each in good), kind, topic, schema, unreadable, tuple(alike(good)), rows)


def one_format(path: str, files: Sequence[str]) -> str:
    """Return the format of some files, of which a path is the home.

    Raises
    ------
    BadMessages
        If they have several.
    """
    kinds = {Path(file).suffix.lower() for file in files}
    if len({FORMATS[kind] for kind in kinds}) > 1:
        raise BadMessages(
            f"{path}: there are files of several formats ({', '.join(sorted(kinds))}); name one by a glob"
        )
    return FORMATS[kinds.pop()]


def suffixes(messages: Messages) -> list[str]:
    """Return the suffixes of files of a format."""
    return [suffix for suffix, kind in FORMATS.items() if kind == messages.format]


def kinds_of(path: str) -> set[str]:
    """Return the formats of the files that a path names."""
    return {FORMATS[file.suffix.lower()] for file in _files(path)}


def _refuse_headers(seen: list[Seen]) -> None:
    """Raise if CSV files differ in their columns: one schema cannot be that of all."""
    first, *others = [each for each in seen if each.columns] or [Seen("", "")]
    for each in others:
        if each.columns != first.columns:
            one, other = (", ".join(name for name, _ in file.columns) for file in (first, each))
            raise BadMessages(f"{each.file}: the columns are {other}, and {one} in {first.file}; leave --schema out")


def _files(path: str) -> list[Path]:
    given = Path(path)
    if given.is_file():
        if given.suffix.lower() not in FORMATS:
            raise BadMessages(f"{path}: the suffix must be one of {', '.join(FORMATS)}")
        return [given.absolute()]
    if given.is_dir():
        root, found = given, given.rglob("*")
    elif any(sign in path for sign in "*?["):
        root = Path(given.anchor)
        found = root.glob(str(given.relative_to(root)))
    else:
        raise FileNotFoundError(2, "No such file or directory", path)
    return sorted(
        file.absolute()
        for file in found
        if file.is_file() and file.suffix.lower() in FORMATS and not _hidden(file.relative_to(root))
    )


def _headers(spark: SparkSession, files: list[str], options: Mapping[str, str]) -> StructType:
    """Return the columns of files of CSV, which are all text.

    Where lines may end within quotes, Spark looks for the header by Hadoop's old way, which takes names for patterns.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    plain = spark.read.format("csv").options(**{**options, "multiLine": "false"}).load(files)
    return StructType([StructField(name, StringType()) for name in plain.columns])


def exact(file: str) -> str:
    """Return one of the `Messages.files` as Spark takes it for one name; addresses are that, or patterns, already."""
    return file if is_uri(file) else literally(uri(file))


def _named(file: str) -> str:
    """Return a file as an error of Spark's names it, see `local`."""
    return local(file) if "://" in file else str(Path(file).absolute())


def _hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts if part != "..")
