"""Compare what was counted while a job ran with what can be read afterwards.

Spark counts rows where they are made, each once however often a task was tried. A worker with a disk of its own has
written its rows where the driver does not look: 40,000 are counted, 20,000 are there. Then nothing is published.

Invariant: an output gets its name only if each count of the job equals the count of what is in it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.errors import RowsLost
from latchfree_spark.probe import executor, paths
from latchfree_spark.shipping import is_foreign, on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS: Final = 32
"""Enough for each executor of a small cluster to say what it has."""


def account(
    spark: SparkSession, folder: Path | str, counted: Mapping[str, int], there: Mapping[str, int], why: str = ""
) -> None:
    """Raise if a count differs.

    Parameters
    ----------
    spark : SparkSession
        The session that wrote.
    folder : path
        What was written. If it is incomplete, workers say what they have of it, and remove that.
    counted, there : mapping of str to int
        What was counted while the job ran, and what can be read now, by the same names.
    why : str
        What else may be the cause.

    Raises
    ------
    RowsLost
        With the counts, and which executors wrote where.
    """
    wrong = [
        f"{counted[name]:,} {name} counted, {there[name]:,} there" for name in counted if counted[name] != there[name]
    ]
    if not wrong:
        return
    said = [f"{folder}: {'; '.join(wrong)}"]
    if is_foreign(spark):
        said += held(spark, folder)
        why = why or "the output must be at the same path on all hosts, on a shared file system"
    raise RowsLost(". ".join([*said, *([why] if why else []), "Nothing was published"]))


def held(spark: SparkSession, folder: Path | str) -> list[str]:
    """Ask executors what they have of a folder that failed, and have them remove it; best effort, and none at a URI."""
    rows: list[Any] = []
    with suppress(Exception):
        (path,) = paths([folder])
        ask = on_workers(spark, f"{__name__}:swept", path)
        rows = spark.range(0, _TASKS, 1, _TASKS).mapInArrow(ask, "executor string, files long, rows long").collect()
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        found[row.executor] = max(found.get(row.executor, (0, 0)), (row.files, row.rows))
    return [f"{who} has {rows:,} rows in {files:,} files" for who, (files, rows) in sorted(found.items())]


def swept(batches: Iterable[Any], folder: str) -> Iterator[Any]:
    """Count what this worker sees of a folder that failed; remove it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for _ in batches:
        pass
    files, rows = 0, 0
    for file in sorted(Path(folder).rglob("*.parquet")):
        with suppress(pa.ArrowException, OSError):
            rows += pq.read_metadata(file).num_rows
            files += 1
    shutil.rmtree(folder, ignore_errors=True)
    for parent in list(Path(folder).parents)[:1]:
        with suppress(OSError):
            parent.rmdir()
    yield pa.RecordBatch.from_pylist([{"executor": executor(), "files": files, "rows": rows}])
