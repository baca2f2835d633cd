"""A Parquet file's columns as histories, without an object for each operation.

Only for files in which nothing is odd: each distinct JSON text is parsed once, each distinct call is shown to the model
once. What is odd is left to `parquet`, which reads row by row and can say in which one it is.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from latchfree_lincheck.formats.record import decode
from latchfree_lincheck.formats.values import freeze
from latchfree_lincheck.history import History
from latchfree_lincheck.history.codes import MISSING, NONE
from latchfree_lincheck.history.columns import Column
from latchfree_model import UNKNOWN as SOMETHING
from latchfree_model import Call, get_model

_FULL: Final = ("history", "process", "f", "arguments", "invoke")


def read_columns(table: Any, model: str | None) -> list[History] | None:
    """Return the histories of an Arrow table with the columns of `parquet`, or None if a closer look is needed."""
    if any(table[column].null_count for column in _FULL) or not table.num_rows:
        return None
    names = table["history"].combine_chunks().dictionary_encode()
    histories = []
    for code, name in enumerate(names.dictionary.to_pylist()):
        mine = table if len(names.dictionary) == 1 else table.filter(np.asarray(names.indices) == code)
        try:
            histories.append(_read(name, mine, model))
        except (ValueError, TypeError, RecursionError):
            return None
    return histories


def _read(name: str, table: Any, model: str | None) -> History:
    """Return one history; raise ValueError or TypeError if anything about it is odd."""
    if model is None and "model" in table.column_names:
        hints = table["model"].drop_null().unique()
        if len(hints) > 1:
            raise ValueError("a history has one model")
        model = hints[0].as_py() if len(hints) else None
    calls = table["arguments"].combine_chunks().dictionary_encode()
    arguments = [_parse(text) for text in calls.dictionary.to_pylist()]
    if not all(isinstance(each, tuple) for each in arguments):
        raise ValueError("arguments are a list")
    codes = np.asarray(calls.indices)
    f = table["f"].combine_chunks().dictionary_encode()
    _validate(model, f, codes, arguments)
    history = History.of_columns(
        name,
        process=_processes(table["process"].combine_chunks().dictionary_encode()),
        f=f,
        arguments=_spread(codes, arguments),
        result=_results(table["result"].combine_chunks().dictionary_encode()),
        invoke=table["invoke"].combine_chunks(),
        return_=table["return"].combine_chunks().cast("int64"),
        object=table["object"] if "object" in table.column_names and table["object"].null_count == 0 else None,
        model_hint=model,
    )
    pending = ~history.times()[2]
    if "object" in table.column_names and 0 < table["object"].null_count < table.num_rows:
        raise ValueError("some operations are on objects and others are not")
    if (np.asarray(table["result"].is_valid()) & pending).any():
        raise ValueError("a pending operation has a result")
    return history


def _parse(text: str) -> Hashable:
    return freeze(decode(text))


def _number(things: list[Hashable]) -> tuple[list[int], list[Hashable]]:
    """Return a code for each thing, and the table of codes; equal things of different types are refused."""
    numbers: dict[Hashable, tuple[int, type]] = {}
    codes = []
    for thing in things:
        if thing is None:
            codes.append(NONE)
            continue
        code, kind = numbers.setdefault(thing, (len(numbers), type(thing)))
        if kind is not type(thing):
            raise ValueError(f"{thing!r} is written in two ways")
        codes.append(code)
    return codes, list(numbers)


def _processes(column: Any) -> Column:
    parsed = [_parse(text) for text in column.dictionary.to_pylist()]
    if any(isinstance(each, bool) or not isinstance(each, int | str) for each in parsed):
        raise ValueError("a process is an integer or text")
    codes, table = _number(parsed)
    return Column(np.array(codes, np.int64)[np.asarray(column.indices)], table)


def _results(column: Any) -> Column:
    codes, table = _number([_parse(text) for text in column.dictionary.to_pylist()])
    indices = np.asarray(column.indices.fill_null(len(codes)))
    return Column(np.array([*codes, MISSING], np.int64)[indices], table)


def _spread(codes: Any, arguments: list[Any]) -> list[Column]:
    """Return first arguments, second ones, and so on."""
    width = max(map(len, arguments), default=0)
    columns = []
    for place in range(width):
        present = [each[place] for each in arguments if len(each) > place]
        numbers, table = _number(present)
        rest = iter(numbers)
        lookup = [next(rest) if len(each) > place else MISSING for each in arguments]
        columns.append(Column(np.array(lookup, np.int64)[codes], table))
    return columns


def _validate(model: str | None, f: Any, codes: Any, arguments: list[Any]) -> None:
    """Show each distinct call to the model, where its name is known."""
    try:
        known = get_model(model or "")
    except ValueError:
        return
    names = f.dictionary.to_pylist()
    for pair in np.unique(np.asarray(f.indices).astype(np.int64) * len(arguments) + codes).tolist():
        known.validate(Call(names[pair // len(arguments)], arguments[pair % len(arguments)], SOMETHING))
