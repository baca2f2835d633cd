"""Many small histories for benchmarks, made column by column: of a map, by a few processes, with known verdicts.

Each operation takes effect at an instant of its own; it is invoked some time before and returns some time after, as far
as its process is free. A given fraction of the histories has one get that saw what was never put.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

Ints = npt.NDArray[np.int64]

ROW_GROUP = 250_000
"""Operations in a row group, about; none cuts a history."""


def tables(
    histories: int,
    operations: int = 20,
    *,
    keys: int = 3,
    processes: int = 4,
    repeated: bool = False,
    failing: float = 0.001,
    seed: int = 1,
) -> Any:
    """Yield Arrow tables of whole histories, with the columns of a Parquet file of histories.

    Parameters
    ----------
    repeated : bool
        Whether puts take one of three values, so that searches are needed; else every put has its own.
    failing : float
        The fraction of histories that are violations.
    """
    random = np.random.default_rng(seed)
    at_once = max(1, ROW_GROUP // operations)
    for first in range(0, histories, at_once):
        yield _table(random, first, min(at_once, histories - first), operations, keys, processes, repeated, failing)


def _table(
    random: Any, first: int, count: int, length: int, keys: int, processes: int, repeated: bool, failing: float
) -> Any:
    shape = (count, length)
    process = np.tile(np.arange(length) % processes, (count, 1))
    # Operation i takes effect at time 8 i + 4; its process calls every `processes` operations, so there is room around.
    room = 4 * processes - 1
    effect = 8 * np.arange(length) + 4
    invoke = 8 * room + effect - random.integers(1, room, shape)
    return_ = 8 * room + effect + random.integers(1, room, shape)
    key = random.integers(0, keys, shape)
    is_put = random.random(shape) < 0.5
    value = random.integers(0, 3, shape) if repeated else np.tile(np.arange(length), (count, 1))
    held = np.full((count, keys), -1)
    seen = np.empty(shape, np.int64)
    rows = np.arange(count)
    for step in range(length):
        mine = key[:, step]
        seen[:, step] = held[rows, mine]
        held[rows, mine] = np.where(is_put[:, step], value[:, step], seen[:, step])
    bad = np.flatnonzero(random.random(count) < failing)
    place = random.integers(0, length, len(bad))
    is_put[bad, place], seen[bad, place] = False, length + 7
    keyed = np.array([f'["k{each}"' for each in range(keys)])
    return pa.table(
        {
            "history": np.char.add("run-", np.repeat(np.arange(first, first + count), length).astype(str)),
            "process": process.reshape(-1).astype(str),
            "f": np.where(is_put, "put", "get").reshape(-1),
            "arguments": _arguments(keyed, key, value, is_put).reshape(-1),
            "result": np.where(seen < 0, "null", seen.astype(str)).reshape(-1),
            "invoke": invoke.reshape(-1).astype(np.int64),
            "return": return_.reshape(-1).astype(np.int64),
        }
    )


def _arguments(keyed: Any, key: Ints, value: Ints, is_put: Any) -> Any:
    texts = np.char.add(keyed[key], np.where(is_put, np.char.add(", ", value.astype(str)), ""))
    return np.char.add(texts, "]")


def write(folder: Path, histories: int, files: int = 4, *, scattered: bool = False, **choices: Any) -> int:
    """Write histories to Parquet files in a folder, operation after operation or scattered; return the bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    writers: list[Any] = []
    random = np.random.default_rng(0)
    for number, table in enumerate(tables(histories, **choices)):
        if scattered:
            table = table.take(random.permutation(table.num_rows))
        if len(writers) < files:
            writers.append(pq.ParquetWriter(folder / f"{len(writers)}.parquet", table.schema))
        writers[number % files].write_table(table)
    for writer in writers:
        writer.close()
    return sum(file.stat().st_size for file in folder.iterdir())
