"""Read subscriptions and topics from CSV, JSON lines, Parquet or plain lines, in batches with the place of each row."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from latchfree_cli import exits

if TYPE_CHECKING:
    from latchfree.topics import Dialect
    from latchfree_cli.settings import Report

BATCH: Final = 1 << 16
"""Rows read at once."""
FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".txt": "lines"}


@dataclass
class Batch:
    """Some rows of a file: values of the columns asked for, and the place of each row, for messages."""

    source: str
    unit: str
    columns: dict[str, list[Any]]
    places: list[int] = field(default_factory=list)

    def stop(self, row: int, problem: object) -> exits.Stop:
        """Return the error that names a row."""
        return exits.Stop(exits.USAGE, f"{self.source}, {self.unit} {self.places[row]:,}: {problem}")


def format_of(path: str) -> str:
    """Return the format of a file, by its suffix; standard input (``-``) has plain lines."""
    if path == "-":
        return "lines"
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind is None:
        raise exits.Stop(exits.USAGE, f"{path}: the suffix must be one of {', '.join(FORMATS)}")
    return kind


def batches(path: str, needed: str, optional: str | None = None) -> Iterator[Batch]:
    """Read a needed column and an optional column, whose missing values are numbers from 0.

    Raises
    ------
    Stop
        If a row is malformed; the message names its place.
    """
    kind = format_of(path)
    if kind == "parquet":
        yield from _parquet(path, needed, optional)
        return
    read = {"csv": _csv, "jsonl": _jsonl, "lines": _lines}[kind]
    source = "standard input" if path == "-" else path
    with sys.stdin.buffer if path == "-" else Path(path).open("rb") as stream:
        batch = Batch(source, "line", {needed: [], "other": []})
        for number, (line, value, other) in enumerate(read(source, stream, needed, optional)):
            batch.places.append(line)
            batch.columns[needed].append(value)
            batch.columns["other"].append(number if other is None else other)
            if len(batch.places) == BATCH:
                yield batch
                batch = Batch(source, "line", {needed: [], "other": []})
        if batch.places:
            yield batch


def subscriptions(path: str, dialect: "Dialect", report: "Report") -> tuple[list[str], list[Any]]:
    """Read patterns and subscribers.

    Raises
    ------
    Stop
        If a row is malformed or holds no pattern, which the message names, or if there are no rows.
    """
    from latchfree.topics import InvalidPattern

    patterns: list[str] = []
    subscribers: list[Any] = []
    for batch in batches(path, "pattern", "subscriber"):
        for row, text in enumerate(batch.columns["pattern"]):
            try:
                dialect.pattern(text)
            except InvalidPattern as error:
                raise batch.stop(row, error) from None
        patterns += batch.columns["pattern"]
        subscribers += batch.columns["other"]
        report(f"reading {path}: {len(patterns):,} subscriptions")
    if not patterns:
        raise exits.Stop(exits.NOTHING, f"{path}: there are no subscriptions")
    return patterns, subscribers


def _decoded(source: str, stream: BinaryIO) -> Iterator[tuple[int, str]]:
    for line, data in enumerate(stream, 1):
        try:
            yield line, data.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise exits.Stop(exits.USAGE, f"{source}, line {line:,}: byte {error.start} is not UTF-8") from None


def _lines(source: str, stream: BinaryIO, needed: str, optional: str | None) -> Iterator[tuple[int, Any, Any]]:
    for line, text in _decoded(source, stream):
        yield line, text.removesuffix("\n").removesuffix("\r"), None


def _jsonl(source: str, stream: BinaryIO, needed: str, optional: str | None) -> Iterator[tuple[int, Any, Any]]:
    for line, text in _decoded(source, stream):
        if not text.strip():
            continue
        where = f"{source}, line {line:,}"
        try:
            row = json.loads(text)
        except json.JSONDecodeError as error:
            raise exits.Stop(exits.USAGE, f"{where}: no JSON, {error.msg} at column {error.colno}") from None
        if isinstance(row, str):
            row = {needed: row}
        if not isinstance(row, dict) or not isinstance(row.get(needed), str):
            raise exits.Stop(exits.USAGE, f'{where}: expected {{"{needed}": TEXT, ...}}, got {text.strip()[:80]}')
        other = row.get(optional) if optional else None
        if not isinstance(other, str | int | None):
            raise exits.Stop(exits.USAGE, f"{where}: {optional} must be a string or an integer, got {other!r}")
        yield line, row[needed], other


def _csv(source: str, stream: BinaryIO, needed: str, optional: str | None) -> Iterator[tuple[int, Any, Any]]:
    with io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        reader = csv.reader(text, strict=True)
        try:
            header = next(reader, [])
            if needed not in header:
                raise exits.Stop(exits.USAGE, f"{source}, line 1: expected a column {needed}, got {', '.join(header)}")
            at = header.index(needed)
            other_at = header.index(optional) if optional in header else None
            for row in reader:
                if len(row) != len(header):
                    says = f"expected {len(header)} fields, got {len(row)}"
                    raise exits.Stop(exits.USAGE, f"{source}, line {reader.line_num:,}: {says}")
                yield reader.line_num, row[at], None if other_at is None else row[other_at]
        except csv.Error as error:
            raise exits.Stop(exits.USAGE, f"{source}, line {reader.line_num:,}: {error}") from None
        except UnicodeDecodeError as error:
            near = f"after line {reader.line_num:,}: byte {error.object[error.start]:#x} is not UTF-8"
            raise exits.Stop(exits.USAGE, f"{source}, {near}") from None


def _parquet(path: str, needed: str, optional: str | None) -> Iterator[Batch]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not Path(path).exists():
        raise FileNotFoundError(2, "No such file or directory", path)
    try:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        if needed not in names:
            raise exits.Stop(exits.USAGE, f"{path}: expected a column {needed}, got {', '.join(names)}")
        wanted = [needed, *([optional] if optional in names and optional else [])]
        first = 0
        for rows in file.iter_batches(BATCH, columns=wanted):
            texts = rows.column(needed).to_pylist()
            others = rows.column(optional).to_pylist() if len(wanted) == 2 else range(first, first + len(texts))
            places = list(range(first + 1, first + len(texts) + 1))
            batch = Batch(path, "row", {needed: texts, "other": list(others)}, places)
            for row, text in enumerate(texts):
                if not isinstance(text, str):
                    raise batch.stop(row, f"{needed} must be a string, got {text!r}")
            for row, other in enumerate(batch.columns["other"]):
                if not isinstance(other, str | int):
                    raise batch.stop(row, f"{optional} must be a string or an integer, got {other!r}")
            first += len(texts)
            yield batch
    except pa.ArrowException as error:
        raise exits.Stop(exits.USAGE, f"{path}: no Parquet, {error}") from None
