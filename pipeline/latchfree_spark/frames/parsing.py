"""Parse what Spark has read at a URI, on a worker: lines of JSON, and whole files whose content tells their format.

A line that is no JSON object, has no name of a history or has a field that no operation has, and a file that is not
read to its end, become an operation of the history null, which says what is wrong.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, Final

import pyarrow as pa

from latchfree_lincheck.formats import HistoryFormatError, detect_format, read_history
from latchfree_lincheck.formats.record import EXPECTED, decode, dumps, records
from latchfree_lincheck.formats.source import read_source
from latchfree_spark.check.input.finding import compression
from latchfree_spark.check.tables import ROWS, as_rows, first_line, open_parquet

READ: Final = pa.schema(
    [(name, pa.string()) for name in ("source", "history", "process", "f", "arguments", "result")]
    + [("invoke", pa.int64()), ("return", pa.int64())]
    + [(name, pa.string()) for name in ("object", "model", "problem")]
)
"""The columns of operations that were parsed."""

DDL: Final = ", ".join(f"`{field.name}` {'bigint' if field.type == pa.int64() else 'string'}" for field in READ)
"""The same, as Spark writes it."""

_FIELDS: Final = (*EXPECTED, "result")
_BATCH: Final = 1 << 14
_BUFFER: Final = 1 << 20
_INTEGERS: Final = range(-(2**63) + 1, 2**63)


def of_lines(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the operations of lines of JSON, given as source, part and value, which is bytes.

    The part is null where the source is the file.
    """
    for batch in batches:
        lines = zip(*(batch[name].to_pylist() for name in ("source", "part", "value")), strict=True)
        rows = [row for source, part, line in lines if (row := _operation(source, part or source, line or b""))]
        yield pa.RecordBatch.from_pylist(rows, schema=READ)


def of_files(batches: Iterable[Any], model: str | None) -> Iterator[Any]:
    """Yield the operations of whole files, given as source, path and content."""
    for batch in batches:
        for file in batch.to_pylist():
            rows: list[dict[str, Any]] = []
            for row in _of_file(file["source"], file["path"], file["content"], model):
                rows.append(row)
                if len(rows) == _BATCH:
                    yield pa.RecordBatch.from_pylist(rows, schema=READ)
                    rows = []
            yield pa.RecordBatch.from_pylist(rows, schema=READ)


def _of_file(source: str, address: str, content: bytes, model: str | None) -> Iterator[dict[str, Any]]:
    """Yield the operations of one file, and what is wrong where it ends too soon."""
    with tempfile.TemporaryDirectory(prefix="latchfree-read-") as folder:
        path = Path(folder) / f"x{''.join(PurePosixPath(address).suffixes[-2:])}"
        path.write_bytes(content)
        try:
            packing = compression(path)
            kind = "jsonl" if packing else detect_format(path)
            if kind == "jsonl":
                for line in _lines(path, packing):
                    if row := _operation(source, address, line):
                        yield row
            elif kind == "parquet":
                yield from _of_parquet(source, address, path)
            else:
                # A log is one history, named after its file, also where files are parts of one source.
                last = PurePosixPath(address).name
                name = source if source.endswith(last) else f"{source.rstrip('/')}/{last}"
                for history in read_history(path, kind, model):
                    for record in records(history):
                        yield _row(source, record | {"history": name})
        except HistoryFormatError as error:
            yield _wrong(source, str(error).replace(str(path), address))
        except (pa.ArrowException, OSError, ValueError, EOFError, RecursionError) as error:
            yield _wrong(source, f"{address}: {first_line(error)}")


def _lines(path: Path, packing: str | None) -> Iterator[bytes]:
    if packing is None:
        yield from io.BytesIO(read_source(path).data)
        return
    stream: Any = pa.input_stream(str(path), compression=packing)
    with io.BufferedReader(stream, _BUFFER) as lines:
        yield from lines


def _of_parquet(source: str, address: str, path: Path) -> Iterator[dict[str, Any]]:
    for batch in open_parquet(path).iter_batches(_BATCH):
        for row in as_rows(pa.Table.from_batches([batch]), 1).select(ROWS.names[:-1]).to_pylist():
            if row["history"] is None:
                row = {"problem": f"{address}: expected a name of a history, got null"}
            yield row | {"source": source}


def _wrong(source: str, problem: str) -> dict[str, Any]:
    """Return an operation of nobody, which says what is wrong."""
    return {"source": source, "problem": problem.encode(errors="backslashreplace").decode()}


def _operation(source: str, where: str, line: bytes) -> dict[str, Any] | None:
    """Return the operation of a line of a file, None for a blank one.

    A field that is missing or of the wrong type is null: its history is then malformed.
    """
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        return _wrong(source, f"{where}: expected UTF-8 text, got {line.strip()[:60]!r} ({error})")
    if not text:
        return None
    shown = repr(text[:60])
    try:
        record = decode(text)
        if not isinstance(record, dict):
            return _wrong(source, f"{where}: expected a JSON object, got {shown}")
        if _text(record.get("history")) is None:
            return _wrong(source, f'{where}: expected a string as "history", got {shown}')
        more = [name for name in record if name not in _FIELDS]
        if more:
            return _wrong(source, f'{where}: expected the fields {", ".join(_FIELDS)}, got "{more[0]}" in {shown}')
        return _row(source, record)
    except (ValueError, RecursionError) as error:
        return _wrong(source, f"{where}: expected a JSON object, got {shown} ({error})")


def _text(value: object) -> str | None:
    """Return a string that Arrow and Spark can hold; half a pair of surrogates is none."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _row(source: str, record: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"source": source, "history": record["history"]}
    for name in ("process", "arguments", "result"):
        row[name] = dumps(record[name]) if name in record else None
    for name in ("f", "object", "model"):
        row[name] = _text(record.get(name))
    for name in ("invoke", "return"):
        time = record.get(name)
        row[name] = time if type(time) is int and time in _INTEGERS else None
    wrong = record.get("return") is not None and row["return"] is None
    if (
        wrong
        or "return" not in record
        or not all(record.get(name) is None or row[name] is not None for name in ("object", "model"))
    ):
        row["invoke"] = None
    return row
