"""Histories as Arrow tables: one row an operation to read, one row a *fragment* to send through the shuffle.

A fragment holds the operations of one history in one batch of a file: the name, and a list for each column. Recorders
write the operations of a history together, so a history of twenty operations is one row to send, not twenty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from latchfree_lincheck.formats import HistoryFormatError

TEXT: Final = ("process", "f", "arguments", "result", "object")
TIMES: Final = ("invoke", "return")
LISTS: Final = (*TEXT, *TIMES, "place")
SEVERAL: Final = " | "
"""Between models of one history, which may have only one."""

REQUIRED: Final = ("history", "process", "f", "arguments", "result", "invoke", "return")
KNOWN: Final = (*REQUIRED, "object", "model")

ROWS: Final = pa.schema(
    [("history", pa.string()), ("model", pa.string())]
    + [(name, pa.string()) for name in TEXT]
    + [(name, pa.int64()) for name in (*TIMES, "place")]
)
"""One row an operation; process, arguments and result are JSON text."""

FRAGMENTS: Final = pa.schema(
    [("source", pa.int32()), ("file", pa.int32()), ("first", pa.int64()), ("history", pa.string())]
    + [("model", pa.string()), ("problem", pa.string())]
    + [(name, pa.list_(pa.string())) for name in TEXT]
    + [(name, pa.list_(pa.int64())) for name in (*TIMES, "place")]
    + [("for_chunk", pa.int32())]
)
"""One row a fragment; `problem` says what is wrong with the history, or with the file if there is no history.

A history is known by its source and its name: the histories h0 of two files are two histories. A row with `for_chunk`
goes to that chunk: it tells that all histories of the file are incomplete, or, in the chunk `MARKS`, it ends a unit.
Other rows go to the chunk of their history's name.
"""

MARKS: Final = -1
"""The chunk of marks."""

FRAGMENT_SCHEMA: Final = ", ".join(
    ["source int", "file int", "first bigint", "history string", "model string", "problem string"]
    + [f"{name} array<string>" for name in TEXT]
    + [f"`{name}` array<bigint>" for name in (*TIMES, "place")]
    + ["for_chunk int"]
)


def open_parquet(path: str | Path) -> Any:
    """Open a Parquet file of histories.

    Raises
    ------
    HistoryFormatError
        If it is none, or a column is missing or of the wrong type.
    """
    try:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise HistoryFormatError(path, 1, "a Parquet file", first_line(error)) from None
    for name in REQUIRED:
        if name not in schema.names:
            raise HistoryFormatError(path, 1, f"the column {name!r}", f"only {', '.join(schema.names)}")
    for name in schema.names:
        if name in KNOWN and not _fits(name, schema.field(name).type):
            expected = "integers" if name in TIMES else "text"
            raise HistoryFormatError(path, 1, f"a column {name!r} of {expected}", str(schema.field(name).type))
    return file


def _fits(name: str, kind: Any) -> bool:
    """Return whether a column's values can be read: text or integers, in any of Arrow's ways to hold them."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return True
    if pa.types.is_integer(kind):
        return name in (*TIMES, "process")
    return name not in TIMES and any(is_text(kind) for is_text in _IS_TEXT)


_IS_TEXT: Final = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)


def extra_columns(schema: Any) -> list[str]:
    """Return the columns that are not read."""
    return [name for name in schema.names if name not in KNOWN]


def first_line(error: BaseException) -> str:
    """Return the text of an error on one line."""
    return str(error).strip().split("\n")[0] or type(error).__name__


def as_rows(table: Any, first: int) -> Any:
    """Return a table of a Parquet file with the columns of `ROWS`; its rows are numbered from `first`."""
    count = table.num_rows
    places = pa.array(np.arange(first, first + count))
    columns = [
        places if name == "place" else table[name].cast(kind) if name in table.column_names else pa.nulls(count, kind)
        for name, kind in zip(ROWS.names, ROWS.types, strict=True)
    ]
    return pa.table(columns, schema=ROWS)


