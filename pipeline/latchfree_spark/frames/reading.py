"""Read histories at any URI that Spark reads, as one table of operations.

Example: ``webhdfs://host:9870/runs`` has Parquet files, JSON Lines and a log. Spark lists them and reads each kind its
own way: Parquet as tables, JSON Lines as lines of text, other files as bytes; workers parse the latter two (`parsing`).
What nobody can read becomes an operation of the history null of its source, with nothing in it but what is wrong:
nobody knows which history it belongs to, so no history of that source can be judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from latchfree_spark.check.options import BadInput, JobRefused
from latchfree_spark.check.tables import KNOWN, REQUIRED
from latchfree_spark.errors import in_a_line
from latchfree_spark.frames.columns import canonical, quoted
from latchfree_spark.frames.parsing import DDL
from latchfree_spark.hadoop import files_at, is_below, is_hidden, is_there, literally, reader, without_system
from latchfree_spark.match.blame import blamed
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

BY: Final = ("source", "history")
"""What names a history."""

_WORKERS: Final = "latchfree_spark.frames.parsing"
_LINES: Final = tuple(f"{kind}{packed}" for kind in (".jsonl", ".ndjson") for packed in ("", ".gz"))
"""Lines that Spark unpacks and divides among workers; what other files hold, their content tells.

Not ``.bz2``: what follows a whole block and is no block is the end of the file to Hadoop, and not damage.
"""

_PATTERN: Final = re.compile(r"[*?\[{]")
_PART: Final = "/(part-([a-z]-)?[0-9]{5}[^/]*|part[.][0-9]+[.]parquet)$"
"""The parts that a job of Spark or Hadoop writes; the second is what Dask writes."""

_PATH: Final = "url_decode(replace(_metadata.file_path, '+', '%2B'))"
"""The file of a row, as SQL."""

_TEXT: Final = ("string", "varchar", "char", "binary", "void")
_LOOKERS: Final = 16


def operations(
    spark: SparkSession, inputs: Sequence[str], model: str | None = None, *, join: bool = False, out: str = ""
) -> DataFrame:
    """Return the operations at some URIs, with columns as `canonical` makes them for `BY`, and ``problem``.

    Parameters
    ----------
    spark : SparkSession
        The session that reads the files.
    inputs : sequence of str
        Files, folders (all files below, but for hidden ones) or patterns. A file that several of them name is read
        once.
    model : str, optional
        That of the logs, if it is not the one that their format implies.
    join : bool
        A name is one history in all files: all are of one source, without a name.
    out : str
        Where the job writes.

    Raises
    ------
    BadInput
        If there is no file, or a table lacks a column.
    JobRefused
        If the job would read what it writes.
    """
    seen: set[str] = set()
    frames: list[DataFrame] = []
    for name in inputs:
        files, root = _files(spark, name, len(inputs) == 1)
        if out and (is_below(out, name) or any(is_below(file, out) for file in files)):
            raise JobRefused(f"{out} is among the inputs, below {name}: choose an OUT that no IN holds")
        frames += [_canonical(frame, name) for frame in _frames(spark, sorted({*files} - seen), root, model)]
        seen.update(files)
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.unionByName(frame)
    return whole.selectExpr("'' AS by0", *(quoted(name) for name in whole.columns if name != "by0")) if join else whole


def _canonical(frame: DataFrame, name: str) -> DataFrame:
    """Return a table of operations with text and integers only."""
    try:
        return canonical(frame, BY, ("problem",))
    except ValueError as error:
        raise BadInput([f"{name}: {error}"]) from None


def _files(spark: SparkSession, name: str, alone: bool) -> tuple[list[str], str]:
    """Return the files that an input names, and the folder or file below which they are sources, "" for none."""
    from pyspark.errors import AnalysisException

    exact = is_there(spark, name) or not _PATTERN.search(name)
    if not exact and "**" in name:
        raise BadInput([f"{name}: at a URI ** is one name, as * is; name the folder, and all files below are read"])
    try:
        found = files_at(spark, name)
    except AnalysisException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        found = []
    # Spark's rule of what is hidden has exceptions: names with =, and _metadata.
    top = f"{without_system(name).rstrip('/')}/" if exact else ""
    found = [path for path in found if not is_hidden(without_system(path).removeprefix(top) if top else path)]
    if not found:
        raise BadInput([f"{name}: there are no files"])
    return found, name if alone and exact else ""


def _frames(spark: SparkSession, files: Sequence[str], root: str, model: str | None) -> Iterator[DataFrame]:
    """Yield a table for each kind of file."""
    kinds: dict[str, list[str]] = {"parquet": [], "lines": [], "others": []}
    for path in files:
        kind = "parquet" if path.endswith(".parquet") else "lines" if path.endswith(_LINES) else "others"
        kinds[kind].append(literally(path))
    source = f"{_source(root)} AS source"
    for schema, alike in _alike(spark, kinds["parquet"]):
        yield _parquet(spark, schema, alike, source)
    if kinds["lines"]:
        # As bytes: text that is not UTF-8 is told, and not changed. A carriage return alone ends no line.
        lines = reader(spark).option("lineSep", "\n").text(kinds["lines"])
        part = f"CASE WHEN {_PATH} RLIKE '{_PART}' THEN {_PATH} END AS part"
        lines = lines.selectExpr(source, part, "CAST(value AS BINARY) AS value")
        yield lines.mapInArrow(on_workers(spark, f"{_WORKERS}:of_lines"), DDL)
    if kinds["others"]:
        others = reader(spark).format("binaryFile").load(kinds["others"]).selectExpr(source, "path", "content")
        yield others.mapInArrow(on_workers(spark, f"{_WORKERS}:of_files", model), DDL)


def _alike(spark: SparkSession, files: Sequence[str]) -> Iterator[tuple[StructType, list[str]]]:
    """Yield Parquet files that are one table, with the columns of all of them: mostly that is all files.

    Where one file has integers of 32 bits and another of 64, those with the same columns are a table.
    """
    if not files:
        return
    schema = _schema(spark, files)
    if schema is not None:
        yield schema, list(files)
        return
    alike: dict[StructType, list[str]] = {}
    for file in files:
        alone = _schema(spark, [file])
        assert alone is not None, "one file agrees with itself"
        alike.setdefault(alone, []).append(file)
    yield from alike.items()


def _parquet(spark: SparkSession, schema: StructType, files: Sequence[str], source: str) -> DataFrame:
    """Return the rows of Parquet files; where a file is wrong, its rows have no history, and say what is wrong."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import StructType

    where = ", ".join(files[:3])
    missing = [name for name in REQUIRED if name not in schema.names]
    other = [name for name in schema.names if name not in KNOWN and name.lower() in KNOWN]
    if missing or other:
        name = missing[0] if missing else other[0].lower()
        raise BadInput([f"{where}: expected the column {name!r}, got only {', '.join(schema.names)}"])
    frame = reader(spark).schema(StructType([schema[name] for name in KNOWN if name in schema.names])).parquet(*files)
    kind = frame.schema["history"].dataType
    if kind.typeName() not in _TEXT:
        raise BadInput([f"{where}: expected a column 'history' of text, got {kind.simpleString()}"])
    columns = [_as_text(name, kind) for name, kind in frame.dtypes]
    rows = frame.selectExpr(source, "_metadata.file_path AS at", *columns)
    wrong = _without_columns(spark, frame) if len(files) > 1 else []
    problem = "CASE WHEN history IS NULL THEN concat(source, ': expected a name of a history, got null') END"
    if wrong:
        told = spark.createDataFrame(wrong, "damaged string, told string")
        rows = rows.join(F.broadcast(told), F.expr("at = damaged"), "left")
        problem = f"coalesce(told, {problem})"
    rows = rows.withColumn("problem", F.expr(problem))
    return rows.withColumn("history", F.expr("CASE WHEN problem IS NULL THEN history END"))


