"""Judge chunk by chunk: a chunk holds all histories whose names have the same remainder of their hash.

The verdicts of a chunk are published as one file, so a chunk is done or not done, never half done; then it is reported.
Which chunks are to be judged, the driver says: a file that a worker finds may be another job's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from latchfree_spark.check import reports
from latchfree_spark.check.files import SECONDS, VERDICTS, chunk_file, publish_table
from latchfree_spark.check.judge.apart import judge_apart
from latchfree_spark.check.judge.batch import Batch, spoil, unpack
from latchfree_spark.check.judge.giants import set_aside
from latchfree_spark.check.judge.judging import Row, bare, judge_steadily
from latchfree_spark.check.judge.saving import locate, save
from latchfree_spark.check.meters import Meters
from latchfree_spark.check.options import Job
from latchfree_spark.check.tables import MARKS, marks
from latchfree_spark.task import attempt

UNMETERED: Final = Meters()


def judge_chunks(batches: Iterable[Any], job: Job, meters: Meters = UNMETERED) -> Iterator[Any]:
    """Judge fragments in order of chunk, source and history; yield the reports of each chunk and of the units."""
    chunk: _Chunk | None = None
    careful = attempt() > 0
    meters.began(attempt())
    for number, table in _whole(batches):
        if number == MARKS:
            yield reports.batch([reports.unit_read(*mark) for mark in marks(table)])
            continue
        if chunk is None or chunk.number != number:
            if chunk is not None:
                yield chunk.finish(meters)
            chunk = _Chunk(number, job, careful)
        chunk.add(table)
    if chunk is not None:
        yield chunk.finish(meters)


def _whole(batches: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Gather batches into tables that hold whole histories of one chunk."""
    kept: list[Any] = []
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table = pa.Table.from_batches([batch])
        names = table["history"].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
        chunks, sources = table["chunk"].to_numpy(), table["source"].to_numpy()
        differ = (names[1:] != names[:-1]) | (chunks[1:] != chunks[:-1]) | (sources[1:] != sources[:-1])
        changes = np.flatnonzero(differ) + 1
        if kept and _identity(kept[-1], -1) != _identity(table, 0):
            yield from _by_chunk(pa.concat_tables(kept))
            kept = []
        if len(changes):
            yield from _by_chunk(pa.concat_tables([*kept, table.slice(0, changes[-1])]))
            kept, table = [], table.slice(changes[-1])
        kept.append(table)
    if kept:
        yield from _by_chunk(pa.concat_tables(kept))


def _identity(table: Any, row: int) -> tuple[int, int, str | None]:
    return table["chunk"][row].as_py(), table["source"][row].as_py(), table["history"][row].as_py()


def _by_chunk(table: Any) -> Iterator[tuple[int, Any]]:
    chunks = table["chunk"].to_numpy()
    bounds = [0, *(np.flatnonzero(chunks[1:] != chunks[:-1]) + 1).tolist(), len(chunks)]
    for low, high in pairwise(bounds):
        yield int(chunks[low]), table.slice(low, high - low)


class _Chunk:
    def __init__(self, number: int, job: Job, careful: bool) -> None:
        self.number = number
        self._job = job
        self._careful = careful
        self._rows: list[Row] = []
        self._reports: list[dict[str, Any]] = []
        self._saved = 0
        self._damaged: dict[int, str] = {}

    def add(self, table: Any) -> None:
        """Judge whole histories; a row without a history says that a file is damaged, or what is wrong with it."""
        named = np.asarray(table["history"].is_valid())
        for row in table.filter(~named).select(["file", "problem", "for_chunk"]).to_pylist():
            if row["for_chunk"] is None:
                self._rows.append(bare(None, "error", row["problem"]))
            else:
                self._damaged.setdefault(row["file"], row["problem"])
        if not named.any():
            return
        batch = unpack(table if named.all() else table.filter(named), self._job.sources)
        spoil(batch, self._damaged)
        giant = np.diff(batch.bounds) > self._job.options.giant
        for begin, end in _pieces(giant):
            some = batch.part(begin, end)
            if giant[begin]:
                self._set_aside(some)
            elif self._careful:
                for number, row in enumerate(judge_apart(some, self._job)):
                    self._keep(some, number, row)
            else:
                for each, rows in judge_steadily(some, self._job):
                    for number, row in enumerate(rows):
                        self._keep(each, number, row)

    def _set_aside(self, alone: Batch) -> None:
        aside = set_aside(alone, self._job)
        if isinstance(aside, dict):
            self._rows.append(aside)
        else:
            self._reports.append(reports.giant_set_aside(*aside))

    def _keep(self, batch: Batch, number: int, row: Row) -> None:
        if row["verdict"] == "violation":
            locate(batch, number, row, self._job)
            if self._saved < self._job.options.saved:
                save(batch, number, row, self._job)
                self._saved += 1
        self._rows.append(row)

    def finish(self, meters: Meters) -> Any:
        """Publish the chunk and return the reports; the verdicts come last."""
        meters.judged(self._rows)
        publish_rows(self._rows, self._job.folder, self.number)
        return reports.batch([*self._reports, reports.chunk_judged(self.number, len(self._rows))])


def _pieces(giant: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return ranges of histories: each giant by itself, others together."""
    apart = giant[1:] | giant[:-1]
    return list(pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), len(giant)]))


def publish_rows(rows: list[Row], folder: str, chunk: int) -> None:
    """Write the two tables of a chunk."""
    for kind, schema in (("seconds", SECONDS), ("verdicts", VERDICTS)):
        columns = {name: [row[name] for row in rows] for name in schema.names}
        publish_table(chunk_file(folder, kind, chunk), pa.table(columns, schema=schema))
