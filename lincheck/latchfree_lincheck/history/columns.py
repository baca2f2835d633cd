"""Histories as columns: a million operations without a million Python objects.

A column is an array of codes: small integers that stand for themselves, or indices of a table of things. NONE stands
for None and MISSING for what is not there: an argument that the operation does not take, a result nobody saw.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import UNKNOWN
from latchfree_model.models.values import canonical

_LARGEST: Final = (1 << 31) - 3


@dataclass(frozen=True, slots=True)
class Column:
    """Codes, and the things they stand for unless that is the codes themselves.

    Parameters
    ----------
    codes : int64[n]
        Each NONE, MISSING, or an index of `table`, or itself if there is none.
    table : sequence, optional
        Things, each once.

    Raises
    ------
    TypeError
        If the codes are no int64 array of one dimension.
    ValueError
        If a code is out of range: compiled code looks things up by code.
    """

    codes: Ints
    table: Sequence[Hashable] | None = None

    def __post_init__(self) -> None:
        codes = self.codes
        if not isinstance(codes, np.ndarray) or codes.dtype != np.int64 or codes.ndim != 1:
            raise TypeError("codes must be an int64 array of one dimension; Column.of takes any values")
        most = _LARGEST if self.table is None else len(self.table) - 1
        if len(codes) and (codes.min() < MISSING or codes.max() > most):
            wrong = int(np.flatnonzero((codes < MISSING) | (codes > most))[0])
            raise ValueError(f"code {codes[wrong]} in row {wrong} is not from {MISSING} to {most:,}")

    @classmethod
    def of(cls, values: Any) -> Column:
        """Make a column of a NumPy array (masked where there is None), an Arrow array, or any sequence.

        Raises
        ------
        TypeError
            If something in it is not hashable.
        """
        if isinstance(values, Column):
            return values._merged()
        if hasattr(values, "combine_chunks") or hasattr(values, "dictionary_encode"):
            return cls._of_arrow(values)
        mask = np.ma.getmaskarray(values) if isinstance(values, np.ma.MaskedArray) else None
        array = np.ma.getdata(values) if mask is not None else values
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "iub":
            return cls._of_things(array.tolist() if isinstance(array, np.ndarray) else list(values))
        return cls._of_numbers(array, mask)

    @classmethod
    def _of_numbers(cls, array: npt.NDArray[Any], mask: npt.NDArray[np.bool_] | None) -> Column:
        if mask is not None:
            array = np.where(mask, 0, array)
        table: list[Hashable] | None = None
        if len(array) and (array.min() < 0 or array.max() > _LARGEST):
            unique, codes = np.unique(array, return_inverse=True)
            codes, table = codes.astype(np.int64), unique.tolist()
        else:
            codes = array.astype(np.int64)
        if mask is not None:
            codes[mask] = NONE
        return cls(codes, table)

    @classmethod
    def _of_arrow(cls, values: Any) -> Column:
        import pyarrow as pa

        array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        mask = np.asarray(array.is_null())
        if pa.types.is_integer(array.type) or pa.types.is_boolean(array.type):
            plain = array.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            return cls._of_numbers(plain, mask if mask.any() else None)
        if not pa.types.is_dictionary(array.type):
            array = array.dictionary_encode()
        codes = array.indices.fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(codes, array.dictionary.to_pylist())._merged()

    @classmethod
    def _of_things(cls, things: Sequence[Any]) -> Column:
        numbers: dict[Hashable, int] = {}
        codes = np.empty(len(things), np.int64)
        for at, thing in enumerate(things):
            codes[at] = (
                NONE
                if thing is None
                else MISSING
                if thing is UNKNOWN
                else numbers.setdefault(canonical(thing), len(numbers))
            )
        return cls(codes, list(numbers))

    def _merged(self) -> Column:
        """Return the column with each thing once in its table, as 0.0 and -0.0 are one thing, and so is each NaN."""
        if self.table is None or (set(map(type, self.table)) <= {str, int} and len(set(self.table)) == len(self.table)):
            return self
        numbers: dict[Hashable, int] = {}
        places = [numbers.setdefault(canonical(thing), len(numbers)) for thing in self.table]
        return Column(np.array([*places, MISSING, NONE], np.int64)[self.codes], list(numbers))

    def __getitem__(self, row: int) -> Any:
        """Return the thing in a row; UNKNOWN if it is missing."""
        code = int(self.codes[row])
        if code == NONE:
            return None
        if code == MISSING:
            return UNKNOWN
        return code if self.table is None else self.table[code]

    def take(self, rows: npt.NDArray[Any]) -> Column:
        """Return some rows, by number or by mask; the table is shared."""
        return Column(self.codes[rows], self.table)

    def alone(self, low: int, high: int) -> Column:
        """Return the rows from `low` to `high` with a table of their own, in order of first appearance."""
        numbers: dict[int, int] = {}
        codes = [code if code < 0 else numbers.setdefault(code, len(numbers)) for code in self.codes[low:high].tolist()]
        things = list(numbers) if self.table is None else [self.table[code] for code in numbers]
        return Column(np.array(codes, np.int64), things)

    def missing_where(self, absent: npt.NDArray[np.bool_]) -> Column:
        """Return the column with MISSING in some rows."""
        return Column(np.where(absent, MISSING, self.codes), self.table)


@dataclass(frozen=True, slots=True)
class Columns:
    """A history, column by column. `return_` is not looked at where `returned` is false.

    Raises
    ------
    TypeError
        If times are no int64 arrays of one dimension, or `returned` none of truth values.
    ValueError
        If the columns differ in length.
    """

    process: Column
    f: Column
    arguments: tuple[Column, ...]
    result: Column
    invoke: Ints
    return_: Ints
    returned: npt.NDArray[np.bool_]
    object: Column | None = None

    def __post_init__(self) -> None:
        times = {"invoke": self.invoke, "return_": self.return_, "returned": self.returned}
        for name, array in times.items():
            kind = np.bool_ if name == "returned" else np.int64
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise TypeError(f"column {name!r} must be an array of {kind.__name__} in one dimension")
        named = {"f": self.f, "result": self.result, "process": self.process, "object": self.object}
        lengths = {name: len(column.codes) for name, column in named.items() if column is not None}
        lengths |= {name: len(array) for name, array in times.items()}
        for name, rows in lengths.items():
            if rows != len(self.invoke):
                raise ValueError(f"column {name!r} has {rows} rows, but 'invoke' has {len(self.invoke)}")
        for column in self.arguments:
            if len(column.codes) != len(self.invoke):
                rows = len(column.codes)
                raise ValueError(f"an argument column has {rows} rows, but 'invoke' has {len(self.invoke)}")

    @classmethod
    def of(
        cls, process: Any, f: Any, arguments: Sequence[Any], result: Any, invoke: Any, return_: Any, object: Any
    ) -> Columns:
        """Make columns of arrays; see `latchfree_lincheck.History.of_columns`."""
        finished, returned = _times(return_)
        begun, all_there = _times(invoke)
        if not all_there.all():
            raise ValueError(f"row {int(np.flatnonzero(~all_there)[0])}: an operation without a time of invocation")
        taken = [each if isinstance(each, Column) else _argument(Column.of(each)) for each in arguments]
        seen = result if isinstance(result, Column) else Column.of(result)
        if len(returned) != len(seen.codes):
            raise ValueError(f"column 'result' has {len(seen.codes)} rows, but 'return_' has {len(returned)}")
        return cls(
            Column.of(process),
            Column.of(f),
            tuple(taken),
            seen.missing_where(~returned) if not returned.all() else seen,
            begun,
            finished,
            returned,
            None if object is None else Column.of(object),
        )

    def take(self, rows: npt.NDArray[Any]) -> Columns:
        """Return some rows, by number or by mask; tables are shared."""
        return Columns(
            self.process.take(rows),
            self.f.take(rows),
            tuple(column.take(rows) for column in self.arguments),
            self.result.take(rows),
            self.invoke[rows],
            self.return_[rows],
            self.returned[rows],
            None if self.object is None else self.object.take(rows),
        )

    def arguments_of(self, row: int) -> tuple[Any, ...]:
        """Return the arguments of one operation."""
        return tuple(column[row] for column in self.arguments if column.codes[row] != MISSING)


def _argument(column: Column) -> Column:
    """Return a column in which what is not there is no argument."""
    return column.missing_where(column.codes == NONE)


def _times(values: Any) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Return times, and where there are any."""
    if hasattr(values, "combine_chunks") or hasattr(values, "dictionary_encode"):
        import pyarrow.compute as pc

        absent = np.asarray(pc.is_null(values))
        return np.asarray(pc.fill_null(values, 0)).astype(np.int64), ~absent
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getdata(values).astype(np.int64), ~np.ma.getmaskarray(values)
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"times must be integers, not {array.dtype}")
    return array.astype(np.int64), np.ones(len(array), np.bool_)
