"""Find the files of messages, and read them as a table of Spark.

Spark takes the columns of a folder of Parquet from one file and fills what others lack with nulls, so the footer of
each file is read first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.match.errors import BadMessages, NoMessages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS: Final = {".parquet": "parquet", ".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".txt": "text"}
"""How files are read, by suffix."""
_OPTIONS: Final[dict[str, dict[str, str]]] = {
    "parquet": {},
    "csv": {"header": "true", "enforceSchema": "false"},
    "json": {},
    "text": {},
}


@dataclass(frozen=True)
class Messages:
    """Files of messages of one format.

    Parameters
    ----------
    files : tuple of str
        Paths, or one address of another file system.
    format : str
        As Spark names it: ``parquet``, ``csv``, ``json`` or ``text``.
    topic : str
        The column with the topics; lines of text are topics.
    schema : str, optional
        The columns, as in ``id long, topic string``; by default found in the files.
    unreadable : tuple of str
        What is wrong with each of the files that were left out.
    """

    files: tuple[str, ...]
    format: str
    topic: str = "topic"
    schema: str | None = None
    unreadable: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, str]:
        """Return the options with which Spark reads the files."""
        return _OPTIONS[self.format]

    def without(self, file: str, why: str) -> Messages:
        """Return the messages without one of the files."""
        files = tuple(each for each in self.files if str(Path(each).absolute()) != file)
        return replace(self, files=files, unreadable=(*self.unreadable, why))

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the table.

        Raises
        ------
        BadMessages
            If it has no column of topics that is text.
        """
        reader = spark.read.format(self.format).options(**self.options)
        if self.schema is not None:
            reader = reader.schema(self.schema)
        return self.prepared(reader.load([uri(file) for file in self.files]), ", ".join(self.files[:3]))

    def prepared(self, frame: DataFrame, source: str) -> DataFrame:
        """Return a table that was read from these files with its column of topics checked."""
        if self.format == "text":
            frame = frame.withColumnRenamed("value", self.topic)
        frame = frame.drop("_corrupt_record")
        kinds = dict(frame.dtypes)
        if self.topic not in kinds:
            raise BadMessages(f"{source}: expected a column {self.topic}, got {', '.join(kinds)}; see --topic-column")
        if kinds[self.topic] != "string":
            raise BadMessages(f"{source}: the column {self.topic} must be text, not {kinds[self.topic]}")
        return frame


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
    kinds = {Path(file).suffix.lower() for file in files}
    if not files:
        raise NoMessages(f"{path}: there is no file of messages ({', '.join(FORMATS)})")
    if len({FORMATS[kind] for kind in kinds}) > 1:
        raise BadMessages(
            f"{path}: there are files of several formats ({', '.join(sorted(kinds))}); name one by a glob"
        )
    kind = FORMATS[kinds.pop()]
    unreadable: list[str] = []
    if kind == "parquet":
        found = [(file, _footer_defect(file, topic)) for file in files]
        unreadable = [defect for _, defect in found if defect]
        files = [file for file, defect in found if not defect]
        if unreadable and not (keep_going and files):
            raise BadMessages(unreadable[0])
    return Messages(tuple(files), kind, topic, schema, tuple(unreadable))


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


def _hidden(path: Path) -> bool:
    return any(part.startswith(("_", ".")) for part in path.parts if part != "..")


def _footer_defect(file: str, topic: str) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        return f"{file}: no Parquet, {error}"
    if topic not in schema.names:
        return f"{file}: expected a column {topic}, got {', '.join(schema.names)}; see --topic-column"
    kind = schema.field(topic).type
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not (pa.types.is_string(value) or pa.types.is_large_string(value)):
        return f"{file}: the column {topic} must be text, not {kind}"
    return None


def uri(path: str) -> str:
    """Return a path as Spark takes it, signs of a glob quoted; addresses of other file systems as they are."""
    return path if "://" in path else "file://" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(Path(path).absolute()))
