"""From the columns of many histories to rows and parts, for what can be judged in one sweep.

What a row becomes depends on its own history only, up to the names of values: equal values of different histories may
share a number, and numbers are in the order of the values where that matters. So verdicts do not depend on which
histories are judged together. Histories that take a closer look (operations on a whole map, strings that grow,
counters beyond 31 bits, calls that the model may not know) are told apart first, by the same rule.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.encoding.encode import FORMS, KEYED, LISTS, Encoded, family
from latchfree_lincheck.engine.encoding.encode_columns import KINDS, SLOWLY, compact, fill, renumber, truths
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history.columns import MISSING, NONE, Column, Columns
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import Model, SequentialModel

_MANY: Final = 1 << 31
_FAR: Final = 1 << 40
_LARGE: Final = 1 << 62

Mask = npt.NDArray[np.bool_]


def closer_look(model: Model[Any], columns: Columns, bounds: Ints) -> Mask:
    """Return which histories `encode_many` leaves to `encode`; `bounds` are the rows of each."""
    name = family(model)
    names = columns.f.table
    if not name or name == "append-kv" or names is None:
        return np.ones(len(bounds) - 1, np.bool_)
    assert isinstance(model, SequentialModel)
    forms = FORMS[name]
    plain = np.array([each in forms and forms[each][0] not in SLOWLY for each in names], np.bool_)  # type: ignore[index]
    arity = np.array([model.operations.get(each, 0) for each in names], np.int64)  # type: ignore[call-overload]
    f = columns.f.codes
    known = f >= 0
    odd = ~known
    odd[known] |= ~plain[f[known]]
    takes = np.where(known, np.append(arity, 0)[f], 0)
    for place, column in enumerate(columns.arguments):
        odd |= (column.codes == NONE) | ((column.codes != MISSING) != (place < takes))
    odd |= takes > len(columns.arguments)
    if name in ("counter", "priority-queue"):
        for column in (*columns.arguments, columns.result):
            odd |= _integers(column)[1]
    strange = np.logical_or.reduceat(odd, bounds[:-1]) if len(odd) else np.zeros(0, np.bool_)
    if name == "counter" and columns.arguments:
        added = np.abs(_integers(columns.arguments[0])[0].clip(-_FAR, _FAR))
        strange |= np.add.reduceat(added, bounds[:-1]) >= _MANY
    return strange


def encode_many(model: Model[Any], columns: Columns, bounds: Ints) -> tuple[Encoded, Ints]:
    """Turn histories that need no closer look into rows; also return the history of each part."""
    name = family(model)
    forms = FORMS[name]
    names = columns.f.table
    assert names is not None
    f = columns.f.codes
    # Names that no row has are there when a history was left out.
    forms_of = [forms.get(each, (op.GET, "")) for each in names]  # type: ignore[call-overload]
    codes = np.array([code for code, _ in forms_of], np.int64)
    kinds = np.array([KINDS.get(kind, 0) for _, kind in forms_of], np.int64)
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
        *numbers, results = [column.codes for column in renumber([*stored, columns.result])]
    rows = np.empty((len(f), 5), np.int32)
    nothing = np.full(len(f), MISSING)
    a, b = (*numbers, nothing, nothing)[:2]
    seen = truths(columns.result) if any(kind == "truth" for _, kind in forms_of) else results
    capacity = int(getattr(model, "capacity", op.ABSENT))
    fill(rows, f, codes, kinds, a, b, results, seen, capacity, name == "map")
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
    count = _number_parts(bounds, place, np.full(places, -1, np.int64), part, owner)
    return part, owner[:count].copy()


@kernel
def _number_parts(bounds: Ints, place: Ints, table: Ints, part: Ints, owner: Ints) -> int:
    """Number the places of each history; `table` is the latest part at each place."""
    count = 0
    for history in range(len(bounds) - 1):
        base = count
        for row in range(bounds[history], bounds[history + 1]):
            if table[place[row]] < base:
                table[place[row]] = count
                owner[count] = history
                count += 1
            part[row] = table[place[row]]
    return count


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
    """Return results as states of the counter; a read of nothing, or of what none can hold, is NEVER."""
    counts = _integers(result)[0].clip(-_FAR, _FAR) + zero
    counts[(counts < 0) | (counts >= _MANY)] = op.NEVER
    counts[result.codes == MISSING] = op.UNKNOWN_RESULT
    counts[result.codes == NONE] = NONE
    counts[(result.codes == NONE) & read] = op.NEVER
    return counts


def _ranked(columns: list[Column]) -> list[Ints]:
    """Number integers in their order."""
    values = [_integers(column)[0] for column in columns]
    unique = np.unique(np.concatenate([each[column.codes >= 0] for each, column in zip(values, columns, strict=True)]))
    return [
        np.where(column.codes >= 0, np.searchsorted(unique, each), column.codes)
        for each, column in zip(values, columns, strict=True)
    ]
