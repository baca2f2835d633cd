"""Read units of files and yield their operations as fragments of histories.

Example: a Parquet file has a damaged row group. Every history with a row in the file gets a problem, because the
damaged group may hold rows of any of them. A malformed row in a readable file is a problem of its own history only.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_lincheck.formats import HistoryFormatError, read_history
from latchfree_lincheck.formats.record import EXPECTED, Collector, dumps, records
from latchfree_spark.check.inputs import Unit
from latchfree_spark.check.options import Job
from latchfree_spark.check.tables import ROWS, as_rows, first_line, open_parquet, pack, problem

BATCH: Final = 1 << 17
"""Operations that are read at a time, at most."""

GATHERED: Final = 1 << 21
"""Operations that are gathered to fragments at a time, at most, where those of each history are scattered."""

_SCATTERED: Final = 4
"""Operations that follow each other in one history, on average, are scattered if they are fewer."""

_FIELDS: Final = {*EXPECTED, "result"}
_INTEGERS: Final = range(-(2**63) + 1, 2**63)


class Damaged(Exception):
    """A file of which something cannot be read."""

    def __init__(self, place: int, text: str) -> None:
        super().__init__(text)
        self.place = place


def read_units(batches: Iterable[Any], job: Job) -> Iterator[Any]:
    """Read the units that the rows of `batches` name; yield batches of fragments."""
    for batch in batches:
        for row in batch.to_pylist():
            unit = Unit(**row)
            path = Path(job.files[unit.file])
            try:
                yield from _read(unit, path, job.options.model)
            except Damaged as damage:
                names: list[str | None] = [None, *_names(path, unit.format)]
                yield problem(unit.file, damage.place, str(damage), names, unit.source)


def _read(unit: Unit, path: Path, model: str | None) -> Iterator[Any]:
    if unit.problem:
        raise Damaged(0, unit.problem)
    try:
        if unit.format == "parquet":
            yield from _read_parquet(unit, path)
        elif unit.format == "jsonl":
            yield from _read_lines(unit, path)
        else:
            yield from _read_whole(unit, path, model)
    except OSError as error:
        raise Damaged(0, f"{path}: {first_line(error)}") from None


def _read_parquet(unit: Unit, path: Path) -> Iterator[Any]:
    try:
        file = open_parquet(path)
    except HistoryFormatError as error:
        raise Damaged(0, str(error)) from None
    first = sum(file.metadata.row_group(group).num_rows for group in range(unit.begin))
    waiting: list[Any] = []
    for group in range(unit.begin, unit.end):
        try:
            for batch in file.iter_batches(BATCH, row_groups=[group], use_threads=False):
                batch.validate(full=True)
                rows = as_rows(pa.Table.from_batches([batch]), first + 1)
                if rows["history"].null_count:
                    row = first + 1 + rows["history"].is_null().index(True).as_py()
                    raise Damaged(row, str(HistoryFormatError(path, row, 'a string as "history"', "null")))
                first += batch.num_rows
                waiting.append(rows)
                if not _is_scattered(rows) or sum(map(len, waiting)) >= GATHERED:
                    yield from _packed(waiting, unit)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise Damaged(first, f"{path}: row group {group}: {first_line(error)}") from None
    yield from _packed(waiting, unit)


def _is_scattered(rows: Any) -> bool:
    """Return whether the operations of each history are scattered, so that more operations must be gathered."""
    names = rows["history"].combine_chunks()
    changes = pc.sum(pc.not_equal(names[1:], names[:-1])).as_py() or 0
    return bool(_SCATTERED * changes > len(names))


def _packed(waiting: list[Any], unit: Unit) -> Iterator[Any]:
    """Yield the gathered operations as fragments, not too many at a time, and forget them."""
    if any(map(len, waiting)):
        fragments = pack(pa.concat_tables(waiting), unit.file, unit.source)
        at_once = max(1, BATCH * len(fragments) // sum(map(len, waiting)))
        for begin in range(0, len(fragments), at_once):
            yield fragments.slice(begin, at_once)
    waiting.clear()


def _read_lines(unit: Unit, path: Path) -> Iterator[Any]:
    columns: dict[str, list[Any]] = {name: [] for name in ROWS.names}
    for place, raw in _lines(path, unit.begin, unit.end):
        record = _parse(path, place, raw)
        if record is None:
            continue
        if not _fits(record):
            name = record.get("history")
            try:
                Collector(path, None).add(line_of(path, place), record)
            except HistoryFormatError as error:
                if not isinstance(name, str):
                    raise Damaged(place, str(error)) from None
                yield problem(unit.file, place, str(error), [name], unit.source)
            continue
        _append(columns, record, place)
        if len(columns["place"]) == BATCH:
            yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)
            columns = {name: [] for name in ROWS.names}
    if columns["place"]:
        yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)


def _read_whole(unit: Unit, path: Path, model: str | None) -> Iterator[Any]:
    """Read a file of another format: one history, named after the file."""
    try:
        histories = read_history(path, unit.format, model)
    except HistoryFormatError as error:
        yield problem(unit.file, 0, str(error), [str(path)], unit.source)
        return
    for history in histories:
        columns: dict[str, list[Any]] = {name: [] for name in ROWS.names}
        for number, record in enumerate(records(history)):
            _append(columns, record | {"history": str(path)}, number)
        if columns["place"]:
            yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)


def _append(columns: dict[str, list[Any]], record: dict[str, Any], place: int) -> None:
    columns["history"].append(record["history"])
    columns["model"].append(record.get("model"))
    columns["process"].append(dumps(record["process"]))
    columns["f"].append(record["f"])
    columns["arguments"].append(dumps(record["arguments"]))
    columns["result"].append(dumps(record["result"]) if "result" in record else None)
    columns["object"].append(record.get("object"))
    columns["invoke"].append(record["invoke"])
    columns["return"].append(record["return"])
    columns["place"].append(place)


def _lines(path: Path, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a range of bytes, each with the place where it begins."""
    with path.open("rb") as file:
        if begin:
            file.seek(begin - 1)
            file.readline()
        place = file.tell()
        for raw in file:
            if place >= end:
                return
            yield place, raw
            place += len(raw)


