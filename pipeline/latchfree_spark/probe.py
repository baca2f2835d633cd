"""Find out before the work whether all executors see the folder of the output and the files of the input.

Two workers have a ``/data`` each. Spark lets both write their half of a table to it, the driver moves the half that it
sees, and no error is raised anywhere. So the driver writes a marker with a random name into the folder first. Each
executor must read the marker and write one of its own, which the driver must read. A random name can be in no cache of
a network disk, so nobody sees it by mistake or overlooks it.

Invariant: a probe that returns has seen, from each executor that ran one of its tasks, a file of that executor in the
driver's folder. Executors that come later are not known here: jobs compare what was counted with what is there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from latchfree_spark.errors import NotShared
from latchfree_spark.shipping import is_foreign, is_remote, on_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES: Final = 8
"""So many of the input files are looked at."""
ROUNDS: Final = 5
"""Executors that register late are waited for so many times."""
_UNKNOWN: Final = 16
"""Tasks where nobody says how many executors there are: Spark Connect."""
_NAMED: Final = 5
"""So many executors are named."""
_MARKER: Final = "driver"
_SCHEMA: Final = "executor string, host string, mark string, problem string"


def probe(spark: SparkSession, folder: Path | str, files: Sequence[Path | str] = ()) -> None:
    """Raise if an executor does not see what the driver sees; a local session is not asked.

    Parameters
    ----------
    spark : SparkSession
        The session whose executors are asked.
    folder : path
        Where the output will be. It is there, and is left as it was. An address of another file system is not probed.
    files : sequence of path
        Input, of which the first `FILES` must have the same size everywhere; addresses are left out.

    Raises
    ------
    NotShared
        Naming the hosts, what they do not see, and the way out.
    """
    if not is_foreign(spark):
        return
    sizes = {path: Path(path).stat().st_size for path in paths(files)[:FILES]}
    (home,) = paths([folder]) or [""]
    marks = Path(home, f".latchfree-{secrets.token_hex(8)}.probe") if home else None
    if marks is not None:
        marks.mkdir()
        (marks / _MARKER).write_text(marks.name)
    try:
        seen: set[str] = set()
        for _ in range(ROUNDS):
            look = on_workers(spark, f"{__name__}:looked", "" if marks is None else str(marks), sizes)
            tasks = _tasks(spark)
            rows = spark.range(0, tasks, 1, tasks).mapInArrow(look, _SCHEMA).collect()
            refuse(rows, marks, home)
            seen.update(row.executor for row in rows)
            if len(seen) >= _executors(spark):
                return
    finally:
        if marks is not None:
            shutil.rmtree(marks, ignore_errors=True)


def looked(batches: Iterable[Any], marks: str, sizes: dict[str, int]) -> Iterator[Any]:
    """Look on a worker; yield one row: who this is, the file that it made, and what it does not see ("" if nothing)."""
    import pyarrow as pa

    for _ in batches:
        pass
    mark, problem = uuid.uuid4().hex, ""
    try:
        if marks:
            held = Path(marks, _MARKER).read_text()
            if held != Path(marks).name:
                problem = "another marker"
            Path(marks, mark).write_text(mark)
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
    for file, size in {} if problem else sizes.items():
        try:
            there = Path(file).stat().st_size
        except OSError as error:
            problem = f"{file}: {error.strerror}"
            break
        if there != size:
            problem = f"{file}: {there:,} bytes, the driver sees {size:,}"
            break
    row = {"executor": executor(), "host": socket.gethostname(), "mark": mark if marks else "", "problem": problem}
    yield pa.RecordBatch.from_pylist([row])


def executor() -> str:
    """Return a name for the executor that this worker process belongs to: the host, and the process of its JVM."""
    parent = os.getppid()  # the daemon that forks workers
    with suppress(OSError, IndexError, ValueError):
        parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
    return f"{socket.gethostname()}:{parent}"


def refuse(rows: Sequence[Any], marks: Path | None, home: str) -> None:
    """Raise if a worker did not see something, or if the driver does not see what a worker wrote."""
    blind: dict[str, str] = {}
    for row in rows:
        problem = row.problem
        if not problem and marks is not None and not (marks / row.mark).is_file():
            problem = f"the driver does not see what was written to {home}"
        if problem:
            blind.setdefault(row.executor, problem)
    if not blind:
        return
    named = "; ".join(f"{who}: {what}" for who, what in sorted(blind.items())[:_NAMED])
    more = f"; and {len(blind) - _NAMED} more" if len(blind) > _NAMED else ""
    raise NotShared(
        f"{len(blind)} of {len({row.executor for row in rows})} executors (host:process) do not share files with the"
        f" driver: {named}{more}. Input and output must be at the same path on all hosts, on a shared file system:"
        f" mount it there, or name a folder that is on one. Nothing was written"
    )


def paths(given: Sequence[Path | str]) -> list[str]:
    """Return the local ones of some paths and addresses."""
    made = []
    for each in map(str, given):
        if each.startswith("file:"):
            made.append(unquote(urlsplit(each).path))
        elif "://" not in each:
            made.append(str(Path(each).absolute()))
    return made


def _executors(spark: SparkSession) -> int:
    """Return how many executors the driver knows; 0 if it does not say."""
    if is_remote(spark):
        return 0
    jvm: Any = spark.sparkContext._jsc
    return max(0, len(jvm.sc().statusTracker().getExecutorInfos()) - 1)


def _tasks(spark: SparkSession) -> int:
    """Return enough tasks for each executor to get one: Spark hands them out in turn."""
    if is_remote(spark):
        return _UNKNOWN
    return int(max(2 * _executors(spark), spark.sparkContext.defaultParallelism))
