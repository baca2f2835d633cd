"""Read subscriptions and topics from CSV, JSON lines, Parquet or plain lines, in batches with the place of each row.

A batch ends where the bytes that have arrived end, so that what comes through a pipe is handled at once, however slowly
the rest follows. A malformed row ends a batch, too: the rows before it count.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from latchfree_cli import exits
from latchfree_cli.matching.lines import Lines, opened

if TYPE_CHECKING:
    from latchfree.topics import Dialect
    from latchfree_cli.settings import Report

BATCH: Final = 1 << 16
"""Rows read at once."""
FORMATS: Final = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".txt": "lines"}

Row: TypeAlias = tuple[int, str, Any] | exits.Stop
"""The line of a row, the value of the needed column and that of the other; or what is wrong with the row."""


@dataclass
class Batch:
    """Some rows of a file: values of the columns asked for, and the place of each row, for messages."""

    source: str
    unit: str
    columns: dict[str, list[Any]]
    places: list[int] = field(default_factory=list)
    malformed: exits.Stop | None = None
    """What is wrong with the row after these."""

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

    A batch with a malformed row after its rows says so in `Batch.malformed`; reading may go on.

    Raises
    ------
    Stop
        If the file as a whole is malformed.
    """
    kind = format_of(path)
    if kind == "parquet":
        yield from _parquet(path, needed, optional)
        return
    read = {"csv": _csv, "jsonl": _jsonl, "lines": _lines}[kind]
    with opened(path) as (source, stream):
        lines = Lines(source, stream)
        batch, count = Batch(source, "line", {needed: [], "other": []}), 0
        for row in read(source, lines, needed, optional):
            if isinstance(row, exits.Stop):
                batch.malformed = row
            else:
                line, value, other = row
                batch.places.append(line)
                batch.columns[needed].append(value)
                batch.columns["other"].append(count if other is None else other)
                count += 1
            if batch.malformed or len(batch.places) == BATCH or lines.waiting:
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
        if batch.malformed is not None:
            raise batch.malformed
        report(f"reading {path}: {len(patterns):,} subscriptions")
    if not patterns:
        raise exits.Stop(exits.NOTHING, f"{path}: there are no subscriptions")
    return patterns, subscribers


def _text(source: str, lines: Lines, line: bytes) -> str | exits.Stop:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        return exits.Stop(exits.USAGE, f"{source}, line {lines.number:,}: byte {error.start} is not UTF-8")


def _lines(source: str, lines: Lines, needed: str, optional: str | None) -> Iterator[Row]:
    for line in lines:
        text = _text(source, lines, line)
        yield text if isinstance(text, exits.Stop) else (lines.number, text[:-1].removesuffix("\r"), None)


def _jsonl(source: str, lines: Lines, needed: str, optional: str | None) -> Iterator[Row]:
    for line in lines:
        text = _text(source, lines, line)
        if isinstance(text, exits.Stop):
            yield text
        elif text.strip():
            yield _json_row(f"{source}, line {lines.number:,}", lines.number, text, needed, optional)


def _json_row(where: str, line: int, text: str, needed: str, optional: str | None) -> Row:
    try:
        row = json.loads(text)
    except json.JSONDecodeError as error:
        return exits.Stop(exits.USAGE, f"{where}: no JSON, {error.msg} at column {error.colno}")
    except RecursionError:
        return exits.Stop(exits.USAGE, f"{where}: JSON nested too deep")
    if isinstance(row, str):
        row = {needed: row}
    if not isinstance(row, dict) or not isinstance(row.get(needed), str):
        return exits.Stop(exits.USAGE, f'{where}: expected {{"{needed}": TEXT, ...}}, got {text.strip()[:80]}')
    other = row.get(optional) if optional else None
    if not isinstance(other, str | int | None):
        return exits.Stop(exits.USAGE, f"{where}: {optional} must be a string or an integer, got {other!r}")
    return line, row[needed], other


def _csv(source: str, lines: Lines, needed: str, optional: str | None) -> Iterator[Row]:
    # A byte that is not UTF-8 must not end the reading of the lines: it is found in its row.
    reader = csv.reader((line.decode(errors="surrogateescape") for line in lines), strict=True)
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise exits.Stop(exits.USAGE, f"{source}, line 1: {error}") from None
    if needed not in header:
        raise exits.Stop(exits.USAGE, f"{source}, line 1: expected a column {needed}, got {', '.join(header)}")
    at = header.index(needed)
    other_at = header.index(optional) if optional in header else None
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield exits.Stop(exits.USAGE, f"{source}, line {reader.line_num:,}: {error}")
            continue
        if len(row) != len(header):
            says = f"expected {len(header)} fields, got {len(row)}"
            yield exits.Stop(exits.USAGE, f"{source}, line {reader.line_num:,}: {says}")
        elif bad := next((each for value in row for each in value if "\udc80" <= each <= "\udcff"), ""):
            says = f"byte {ord(bad) - 0xDC00:#x} is not UTF-8"
            yield exits.Stop(exits.USAGE, f"{source}, line {reader.line_num:,}: {says}")
        else:
            yield reader.line_num, row[at], None if other_at is None else row[other_at]


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
