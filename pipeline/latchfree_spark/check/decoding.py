"""Turn fragments back into whole histories, many at a time, as the columns that the checker reads.

Each distinct JSON text of a batch is parsed once. A malformed row is a problem of its history only.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from latchfree_lincheck.formats import HistoryFormatError
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.formats.record import dumps, freeze, loads
from latchfree_lincheck.history import History, Operation
from latchfree_lincheck.history.columns import MISSING, NONE, Column, Columns
from latchfree_model import UNKNOWN
from latchfree_spark.check.inputs import CUT
from latchfree_spark.check.options import Job
from latchfree_spark.check.places import Byte
from latchfree_spark.check.tables import LISTS, TEXT

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
        _first(table["model"], begins, len(codes)),
        _first(table["problem"], begins, len(codes)),
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


def _first(column: Any, begins: Ints, count: int) -> list[Any]:
    """Return, for each group of rows, the first entry that is not null."""
    if column.null_count == count:
        return [None] * len(begins)
    entries = column.to_pylist()
    ends = [*begins[1:].tolist(), count]
    return [
        next((entry for entry in entries[begin:end] if entry is not None), None)
        for begin, end in zip(begins.tolist(), ends, strict=True)
    ]


def decode(batch: Batch) -> tuple[Columns, npt.NDArray[np.bool_]]:
    """Return the columns of all rows, and the rows that are malformed."""
    rows = batch.rows
    wrong = np.zeros(len(batch.files), np.bool_)
    invoke, _ = _times(rows["invoke"], wrong)
    return_, returned = _times(rows["return"], None)
    seen = np.asarray(rows["result"].is_valid())
    wrong |= seen & ~returned
    columns = Columns(
        _column(rows["process"], _is_process, wrong),
        _names(rows["f"], wrong),
        _spread(rows["arguments"], wrong),
        _column(rows["result"], None, wrong).missing_where(~seen),
        invoke,
        return_,
        returned,
        None if rows["object"].null_count == len(wrong) else Column.of(rows["object"]),
    )
    return columns, wrong


def _times(values: Any, wrong: npt.NDArray[np.bool_] | None) -> tuple[Ints, npt.NDArray[np.bool_]]:
    there = np.asarray(values.is_valid())
    if wrong is not None:
        wrong |= ~there
    return np.asarray(pc.fill_null(values, 0)).astype(np.int64), there


def _parse(column: Any, wrong: npt.NDArray[np.bool_], *, nulls: bool) -> tuple[list[Any], Ints]:
    """Return the values of the distinct texts of a column, and the number of the text of each row (-1 for none)."""
    encoded = column.dictionary_encode()
    things: list[Any] = []
    bad: list[int] = []
    for number, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            things.append(freeze(_DECODER.decode(text)))
        except (ValueError, RecursionError):
            things.append(None)
            bad.append(number)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if bad:
        wrong |= np.isin(codes, bad)
    if not nulls:
        wrong |= codes < 0
    return things, codes


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_reject)


def _is_process(thing: object) -> bool:
    return type(thing) in (int, str)


def _number(things: Sequence[Hashable]) -> tuple[Ints, list[Hashable]]:
    """Return a code for each value, and the table of codes; values that are equal to a model have the same code."""
    numbers: dict[Hashable, int] = {}
    codes = [NONE if thing is None else numbers.setdefault(thing, len(numbers)) for thing in things]
    return np.array(codes, np.int64), list(numbers)


def _column(column: Any, fits: Any, wrong: npt.NDArray[np.bool_]) -> Column:
    things, codes = _parse(column, wrong, nulls=fits is None)
    if fits is not None:
        misfits = [number for number, thing in enumerate(things) if not fits(thing)]
        if misfits:
            wrong |= np.isin(codes, misfits)
    numbers, table = _number(things)
    return Column(np.append(numbers, NONE)[codes], table)


def _names(column: Any, wrong: npt.NDArray[np.bool_]) -> Column:
    made = Column.of(column)
    wrong |= made.codes == NONE
    return made


def _spread(column: Any, wrong: npt.NDArray[np.bool_]) -> tuple[Column, ...]:
    """Return first arguments, second ones, and so on."""
    things, codes = _parse(column, wrong, nulls=False)
    misfits = [number for number, thing in enumerate(things) if type(thing) is not tuple]
    if misfits:
        wrong |= np.isin(codes, misfits)
        for number in misfits:
            things[number] = ()
    columns = []
    for place in range(max(map(len, things), default=0)):
        numbers, table = _number([thing[place] for thing in things if len(thing) > place])
        lookup = np.full(len(things) + 1, MISSING, np.int64)
        lookup[[number for number, thing in enumerate(things) if len(thing) > place]] = numbers
        columns.append(Column(lookup[codes], table))
    return tuple(columns)


# one history by itself ----------------------------------------------------------------------------------------------


def lines(batch: Batch, number: int, model: str | None) -> list[str]:
    """Return the operations of one history as JSON lines, with their texts as in the input."""
    low, high = int(batch.bounds[number]), int(batch.bounds[number + 1])
    text = {name: batch.rows[name][low:high].to_pylist() for name in (*TEXT, "invoke", "return")}
    found = []
    for row in range(high - low):
        parts = [f'"history": {dumps(batch.names[number])}', f'"process": {text["process"][row]}']
        parts += [f'"f": {dumps(text["f"][row])}', f'"arguments": {text["arguments"][row]}']
        if text["result"][row] is not None:
            parts.append(f'"result": {text["result"][row]}')
        parts += [f'"invoke": {text["invoke"][row]}', f'"return": {dumps(text["return"][row])}']
        for name, value in (("object", text["object"][row]), ("model", model)):
            if value is not None:
                parts.append(f'"{name}": {dumps(value)}')
        found.append("{" + ", ".join(parts) + "}\n")
    return found


def history_of(batch: Batch, number: int, model: str | None, job: Job) -> History:
    """Return one history, operation by operation.

    Raises
    ------
    HistoryFormatError
        If it is none, or the model does not have one of its calls; names the file and the row, line or byte.
    """
    low, high = int(batch.bounds[number]), int(batch.bounds[number + 1])
    get = {name: batch.rows[name][low:high].to_pylist() for name in LISTS}
    files = batch.files[low:high].tolist()
    cut = {file: job.formats[file] == CUT for file in set(files)}
    places = [Byte(place) if cut[file] else place for file, place in zip(files, get["place"], strict=True)]
    operations, at = [], {}
    for row in range(high - low):
        operation = _operation({name: get[name][row] for name in LISTS}, Path(job.files[files[row]]), places[row])
        operations.append(operation)
        at[id(operation)] = places[row]
    return finish(Path(job.files[files[0]]), batch.names[number], operations, at, model)


def _operation(row: dict[str, Any], path: Path, line: int) -> Operation:
    """Return the operation of a row; raise HistoryFormatError where something is missing or of the wrong type."""
    value = {
        name: loads(path, line, row[name], f"JSON text in column {name!r}")
        for name in ("process", "arguments", "result")
        if row[name] is not None
    }
    for name, kind, expected in (("process", int | str, "an integer or a string"), ("arguments", list, "a list")):
        if not isinstance(value.get(name), kind) or isinstance(value.get(name), bool):
            raise HistoryFormatError(path, line, f'{expected} as "{name}"', row[name] or "null")
    for name, expected in (("f", "a string"), ("invoke", "an integer")):
        if row[name] is None:
            raise HistoryFormatError(path, line, f'{expected} as "{name}"', "null")
    return Operation(
        value["process"],
        row["f"],
        tuple(freeze(argument) for argument in value["arguments"]),
        freeze(value["result"]) if "result" in value else UNKNOWN,
        row["invoke"],
        row["return"],
        row["object"],
    )
