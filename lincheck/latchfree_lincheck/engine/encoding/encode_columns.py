"""From columns to rows, without looking at each operation from Python.

Numbers that are small enough stand for themselves; other things are numbered through the columns' tables. What takes
a closer look (snapshots, strings, negative counts, items without a natural order) is left to `encode`.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models import opcodes as op
from latchfree_lincheck.engine.encoding.encode import FORMS, KEYED, LISTS, Encoded, family
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history import History
from latchfree_lincheck.history.columns import MISSING, NONE, Column, Columns
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import Model, SequentialModel

_SPARSE: Final = 4
SLOWLY: Final = frozenset({op.SNAPSHOT, op.SIZE, op.CLEAR, op.APPEND})


def encode_columns(model: Model[Any], history: History, columns: Columns) -> Encoded | None:
    """Turn columns into rows; None if that takes a closer look.

    Raises
    ------
    ValueError
        If the model cannot make sense of a call.
    """
    name = family(model)
    forms = FORMS[name]
    assert isinstance(model, SequentialModel)
    names = columns.f.table
    if names is None or name == "append-kv" or any(forms.get(f, (op.SNAPSHOT,))[0] in SLOWLY for f in names):  # type: ignore[call-overload]
        return None
    f = columns.f.codes
    if f.min(initial=0) < 0:
        return None
    codes = np.array([forms[each][0] for each in names], np.int64)  # type: ignore[index]
    _check_arguments(model, history, columns, np.array([model.operations[each] for each in names]))  # type: ignore[index]
    if any((later.codes != MISSING)[earlier.codes == MISSING].any() for earlier, later in pairwise(columns.arguments)):
        return None
    kinds = [forms[each][1] for each in names]  # type: ignore[index]
    if any(kind in ("text", "contents", "number") for kind in kinds):
        return None
    part, parts = _parts(columns, name in KEYED)
    stored = list(columns.arguments[1 if name in KEYED else 0 :])
    if name == "counter":
        if any(column.table is not None for column in (*stored, columns.result)) or _sum(stored) >= 1 << 31:
            return None
        numbers = stored
        results = columns.result.codes
    else:
        if name == "priority-queue" and any(column.table is not None for column in (*stored, columns.result)):
            return None
        *numbers, result = renumber([*stored, columns.result])
        results = result.codes
    n = len(f)
    rows = np.empty((n, 5), np.int32)
    a = numbers[0].codes if numbers else np.full(n, MISSING)
    b = numbers[1].codes if len(numbers) > 1 else np.full(n, MISSING)
    seen = truths(columns.result) if "truth" in kinds else results
    kind = np.array([KINDS[each] for each in kinds])
    capacity = int(getattr(model, "capacity", op.ABSENT))
    fill(rows, f, codes, kind, a, b, results, seen, capacity, name == "map")
    listed = name in LISTS
    return Encoded(rows, part, Meaning(name, "list" if listed else "value", np.full(parts, _first(name), np.int64)))


KINDS: Final = {"": 0, "value": 1, "truth": 2, "done": 3, "old count": 4, "count": 1}


def _first(name: str) -> int:
    return 0 if name == "counter" else op.ABSENT


def _sum(columns: list[Column]) -> int:
    return sum(int(column.codes[column.codes > 0].sum()) for column in columns)


def _check_arguments(model: SequentialModel[Any], history: History, columns: Columns, arity: Ints) -> None:
    """Let the model say what is wrong with the first call that it may not know."""
    given = np.zeros(len(columns.f.codes), np.int64)
    odd = np.zeros(len(given), np.bool_)
    for column in columns.arguments:
        given += column.codes != MISSING
        odd |= column.codes == NONE
    for row in np.flatnonzero(odd | (given != arity[columns.f.codes])).tolist():
        model.validate(history.operation(row).call)
    if model.name == "counter":
        for row in range(len(given)) if any(column.table is not None for column in columns.arguments) else ():
            model.validate(history.operation(row).call)


def _parts(columns: Columns, keyed: bool) -> tuple[Ints, int]:
    """Return the part of each operation, and how many there are."""
    n = len(columns.f.codes)
    part, parts = np.zeros(n, np.int64), 1 if n else 0
    chosen = ([columns.arguments[0]] if keyed and columns.arguments else []) + (
        [] if columns.object is None else [columns.object]
    )
    for column in chosen:
        codes, count = compact(column.codes - min(int(column.codes.min(initial=0)), 0))
        part, parts = compact(part * count + codes)
    return part, parts


def compact(codes: Ints) -> tuple[Ints, int]:
    """Number codes >= 0 from 0 on, by first appearance if there is room for a table of them."""
    most = int(codes.max(initial=0))
    if most < _SPARSE * len(codes) + 1024:
        numbers = np.empty(len(codes), np.int64)
        return numbers, _number(codes, np.full(most + 1, -1), numbers)
    unique, inverse = np.unique(codes, return_inverse=True)
    return inverse.astype(np.int64), len(unique)


@kernel
def _number(codes: Ints, table: Ints, numbers: Ints) -> int:
    count = 0
    for i in range(len(codes)):
        if table[codes[i]] < 0:
            table[codes[i]] = count
            count += 1
        numbers[i] = table[codes[i]]
    return count


def renumber(columns: list[Column]) -> list[Column]:
    """Give equal things in all columns the same small number."""
    limit = _SPARSE * max((len(column.codes) for column in columns), default=0) + 1024
    if all(column.table is None and column.codes.max(initial=0) < limit for column in columns):
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


def truths(column: Column) -> Ints:
    """Return results as truth values; NEVER for what is none."""
    if column.table is None:
        return np.where((column.codes > 1) | (column.codes == NONE), op.NEVER, column.codes)
    table = np.array([int(bool(thing)) if thing in (True, False) else op.NEVER for thing in column.table], np.int64)
    codes = column.codes.copy()
    codes[codes >= 0] = table[codes[codes >= 0]]
    codes[column.codes == NONE] = op.NEVER
    return codes


@kernel
def fill(
    rows: npt.NDArray[np.int32],
    f: Ints,
    codes: Ints,
    kinds: Ints,
    a: Ints,
    b: Ints,
    results: Ints,
    truths: Ints,
    capacity: int,
    is_map: bool,
) -> None:
    """Write the rows. NONE is ABSENT and MISSING, of a result, UNKNOWN_RESULT."""
    for i in range(len(f)):
        code, kind = codes[f[i]], kinds[f[i]]
        rows[i, 0] = code
        rows[i, 1] = 0
        rows[i, 2] = max(a[i], op.ABSENT)
        rows[i, 3] = capacity if code == op.ENQUEUE else max(b[i], op.ABSENT)
        if is_map and code in (op.REPLACE_IF, op.REMOVE_IF) and a[i] == NONE:
            rows[i, 2] = op.NEVER
        if kind == 3:
            rows[i, 4] = 1
        elif kind == 2:
            rows[i, 4] = truths[i]
        elif kind == 0 or (kind == 4 and results[i] == NONE):
            rows[i, 4] = op.UNKNOWN_RESULT
        else:
            rows[i, 4] = results[i]
