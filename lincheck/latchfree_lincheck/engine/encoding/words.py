"""From histories to rows for a model of the user's own: each call is a line of words."""

from __future__ import annotations

from typing import Final

import numpy as np

from latchfree_lincheck.engine.bounds import Deadline, Expired
from latchfree_lincheck.engine.compiled_models.opcodes import OWN
from latchfree_lincheck.engine.compiled_models.transition import Rows
from latchfree_lincheck.engine.encoding.forms import Encoded
from latchfree_lincheck.engine.encoding.problem import Meaning
from latchfree_lincheck.history import History
from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_lincheck.history.columns import Column, Columns
from latchfree_lincheck.history.timeline import Ints
from latchfree_model import CompiledModel
from latchfree_model.models.words import LOST, NEVER, NOTHING

_LOOK_AT_CLOCK: Final = 1024


def encode_words(model: CompiledModel, history: History, deadline: Deadline) -> Encoded:
    """Turn a history into rows, one part an object.

    Raises
    ------
    ValueError
        If the model cannot make sense of a call, or its step cannot be compiled.
    Expired
        If the deadline passes.
    """
    from latchfree_lincheck.engine.own_step import Own  # loads the compiler

    own = Own.of(model, _calls(model, history, deadline))
    returned = history.times()[2]
    lost = np.flatnonzero(~returned | (own.calls[:, -1] == LOST))
    model.require_lost({tuple(call) for call in own.calls[lost].tolist()} | set(map(tuple, own.calls[:64].tolist())))
    rows: Rows = np.zeros((len(history), 5), np.int32)
    rows[:, 0] = OWN
    rows[:, 2] = np.arange(len(history))
    first: dict[tuple[int, ...], int] = {}
    for row in np.flatnonzero(~returned).tolist():  # equal rows say that lost calls are equal
        rows[row, 2] = first.setdefault(tuple(own.calls[row].tolist()), row)
    reads = np.array([f in model.readonly for f in model.operations])
    failure = np.array(
        [model.words.word(model.failures[f]) if f in model.failures else NEVER for f in model.operations]
    )
    rows[:, 4] = reads[own.calls[:, 0]] | (own.calls[:, -1] == failure[own.calls[:, 0]])
    part, count = _objects(history)
    start = np.array(model.init(), np.int64).reshape(-1)
    initial = dict.fromkeys(range(count), start)
    return Encoded(rows, part, Meaning(f"own:{model.name}", "words", np.zeros(count, np.int64), initial, own=own))


def _calls(model: CompiledModel, history: History, deadline: Deadline) -> Ints:
    columns = history.columns
    if columns is not None and len(history):
        fast = _of_columns(model, columns)
        if fast is not None:
            return fast
    calls = np.empty((len(history), 2 + max(model.arguments, 1)), np.int64)
    for number, operation in enumerate(history.operations):
        if number % _LOOK_AT_CLOCK == 0 and deadline.passed():
            raise Expired
        calls[number] = model.call_words(operation.call)
    return calls


def _of_columns(model: CompiledModel, columns: Columns) -> Ints | None:
    """Return the calls of columns, or None if one is no call of the model."""
    names = columns.f.table
    if names is None or (columns.f.codes < 0).any() or not all(name in model.operations for name in names):
        return None
    numbers = {f: number for number, f in enumerate(model.operations)}
    f = np.array([numbers[str(name)] for name in names], np.int64)[columns.f.codes]
    takes = np.array(list(model.operations.values()), np.int64)[f]
    given = [*columns.arguments, *([None] * max(0, model.arguments - len(columns.arguments)))]
    calls = np.full((len(f), 2 + max(model.arguments, 1)), NOTHING, np.int64)
    calls[:, 0] = f
    for place, column in enumerate(given):
        present = np.zeros(len(f), np.bool_) if column is None else column.codes != MISSING
        if (present != (place < takes)).any():
            return None
        if column is not None and place < model.arguments:
            calls[:, 1 + place] = _words(model, column, NOTHING)
    calls[:, -1] = _words(model, columns.result, LOST)
    return calls


def _words(model: CompiledModel, column: Column, missing: int) -> Ints:
    """Return the words of a column."""
    codes = column.codes
    if column.table is None:
        words = codes.copy()
        words[codes == NONE], words[codes == MISSING] = NOTHING, missing
        return words
    table = [model.words.word(thing) for thing in column.table]
    return np.array([*table, missing, NOTHING], np.int64)[codes]


def _objects(history: History) -> tuple[Ints, int]:
    """Return the number of the object that each operation is on, and how many objects there are."""
    columns = history.columns
    if columns is not None and columns.object is None:
        return np.zeros(len(history), np.int64), min(len(history), 1)
    names: dict[object, int] = {}
    part = [names.setdefault(operation.object, len(names)) for operation in history.operations]
    return np.array(part, np.int64), len(names)
