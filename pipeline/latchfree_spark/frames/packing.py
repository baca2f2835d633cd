"""Pack the operations of a table into fragments, one row for the operations of a history in a batch.

A fragment of a file knows its history by name. Here a history is known by several columns of any type, so each fragment
carries these columns as they are, and the name of `latchfree_spark.check.tables.FRAGMENTS` stays behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from latchfree_spark.check.tables import FRAGMENTS, LISTS, ROWS, pack
from latchfree_spark.frames.columns import key

GATHERED: Final = 1 << 19
"""Operations that are gathered to fragments at a time, at most, where those of each history are scattered."""

SCATTERED: Final = 4
"""Operations of one history that follow each other, on average, are scattered if they are fewer."""

FRAGMENT_DDL: Final = ", ".join(
    ["model string"]
    + [
        f"`{name}` array<{'bigint' if FRAGMENTS.field(name).type.value_type == pa.int64() else 'string'}>"
        for name in LISTS
    ]
)
"""The columns of a fragment beside those that name the history, as Spark writes them."""

Ints = npt.NDArray[np.int64]


def packed(batches: Iterable[Any], keys: int) -> Iterator[Any]:
    """Yield the operations of record batches as fragments.

    Parameters
    ----------
    batches : iterable of RecordBatch
        Columns as `latchfree_spark.frames.columns.canonical` makes them.
    keys : int
        How many columns name a history.
    """
    waiting: list[Any] = []
    held = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        rows = pa.Table.from_batches([batch])
        waiting.append(rows)
        held += len(rows)
        if SCATTERED * len(changes(rows, keys)) <= len(rows) or held >= GATHERED:
            yield from _fragments(pa.concat_tables(waiting), keys)
            waiting, held = [], 0
    if waiting:
        yield from _fragments(pa.concat_tables(waiting), keys)


def numbers(table: Any, keys: int) -> Ints:
    """Return a number for the history of each row: the same number where all columns that name it are equal."""
    found = np.zeros(len(table), np.int64)
    for each in range(keys):
        encoded = table[key(each)].combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        found = np.unique(found * (len(encoded.dictionary) + 1) + codes, return_inverse=True)[1].reshape(-1)
    return found


def changes(table: Any, keys: int) -> Ints:
    """Return the rows before which another history's rows end."""
    history = numbers(table, keys)
    return np.flatnonzero(history[1:] != history[:-1]) + 1


def _fragments(rows: Any, keys: int) -> Iterator[Any]:
    history = numbers(rows, keys)
    count = len(rows)
    text = {
        "history": pa.array(history).cast("string"),
        "place": pa.array(np.arange(count)),
        **{name: rows[name] for name in ROWS.names if name in rows.column_names},
    }
    columns = [
        pa.chunked_array([text[name]]) if isinstance(text[name], pa.Array) else text[name] for name in ROWS.names
    ]
    found = pack(
        pa.table([column.cast(kind) for column, kind in zip(columns, ROWS.types, strict=True)], schema=ROWS), 0
    )
    first = found["first"]
    names = [rows[key(each)].combine_chunks().take(first) for each in range(keys)]
    kept = ["model", *LISTS]
    yield pa.RecordBatch.from_arrays(
        names + [found[name] for name in kept], names=[key(each) for each in range(keys)] + kept
    )
