"""Gather fragments to whole histories again, many at a time: the entries of all rows stay Arrow arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from latchfree_spark.check.tables import LISTS, one_of

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole histories.

    Parameters
    ----------
    names, models, sources : list
        Of each history; a history is known by its source and its name.
    problems : list of (str or None)
        What is known to be wrong with each.
    bounds : int64[histories + 1]
        Rows ``bounds[h]`` up to ``bounds[h + 1]`` are those of history h.
    rows : dict of str to array
        Arrow arrays, one entry a row.
    files : int64[rows]
        The number of the file of each row.
    """

    names: list[str]
    models: list[str | None]
    problems: list[str | None]
    bounds: Ints
    rows: dict[str, Any]
    files: Ints
    sources: list[str]

    def __len__(self) -> int:
        return len(self.names)

    def part(self, begin: int, end: int) -> Batch:
        """Return the histories from `begin` to `end` as a batch of their own."""
        low, high = int(self.bounds[begin]), int(self.bounds[end])
        rows = {name: self.rows[name].slice(low, high - low) for name in LISTS}
        mine = slice(begin, end)
        bounds = self.bounds[begin : end + 1] - low
        return Batch(
            self.names[mine],
            self.models[mine],
            self.problems[mine],
            bounds,
            rows,
            self.files[low:high],
            self.sources[mine],
        )


def unpack(table: Any, sources: Sequence[str] = ()) -> Batch:
    """Return the histories of a table of fragments; the fragments of a history stand together.

    Parameters
    ----------
    table : pyarrow.Table
        Fragments, all with a history.
    sources : sequence of str, optional
        The names of the sources; "" for all, if not given.
    """
    history = table["history"].combine_chunks().dictionary_encode()
    codes = history.indices.to_numpy()
    source = table["source"].to_numpy()
    changes = (codes[1:] != codes[:-1]) | (source[1:] != source[:-1])
    begins = np.flatnonzero(np.concatenate([[True], changes]))
    lengths = pc.fill_null(pc.list_value_length(table["invoke"]), 0).to_numpy().astype(np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    rows = {name: _flat(table[name].combine_chunks(), lengths) for name in LISTS}
    return Batch(
        history.dictionary.take(pa.array(codes[begins])).to_pylist(),
        _each(table["model"], begins, len(codes), one_of),
        _each(table["problem"], begins, len(codes), _first),
        ends[np.append(begins, len(codes))],
        rows,
        np.repeat(table["file"].to_numpy(), lengths),
        [sources[number] if sources else "" for number in source[begins].tolist()],
    )


def spoil(batch: Batch, damaged: Mapping[int, str]) -> None:
    """Give each history with a row in a damaged file that file's problem, unless the history has one."""
    rows = np.flatnonzero(np.isin(batch.files, list(damaged)))
    owners, first = np.unique(np.searchsorted(batch.bounds, rows, "right") - 1, return_index=True)
    for owner, row in zip(owners.tolist(), rows[first].tolist(), strict=True):
        if batch.problems[owner] is None:
            batch.problems[owner] = damaged[int(batch.files[row])]


def _flat(column: Any, lengths: Ints) -> Any:
    """Return the entries of all lists, in order; null for each entry of a list that is not there."""
    if column.null_count == len(column):
        return pa.nulls(int(lengths.sum()), column.type.value_type)
    if not column.null_count:
        return column.flatten()
    entries = [
        entry for row, length in zip(column.to_pylist(), lengths, strict=True) for entry in row or [None] * length
    ]
    return pa.array(entries, column.type.value_type)


def _each(column: Any, begins: Ints, count: int, chosen: Callable[[list[Any]], Any]) -> list[Any]:
    """Return what is chosen of each group of rows."""
    if column.null_count == count:
        return [None] * len(begins)
    entries: list[Any] = column.to_pylist()
    if len(begins) == count:
        return entries
    return [chosen(entries[begin:end]) for begin, end in pairwise([*begins.tolist(), count])]


def _first(entries: list[Any]) -> Any:
    return next((entry for entry in entries if entry is not None), None)