def lines_of(path: str | Path, places: Iterable[int]) -> list[int]:
    """Return the numbers of the lines that begin at some places, in order."""
    found = []
    line, at = 1, 0
    with Path(path).open("rb") as file:
        for place in sorted(places):
            while at < place:
                read = file.read(min(1 << 20, place - at))
                line += read.count(b"\n")
                at += len(read)
            found.append(line)
    return found


def line_of(path: Path, place: int) -> int:
    """Return the number of the line that begins at a place."""
    return lines_of(path, [place])[0]


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_reject)


def _parse(path: Path, place: int, raw: bytes) -> dict[str, Any] | None:
    """Return the object of a line, None for a blank one."""
    what = "a JSON object"
    try:
        text = raw.decode("utf-8-sig" if place == 0 else "utf-8").strip()
        if not text:
            return None
        record = _DECODER.decode(text)
        if isinstance(record, dict):
            return record
        got = repr(record)[:60]
    except UnicodeDecodeError as error:
        what, got = "UTF-8 text", str(error)
    except (ValueError, RecursionError) as error:
        got = f"{text[:60]!r} ({error})"
        if not raw.endswith(b"\n"):
            what, got = f"{what} on the last line, ended by a newline", f"{text[-60:]!r}, which is cut off"
    raise Damaged(place, str(HistoryFormatError(path, line_of(path, place), what, got)))


def _fits(record: dict[str, Any]) -> bool:
    """Return whether a record has the fields of an operation, each of its type."""
    if not record.keys() <= _FIELDS:
        return False
    get = record.get
    finish = record.get("return", "")
    return (
        type(get("history")) is str
        and type(get("process")) in (int, str)
        and type(get("f")) is str
        and type(get("arguments")) is list
        and type(get("invoke")) is int
        and record["invoke"] in _INTEGERS
        and (finish is None or (type(finish) is int and finish in _INTEGERS))
        and (get("object") is None or type(record["object"]) is str)
        and (get("model") is None or type(record["model"]) is str)
    )


def _names(path: Path, format: str) -> list[str]:
    """Return the names of all histories that can be read in a damaged file."""
    names: set[str] = set()
    if format == "jsonl":
        for _, raw in _lines(path, 0, path.stat().st_size):
            try:
                record = json.loads(raw)
            except (ValueError, RecursionError):
                continue
            name = record.get("history") if isinstance(record, dict) else None
            if isinstance(name, str):
                names.add(name)
    elif format == "parquet":
        try:
            file: Any = pq.ParquetFile(path)
        except (pa.ArrowException, OSError, ValueError):
            return []
        if "history" not in file.schema_arrow.names:
            return []
        for group in range(file.metadata.num_row_groups):
            try:
                column = file.read_row_group(group, columns=["history"], use_threads=False)["history"]
                names.update(name for name in column.cast("string").unique().to_pylist() if name is not None)
            except (pa.ArrowException, OSError, ValueError):
                continue
    return sorted(names)
