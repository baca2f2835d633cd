"""Parquet: one row an operation, with the columns of the JSON Lines format.

``history`` and ``f`` are text, ``invoke`` and ``return`` 64-bit integers (``return`` null when pending);
``process``, ``arguments`` and ``result`` are JSON text (``result`` null when unknown); ``object`` and ``model`` are
text or null, and may be left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from latchfree_lincheck.formats.errors import HistoryFormatError
from latchfree_lincheck.formats.record import Collector, dumps, loads, records
from latchfree_lincheck.formats.source import Source
from latchfree_lincheck.history import History
from latchfree_support.publishing import publish_file

_JSON: Final = ("process", "arguments", "result")
_TYPES: Final = {
    "history": "string",
    "process": "string",
    "f": "string",
    "arguments": "string",
    "result": "string",
    "invoke": "int64",
    "return": "int64",
    "object": "string",
    "model": "string",
}
_OPTIONAL: Final = ("object", "model")


def read(source: Source, model: str | None = None) -> list[History]:
    """Read all histories of a Parquet file."""
    path = source.path
    table = _load(source)
    for column, kind in _TYPES.items():
        if column not in table.column_names:
            if column not in _OPTIONAL:
                raise HistoryFormatError(path, 1, f"the column {column!r}", f"only {', '.join(table.column_names)}")
        elif str(table.schema.field(column).type).removeprefix("large_") not in (kind, "null"):
            raise HistoryFormatError(path, 1, f"a column {column!r} of {kind}", str(table.schema.field(column).type))
    for column in table.column_names:
        if column not in _TYPES:
            raise HistoryFormatError(path, 1, f"the columns {', '.join(_TYPES)}", repr(column))
    from latchfree_lincheck.formats.parquet_columns import read_columns

    histories = read_columns(table, model)
    if histories is not None:
        return histories
    collector = Collector(source.path, model, source.stem)
    for row, values in enumerate(table.to_pylist(), 1):
        collector.add(row, _parse(path, row, values))
    return collector.histories()


def _load(source: Source) -> Any:
    """Return the table, all of it read and valid; its columns are not looked at yet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(pa.BufferReader(source.data), page_checksum_verification=True)
        _require_all_rows(file.metadata)
        table = file.read()
        table.validate(full=True)
        return table
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError, MemoryError) as error:
        what = str(error).strip().split("\n")[0] or type(error).__name__
        raise HistoryFormatError(source.path, 1, "a Parquet file", what) from None


def _require_all_rows(metadata: Any) -> None:
    """Raise ValueError unless the numbers of rows in it agree: a group is read as far as its number says."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    held = [
        (metadata.schema.column(at).max_repetition_level, group.column(at).num_values, group.num_rows)
        for group in groups
        for at in range(group.num_columns)
    ]
    flat = all(values == rows for repeated, values, rows in held if not repeated)
    if not flat or sum(group.num_rows for group in groups) != metadata.num_rows:
        raise ValueError("numbers of rows that do not agree")


def _parse(path: Path, row: int, values: dict[str, Any]) -> dict[str, Any]:
    """Return a row with its JSON text parsed; a null result is left out."""
    record = dict(values)
    for column in _JSON:
        if record[column] is not None:
            record[column] = loads(path, row, record[column], f"JSON text in column {column!r}")
        elif column == "result":
            del record[column]
    return record


def write(path: Path, histories: list[History]) -> None:
    """Write histories to a Parquet file, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = []
    for history in histories:
        for record in records(history):
            for column in _JSON:
                if column in record:
                    record[column] = dumps(record[column])
            rows.append({column: record.get(column) for column in _TYPES})
    kinds = {"string": pa.string(), "int64": pa.int64()}
    schema = pa.schema([(column, kinds[kind]) for column, kind in _TYPES.items()])
    table = pa.Table.from_pylist(rows, schema=schema)
    publish_file(path, lambda file: pq.write_table(table, file, write_page_checksum=True))
