"""From columns to rows, of one history or of many, without looking at each operation from Python.

Numbers that are small enough stand for themselves; other things are numbered through the columns' tables. A row
depends on its own history only, up to the names of values: equal values of different histories may share a number, and
numbers are in the order of the values where that matters. So a verdict does not depend on which histories are judged
together.

Some histories are `unfit` for columns: operations on a whole map, strings that grow, counters beyond 31 bits, items
that are no integers in a priority queue, calls with another number of arguments. They are encoded operation by
operation.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree_lincheck.engine.border import ENGINE
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.encoding.forms import FORMS, KEYED, LARGEST, LISTS, WHOLE, Encoded, family
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_lincheck.history.columns import Column, Columns
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import Model, SequentialModel

SPARSE: Final = 4
"""A table of codes may be that many times as long as the codes are."""

_KINDS: Final = {"": 0, "value": 1, "truth": 2, "done": 3, "old count": 4, "count": 1}
_FAR: Final = 1 << 40
_LARGE: Final = 1 << 62

Mask = npt.NDArray[np.bool_]


def unfit(model: Model[Any], columns: Columns, bounds: Ints) -> Mask:
    """Tell which histories must be encoded operation by operation.

    Parameters
    ----------
    model : Model
        The sequential model.
    columns : Columns
        The operations of all histories.
    bounds : int64[histories + 1]
        The rows of each history, at least one each.

    Returns
    -------
    bool[histories]
        Which ones.
    """
    name = family(model)
    names = columns.f.table
    if not name or name == "append-kv" or names is None:
        return np.ones(len(bounds) - 1, np.bool_)
    assert isinstance(model, SequentialModel)
    forms = FORMS[name]
    plain = np.array([each in forms and forms[each][0] not in WHOLE for each in names], np.bool_)  # type: ignore[index]
    arity = np.array([model.operations.get(each, 0) for each in names], np.int64)  # type: ignore[call-overload]
    f = columns.f.codes
    known = f >= 0
    odd = ~known
    odd[known] |= ~plain[f[known]]
    takes = np.where(known, np.append(arity, 0)[f], 0)
    for place, column in enumerate(columns.arguments):
        odd |= (column.codes != MISSING) != (place < takes)
    odd |= takes > len(columns.arguments)
    if name in ("counter", "priority-queue"):
        for column in (*columns.arguments, columns.result):
            odd |= _integers(column)[1]
    strange = np.logical_or.reduceat(odd, bounds[:-1]) if len(odd) else np.zeros(0, np.bool_)
    if name == "counter" and columns.arguments:
        added = np.abs(_integers(columns.arguments[0])[0].clip(-_FAR, _FAR))
        strange |= np.add.reduceat(added, bounds[:-1]) > LARGEST
    return strange


def doubtful(columns: Columns) -> Mask:
    """Tell which calls take None as an argument: of them the model must be asked whether it knows them."""
    odd = np.zeros(len(columns.invoke), np.bool_)
    for column in columns.arguments:
        odd |= column.codes == NONE
    return odd


def encode_columns(model: Model[Any], columns: Columns, bounds: Ints) -> tuple[Encoded, Ints]:
    """Turn histories that are not `unfit` into rows; also return the history of each part."""
    name = family(model)
    forms = FORMS[name]
    names = columns.f.table
    assert names is not None
    f = columns.f.codes
    # Names that no row has are there when a history was left out.
    forms_of = [forms.get(each, (op.GET, "")) for each in names]  # type: ignore[call-overload]
    codes = np.array([code for code, _ in forms_of], np.int64)
    kinds = np.array([_KINDS.get(kind, 0) for _, kind in forms_of], np.int64)
    part, owner = _parts(columns, name in KEYED, bounds)
    stored = list(columns.arguments[1 if name in KEYED else 0 :])
    first = np.full(len(owner), op.ABSENT)
    if name == "counter":
        zero = _zeros(columns, bounds)
        first = zero[owner]
        numbers = [_integers(column)[0] for column in stored]
        results = _counts(columns.result, np.repeat(zero, np.diff(bounds)), codes[f] == op.GET)
    elif name == "priority-queue":
        *numbers, results = _ranked([*stored, columns.result])
    else:
        *numbers, results = [column.codes for column in _renumbered([*stored, columns.result])]
    rows = np.empty((len(f), 5), np.int32)
    nothing = np.full(len(f), MISSING)
    a, b = (*numbers, nothing, nothing)[:2]
    seen = _truths(columns.result) if any(kind == "truth" for _, kind in forms_of) else results
    capacity = int(getattr(model, "capacity", op.ABSENT))
    ENGINE.fill(rows, f, codes, kinds, a, b, results, seen, capacity, name == "map")
    if name == "counter":
        rows[:, 2] = np.where(codes[f] == op.ADD, a, op.ABSENT)
    return Encoded(rows, part, Meaning(name, "list" if name in LISTS else "value", first)), owner


def _parts(columns: Columns, keyed: bool, bounds: Ints) -> tuple[Ints, Ints]:
    """Return the part of each row, numbered history by history and by first appearance, and the history of each."""
    n = len(columns.invoke)
    place, places = np.zeros(n, np.int64), 1
    chosen = ([columns.arguments[0]] if keyed and columns.arguments else []) + (
        [] if columns.object is None else [columns.object]
    )
    for column in chosen:
        codes, count = compact(column.codes - min(int(column.codes.min(initial=0)), 0))
        place, places = compact(place * count + codes)
    part, owner = np.empty(n, np.int64), np.empty(n, np.int64)
    count = ENGINE.number_parts(bounds, place, np.full(places, -1, np.int64), part, owner)
    return part, owner[:count].copy()


def compact(codes: Ints) -> tuple[Ints, int]:
    """Give codes >= 0 numbers from 0 on, by first appearance if there is room for a table of them."""
    most = int(codes.max(initial=0))
    if most < SPARSE * len(codes) + 1024:
        numbers = np.empty(len(codes), np.int64)
        return numbers, ENGINE.number_codes(codes, np.full(most + 1, -1), numbers)
    unique, inverse = np.unique(codes, return_inverse=True)
    return inverse.astype(np.int64), len(unique)


def _are_small(columns: list[Column]) -> bool:
    """Return whether all columns hold numbers that are small enough to stand for themselves."""
    limit = SPARSE * max((len(column.codes) for column in columns), default=0) + 1024
    return all(column.table is None and column.codes.max(initial=0) < limit for column in columns)


def _renumbered(columns: list[Column]) -> list[Column]:
    """Give equal things in all columns the same small number."""
    if _are_small(columns):
        return columns
    if all(column.table is None for column in columns):
        unique = np.unique(np.concatenate([column.codes[column.codes >= 0] for column in columns]))
        return [
            Column(np.where(column.codes >= 0, np.searchsorted(unique, column.codes), column.codes))
            for column in columns
        ]
    numbers: dict[Hashable, int] = {}
    renumbered = []
    for column in columns:
        present = column.codes >= 0
        codes = column.codes.copy()
        table = column.table
        if table is None:
            unique, codes[present] = np.unique(codes[present], return_inverse=True)
            table = unique.tolist()
        new = np.array([numbers.setdefault(thing, len(numbers)) for thing in table], np.int64)
        codes[present] = new[codes[present]]
        renumbered.append(Column(codes))
    return renumbered


def _truths(column: Column) -> Ints:
    """Return results as truth values; IMPOSSIBLE for what is none."""
    if column.table is None:
        return np.where((column.codes > 1) | (column.codes == NONE), op.IMPOSSIBLE, column.codes)
    table = np.array(
        [int(bool(thing)) if thing in (True, False) else op.IMPOSSIBLE for thing in column.table], np.int64
    )
    codes = column.codes.copy()
    codes[codes >= 0] = table[codes[codes >= 0]]
    codes[column.codes == NONE] = op.IMPOSSIBLE
    return codes


def _integers(column: Column) -> tuple[Ints, Mask]:
    """Return a column's numbers, 0 where there are none, and which rows hold something else than a number."""
    present = column.codes >= 0
    if column.table is None:
        return np.where(present, column.codes, 0), np.zeros(len(present), np.bool_)
    fits = [type(thing) is int and -_LARGE < thing < _LARGE for thing in column.table]
    numbers = [thing if fit else 0 for thing, fit in zip(column.table, fits, strict=True)]
    at = np.where(present, column.codes, len(fits))
    return np.array([*numbers, 0], np.int64)[at], ~np.array([*fits, True], np.bool_)[at]


