"""Take one history out of a batch: as text, or operation by operation, where a problem has the place in its file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from latchfree_lincheck.formats import HistoryFormatError
from latchfree_lincheck.formats.finish import finish
from latchfree_lincheck.formats.record import dumps, freeze, loads
from latchfree_lincheck.history import History, Operation
from latchfree_model import UNKNOWN
from latchfree_spark.check.input.inputs import CUT
from latchfree_spark.check.input.places import Byte
from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.options import Job
from latchfree_spark.check.tables import LISTS, TEXT


def lines(batch: Batch, number: int, model: str | None) -> list[str]:
    """Return the operations of one history as JSON lines, with their texts as in the input."""
    low, high = int(batch.bounds[number]), int(batch.bounds[number + 1])
    text = {name: batch.rows[name][low:high].to_pylist() for name in (*TEXT, "invoke", "return")}
    name = batch.names[number]
    return [line(name, {each: column[row] for each, column in text.items()}, model) for row in range(high - low)]


def line(history: str, operation: Mapping[str, Any], model: str | None) -> str:
    """Return an operation as a JSON line; its process, arguments and result are JSON text already."""
    # JSON text of a table may have lines of its own, between its values: a string has none.
    process, arguments, result = (
        None if operation[name] is None else operation[name].replace("\n", " ").replace("\r", " ")
        for name in ("process", "arguments", "result")
    )
    parts = [f'"history": {dumps(history)}', f'"process": {process}']
    parts += [f'"f": {dumps(operation["f"])}', f'"arguments": {arguments}']
    if result is not None:
        parts.append(f'"result": {result}')
    parts += [f'"invoke": {operation["invoke"]}', f'"return": {dumps(operation["return"])}']
    for name, value in (("object", operation["object"]), ("model", model)):
        if value is not None:
            parts.append(f'"{name}": {dumps(value)}')
    return "{" + ", ".join(parts) + "}\n"


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
