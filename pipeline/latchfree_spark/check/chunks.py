"""Judge chunk by chunk: a chunk holds all histories whose sources and names have the same remainder of their hash.

The verdicts of a chunk are published as one file, so a chunk is done or not done, never half done. A worker skips a
chunk that is done.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from latchfree_spark.check.attempts import Attempts
from latchfree_spark.check.decoding import Batch, spoil, unpack
from latchfree_spark.check.files import SECONDS, VERDICTS, chunk_file, publish_table
from latchfree_spark.check.giants import set_aside
from latchfree_spark.check.judging import Row, bare, carefully, judge_batch, save
from latchfree_spark.check.options import Job

DONE: Final = pa.schema([("chunk", pa.int32()), ("histories", pa.int64())])
DONE_SCHEMA: Final = "chunk int, histories bigint"

_PULSE: Final = 1.0
"""Seconds between two signs of life, if there is anything to wait for."""

_NOTHING: Final = pa.RecordBatch.from_pylist([], schema=DONE)


def judge_chunks(batches: Iterable[Any], job: Job) -> Iterator[Any]:
    """Judge fragments in order of chunk, source and history; yield a row for each chunk, and empty signs of life."""
    chunk: _Chunk | None = None
    for number, table in _whole(batches):
        if chunk is None or chunk.number != number:
            if chunk is not None:
                yield chunk.finish()
            chunk = _Chunk(number, job)
        yield from chunk.add(table)
    if chunk is not None:
        yield chunk.finish()


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
    def __init__(self, number: int, job: Job) -> None:
        self.number = number
        self._job = job
        self._rows: list[Row] = []
        self._saved = 0
        self._damaged: dict[int, str] = {}
        self._heard = time.monotonic()
        self._path = chunk_file(job.folder, "verdicts", number)
        self._done = self._path.exists()
        self._attempts = None if self._done else Attempts(Path(job.folder, "attempts", job.run, str(number)))

    def add(self, table: Any) -> Iterator[Any]:
        """Judge whole histories; a row without a history says that a file is damaged, or what is wrong with it."""
        if self._attempts is None:
            return
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
        sizes = np.diff(batch.bounds)
        giant = sizes > self._job.options.giant
        for begin, end in _pieces(giant, self._attempts.careful):
            some = batch.part(begin, end)
            if giant[begin]:
                row = set_aside(some, self._job)
                self._rows += [] if row is None else [row]
            elif self._attempts.careful:
                self._keep(some, carefully(some, self._job, self._attempts))
            else:
                self._keep(some, judge_batch(some, self._job))
            if time.monotonic() - self._heard > _PULSE:
                self._heard = time.monotonic()
                yield _NOTHING

    def _keep(self, batch: Batch, rows: list[Row]) -> None:
        for number, row in enumerate(rows):
            if row["verdict"] == "violation" and self._saved < self._job.options.saved:
                row["saved"] = save(batch, number, self._job)
                self._saved += 1
        self._rows += rows

    def finish(self) -> Any:
        """Publish the chunk; the verdicts come last."""
        if self._attempts is not None:
            publish_rows(self._rows, self._job.folder, self.number)
            self._attempts.forget()
        counts = [[self.number], [len(self._rows)]]
        return pa.RecordBatch.from_arrays(
            [pa.array(count, kind) for count, kind in zip(counts, DONE.types, strict=True)], schema=DONE
        )


def _pieces(giant: npt.NDArray[np.bool_], careful: bool) -> list[tuple[int, int]]:
    """Return ranges of histories: each giant by itself, others together unless they are judged carefully."""
    count = len(giant)
    apart = np.ones(max(0, count - 1), np.bool_) if careful else giant[1:] | giant[:-1]
    return list(pairwise([0, *(np.flatnonzero(apart) + 1).tolist(), count]))


def publish_rows(rows: list[Row], folder: str, chunk: int) -> None:
    """Write the two tables of a chunk."""
    for kind, schema in (("seconds", SECONDS), ("verdicts", VERDICTS)):
        columns = {name: [row[name] for row in rows] for name in schema.names}
        publish_table(chunk_file(folder, kind, chunk), pa.table(columns, schema=schema))
