"""Read operations from JSON Lines, plain or compressed: one pass, whatever is wrong.

A file that is read in one unit has numbered lines. In a file that is cut into units a line is known by the byte at
which it begins (`places.Byte`). A compressed file cannot be cut.

A unit ends where the file ended when the job began. If the file grows, a line that was half written then is left to the
next run, and the driver says that the file has grown.

No unit reads further than its end and one line, and no line of more than `LONGEST` bytes is held: a file without line
ends is read once, too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa

from latchfree_lincheck.formats import HistoryFormatError
from latchfree_lincheck.formats.record import EXPECTED, Collector, decode, dumps
from latchfree_spark.check.input.finding import compression
from latchfree_spark.check.input.inputs import CUT, Unit
from latchfree_spark.check.input.places import Byte
from latchfree_spark.check.input.unit_problems import UnitProblems
from latchfree_spark.check.tables import ROWS, pack

_FIELDS: Final = {*EXPECTED, "result"}
_INTEGERS: Final = range(-(2**63) + 1, 2**63)
_BUFFER: Final = 1 << 20

LONGEST: Final = 64 << 20
"""Bytes of a line, at most."""


def read_lines(unit: Unit, path: Path, found: UnitProblems, batch: int) -> Iterator[Any]:
    """Yield the operations of a unit as fragments, at most `batch` of them at a time; note what is wrong."""
    columns = empty()
    for place, raw in _lines(unit, path):
        try:
            if raw is None:
                raise HistoryFormatError(path, place, f"a line of at most {LONGEST:,} bytes", "a longer one")
            record = _parse(path, place, raw)
        except HistoryFormatError as error:
            found.of_file(place, str(error))
            yield from found.passing()
            continue
        if record is None:
            continue
        if not _fits(record) and _is_wrong(path, place, record, found):
            yield from found.passing()
            continue
        try:
            append(columns, record, place)
        except (ValueError, RecursionError) as error:  # 1e400 is read as infinity, for which JSON has no text
            found.of_history(
                record["history"], place, str(HistoryFormatError(path, place, "values of JSON", str(error)))
            )
            yield from found.passing()
            continue
        if len(columns["place"]) == batch:
            yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)
            columns = empty()
    if columns["place"]:
        yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)


def empty() -> dict[str, list[Any]]:
    """Return the columns of `ROWS`, without rows."""
    return {name: [] for name in ROWS.names}


def append(columns: dict[str, list[Any]], record: dict[str, Any], place: int) -> None:
    """Append the operation of a record, or raise ValueError or RecursionError and append nothing."""
    process, arguments = dumps(record["process"]), dumps(record["arguments"])
    result = dumps(record["result"]) if "result" in record else None
    columns["history"].append(record["history"])
    columns["model"].append(record.get("model"))
    columns["process"].append(process)
    columns["f"].append(record["f"])
    columns["arguments"].append(arguments)
    columns["result"].append(result)
    columns["object"].append(record.get("object"))
    columns["invoke"].append(record["invoke"])
    columns["return"].append(record["return"])
    columns["place"].append(place)


def _lines(unit: Unit, path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Yield the lines that begin in a unit, each with its place; None for one that is too long."""
    with _open(path) as file:
        at, number = 0, 0
        if unit.begin:
            file.seek(unit.begin - 1)
            at = _skip(file, unit.begin - 1, unit.end)
        while at < unit.end:
            raw = file.readline(LONGEST)
            after, number = at + len(raw), number + 1
            if not raw or after > unit.size:  # it was half written when the job began
                return
            place = Byte(at) if unit.format == CUT else number
            if len(raw) == LONGEST and not raw.endswith(b"\n"):
                yield place, None
                at = _skip(file, after, unit.end)
            else:
                yield place, raw
                at = after


def _skip(file: BinaryIO, at: int, end: int) -> int:
    """Read the rest of a line, but not if it goes on after `end`; return where the next one begins."""
    while at < end:
        raw = file.readline(_BUFFER)
        at += len(raw)
        if not raw or raw.endswith(b"\n"):
            break
    return at


def _open(path: Path) -> BinaryIO:
    kind = compression(path)
    if kind is None:
        return path.open("rb", buffering=_BUFFER)
    stream: Any = pa.input_stream(str(path), compression=kind)
    return cast(BinaryIO, io.BufferedReader(stream, _BUFFER))


def _parse(path: Path, place: int, raw: bytes) -> dict[str, Any] | None:
    """Return the object of a line, None for a blank one; raise HistoryFormatError if it is none."""
    what = "a JSON object"
    is_first = place == (0 if isinstance(place, Byte) else 1)
    try:
        text = raw.decode("utf-8-sig" if is_first else "utf-8").strip()
        if not text:
            return None
        record = decode(text)
        if isinstance(record, dict):
            return record
        got = repr(record)[:60]
    except UnicodeDecodeError as error:
        what, got = "UTF-8 text", str(error)
    except (ValueError, RecursionError) as error:
        got = f"{text[:60]!r} ({error})"
        if not raw.endswith(b"\n"):
            what, got = f"{what} on the last line, ended by a newline", f"{text[-60:]!r}, which is cut off"
    raise HistoryFormatError(path, place, what, got)


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


def _is_wrong(path: Path, place: int, record: dict[str, Any], found: UnitProblems) -> bool:
    """Note what is wrong with a record; return False if nothing is."""
    name = record.get("history")
    if isinstance(name, str) and found.knows(name):
        return True
    try:
        Collector(path, None).add(place, record)
    except HistoryFormatError as error:
        if isinstance(name, str):
            found.of_history(name, place, str(error))
        else:
            found.of_file(place, str(error))
        return True
    return False
