"""Turn the rows of whole histories into the columns that the checker reads.

Each distinct JSON text of a batch is parsed once. A malformed row is a problem of its history only.

Example: 1, 1.0 and true are one value to every engine, so a column holds one of them for all. But a counter adds 1, and
not true: so a row is told whose argument is held as an equal value of another type, to be looked at by itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from latchfree_lincheck.formats.record import decode as parse
from latchfree_lincheck.formats.record import freeze
from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_lincheck.history.columns import Column, Columns
from latchfree_model.models.values import PLAIN
from latchfree_spark.check.judge.batch import Batch, Ints

Mask = npt.NDArray[np.bool_]


def decode(batch: Batch) -> tuple[Columns, Mask, Mask]:
    """Return the columns of all rows, the rows that are malformed, and those with an argument of another type."""
    rows = batch.rows
    wrong, odd = np.zeros(len(batch.files), np.bool_), np.zeros(len(batch.files), np.bool_)
    invoke, _ = _times(rows["invoke"], wrong)
    return_, returned = _times(rows["return"], None)
    seen = np.asarray(rows["result"].is_valid())
    wrong |= seen & ~returned
    columns = Columns(
        _column(rows["process"], _is_process, wrong),
        _names(rows["f"], wrong),
        _spread(rows["arguments"], wrong, odd),
        _column(rows["result"], None, wrong).missing_where(~seen),
        invoke,
        return_,
        returned,
        None if rows["object"].null_count == len(wrong) else Column.of(rows["object"]),
    )
    return columns, wrong, odd


def _times(values: Any, wrong: Mask | None) -> tuple[Ints, Mask]:
    there = np.asarray(values.is_valid())
    if wrong is not None:
        wrong |= ~there
    return np.asarray(pc.fill_null(values, 0)).astype(np.int64), there


def _parse(column: Any, wrong: Mask, *, nulls: bool) -> tuple[list[Any], Ints]:
    """Return the values of the distinct texts of a column, and the number of the text of each row (-1 for none)."""
    encoded = column.dictionary_encode()
    things: list[Any] = []
    bad: list[int] = []
    for number, text in enumerate(encoded.dictionary.to_pylist()):
        try:
            things.append(freeze(parse(text)))
        except (ValueError, RecursionError):
            things.append(None)
            bad.append(number)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    if bad:
        wrong |= np.isin(codes, bad)
    if not nulls:
        wrong |= codes < 0
    return things, codes


def _is_process(thing: object) -> bool:
    return type(thing) in (int, str)


def _number(things: Sequence[Hashable]) -> tuple[Ints, list[Hashable]]:
    """Return a code for each value, and the table of codes; values that are equal to a model have the same code."""
    numbers: dict[Hashable, int] = {}
    codes = [NONE if thing is None else numbers.setdefault(thing, len(numbers)) for thing in things]
    return np.array(codes, np.int64), list(numbers)


def _is_same(thing: Hashable, other: Hashable) -> bool:
    """Return whether equal values are of the same types, in all their parts."""
    return type(thing) is type(other) and (type(thing) in PLAIN or repr(thing) == repr(other))


def _column(column: Any, fits: Any, wrong: Mask) -> Column:
    things, codes = _parse(column, wrong, nulls=fits is None)
    if fits is not None:
        misfits = [number for number, thing in enumerate(things) if not fits(thing)]
        if misfits:
            wrong |= np.isin(codes, misfits)
    numbers, table = _number(things)
    return Column(np.append(numbers, NONE)[codes], table)


def _names(column: Any, wrong: Mask) -> Column:
    made = Column.of(column)
    wrong |= made.codes == NONE
    return made


def _spread(column: Any, wrong: Mask, odd: Mask) -> tuple[Column, ...]:
    """Return first arguments, second ones, and so on."""
    things, codes = _parse(column, wrong, nulls=False)
    misfits = [number for number, thing in enumerate(things) if type(thing) is not tuple]
    if misfits:
        wrong |= np.isin(codes, misfits)
        for number in misfits:
            things[number] = ()
    columns, others = [], set()
    for place in range(max(map(len, things), default=0)):
        taking = [number for number, thing in enumerate(things) if len(thing) > place]
        values = [things[number][place] for number in taking]
        numbers, table = _number(values)
        for taker, value, number in zip(taking, values, numbers.tolist(), strict=True):
            if number != NONE and value is not table[number] and not _is_same(value, table[number]):
                others.add(taker)
        lookup = np.full(len(things) + 1, MISSING, np.int64)
        lookup[taking] = numbers
        columns.append(Column(lookup[codes], table))
    if others:
        odd |= np.isin(codes, list(others))
    return tuple(columns)