def _zeros(columns: Columns, bounds: Ints) -> Ints:
    """Return for each history the state that stands for 0, so that none is negative."""
    if not columns.arguments:
        return np.zeros(len(bounds) - 1, np.int64)
    return -np.add.reduceat(np.minimum(_integers(columns.arguments[0])[0], 0), bounds[:-1])


def _counts(result: Column, zero: Ints, read: Mask) -> Ints:
    """Return results as states of the counter; a read of nothing, or of what none can hold, is IMPOSSIBLE."""
    counts = _integers(result)[0].clip(-_FAR, _FAR) + zero
    counts[(counts < 0) | (counts > LARGEST)] = op.IMPOSSIBLE
    counts[result.codes == MISSING] = op.UNKNOWN_RESULT
    counts[result.codes == NONE] = NONE
    counts[(result.codes == NONE) & read] = op.IMPOSSIBLE
    return counts


def _ranked(columns: list[Column]) -> list[Ints]:
    """Return numbers for integers, in their order."""
    if _are_small(columns):
        return [column.codes for column in columns]
    values = [_integers(column)[0] for column in columns]
    unique = np.unique(np.concatenate([each[column.codes >= 0] for each, column in zip(values, columns, strict=True)]))
    return [
        np.where(column.codes >= 0, np.searchsorted(unique, each), column.codes)
        for each, column in zip(values, columns, strict=True)
    ]