def _schema(spark: SparkSession, files: Sequence[str]) -> StructType | None:
    """Return the columns that any of the files has, None if types differ; ``Object`` and ``object`` are two columns."""
    setting = "spark.sql.caseSensitive"
    usual = spark.conf.get(setting, "false")
    spark.conf.set(setting, "true")
    try:
        return spark.read.option("mergeSchema", "true").parquet(*files).schema
    except Exception as error:
        if "CANNOT_MERGE_SCHEMAS" in str(error) and len(files) > 1:
            return None
        raise BadInput([f"{', '.join(files[:3])}: {in_a_line(blamed(error, lambda: None))}"]) from error
    finally:
        spark.conf.set(setting, usual or "false")


def _as_text(name: str, kind: str) -> str:
    """Return a column as SQL. In a file null is an unknown result, whatever the type that a writer gave to nulls."""
    is_plain = not kind.startswith(("array", "map", "struct"))
    if kind in ("binary", "void") or (name == "result" and is_plain):
        return f"CAST({quoted(name)} AS STRING) AS {quoted(name)}"
    return quoted(name)


def _without_columns(spark: SparkSession, frame: DataFrame) -> list[tuple[str, str]]:
    """Return the files that lack a column which others have, each with a problem.

    Spark reads null there. In other columns that is no operation; without a result it is an operation whose result
    nobody knows, and without a return one that goes on, and both would count. So files with nothing but nulls there are
    looked at one by one.
    """
    from pyspark.sql import functions as F

    counts = frame.groupBy(F.col("_metadata.file_path").alias("at")).agg(F.count("result"), F.count("return"))
    suspects = [row["at"] for row in counts.where("`count(result)` = 0 OR `count(return)` = 0").collect()]

    def look(at: str) -> tuple[str, str] | None:
        columns = spark.read.parquet(literally(unquote(at))).columns
        missing = [name for name in REQUIRED if name not in columns]
        problem = f"{unquote(at)}: expected the column {missing[0]!r}, got only {', '.join(columns)}" if missing else ""
        return (at, problem) if problem else None

    with ThreadPoolExecutor(_LOOKERS) as lookers:
        return [found for found in lookers.map(look, suspects) if found is not None]


def _source(root: str) -> str:
    """Return what tells the histories of one writer from those of another, as SQL.

    That is the file, or the folder of part files that one job wrote together, below `root`. Parts in the root itself
    have its name and a slash, which no file below has.
    """
    home = f"regexp_replace({_PATH}, '{_PART}', '')"
    if not root:
        return home
    # Spark writes file:/x as file:///x; whatever comes before the path does not count.
    top = without_system(root)
    text = top.replace("\\", "\\\\").replace("'", "\\'")
    folder, after = f"{text.rstrip('/')}/", len(top.rstrip("/")) + 2
    below = f"regexp_replace({home}, '^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?', '')"
    return (
        f"CASE WHEN {below} = '{text}' THEN"
        f" concat(regexp_extract({below}, '([^/]*)$', 1), CASE WHEN {home} = {_PATH} THEN '' ELSE '/' END)"
        f" WHEN startswith({below}, '{folder}') THEN substring({below}, {after}) ELSE {home} END"
    )