def pack(rows: Any, file: int, source: int = 0) -> Any:
    """Return a table of rows, all with a history's name, as one batch of fragments in order of first appearance."""
    named = rows["history"].combine_chunks().dictionary_encode()
    codes = named.indices.to_numpy()
    if 1 + np.count_nonzero(codes[1:] != codes[:-1]) > len(named.dictionary):
        order = np.argsort(codes, kind="stable")
        rows, codes = rows.take(order), codes[order]
    begins = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
    bounds = pa.array(np.append(begins, len(codes)), pa.int32())
    columns = {name: pa.ListArray.from_arrays(bounds, rows[name].combine_chunks()) for name in LISTS}
    if rows["object"].null_count == len(codes):
        columns["object"] = pa.nulls(len(begins), pa.list_(pa.string()))
    columns["source"] = pa.array(np.full(len(begins), source, np.int32))
    columns["file"] = pa.array(np.full(len(begins), file, np.int32))
    columns["first"] = rows["place"].take(begins).combine_chunks()
    columns["history"] = named.dictionary.take(pa.array(codes[begins]))
    columns["model"] = _models(rows["model"], begins, len(codes))
    columns["problem"] = pa.nulls(len(begins), pa.string())
    columns["for_chunk"] = pa.nulls(len(begins), pa.int32())
    return pa.RecordBatch.from_arrays([columns[name] for name in FRAGMENTS.names], schema=FRAGMENTS)


def _models(models: Any, begins: Any, count: int) -> Any:
    """Return the model that each fragment names, as `one_of` says."""
    if models.null_count == count:
        return models.take(begins).combine_chunks()
    codes = models.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    if not len(codes) or (np.minimum.reduceat(codes, begins) == np.maximum.reduceat(codes, begins)).all():
        return models.take(begins).combine_chunks()
    names = models.to_pylist()
    return pa.array([one_of(names[begin:end]) for begin, end in pairwise([*begins.tolist(), count])], pa.string())


def one_of(models: Iterable[str | None]) -> str | None:
    """Return the one model that operations of a history name, None if they name none; what is not one, has `SEVERAL`.

    Example: the operations of a history name a map, nothing, and a map: its model is a map.
    """
    names = {name for several in models if several is not None for name in several.split(SEVERAL)}
    return SEVERAL.join(sorted(names)) if names else None


class Problem(NamedTuple):
    """What is wrong at a place of a file: with a history, or with the file; `chunk` asks to tell that chunk of it."""

    place: int
    history: str | None
    text: str
    chunk: int | None = None


def problems(file: int, source: int, rows: Sequence[Problem]) -> Any:
    """Return fragments with problems and without operations."""
    count = len(rows)
    columns = {
        "source": pa.array(np.full(count, source, np.int32)),
        "file": pa.array(np.full(count, file, np.int32)),
        "first": pa.array([row.place for row in rows], pa.int64()),
        "history": pa.array([row.history for row in rows], pa.string()),
        "model": pa.nulls(count, pa.string()),
        "problem": pa.array([row.text for row in rows], pa.string()),
        "for_chunk": pa.array([row.chunk for row in rows], pa.int32()),
        **{name: pa.nulls(count, FRAGMENTS.field(name).type) for name in LISTS},
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in FRAGMENTS.names], schema=FRAGMENTS)


def mark(file: int, begin: int, operations: int) -> Any:
    """Return the fragment that ends a unit: it says how many operations the unit has."""
    columns = {
        "source": pa.array([0], pa.int32()),
        "file": pa.array([file], pa.int32()),
        "first": pa.array([begin], pa.int64()),
        "for_chunk": pa.array([MARKS], pa.int32()),
        "place": pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array([operations], pa.int64())),
    }
    return pa.RecordBatch.from_arrays(
        [columns.get(field.name, pa.nulls(1, field.type)) for field in FRAGMENTS], schema=FRAGMENTS
    )


def marks(table: Any) -> list[tuple[int, int, int]]:
    """Return file, begin and operations of each mark."""
    rows = table.select(["file", "first", "place"]).to_pylist()
    return [(row["file"], row["first"], row["place"][0]) for row in rows]
