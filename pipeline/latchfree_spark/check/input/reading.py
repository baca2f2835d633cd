"""Read units of files and yield their operations as fragments of histories.

Example: a Parquet file has a damaged row group. Every history with a row in the file gets a problem, because the
damaged group may hold rows of any of them. A malformed row in a readable file is a problem of its own history only.
What can be read is read all the same, so each history of a damaged file is known by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from latchfree_lincheck.formats import HistoryFormatError, read_history
from latchfree_lincheck.formats.record import records
from latchfree_spark.check.input.inputs import CUT, Unit
from latchfree_spark.check.input.lines import append, empty, read_lines
from latchfree_spark.check.input.places import NAMED
from latchfree_spark.check.input.unit_problems import UnitProblems
from latchfree_spark.check.options import Job
from latchfree_spark.check.tables import ROWS, as_rows, first_line, mark, open_parquet, pack

BATCH: Final = 1 << 17
"""Operations that are read at a time, at most."""

GATHERED: Final = 1 << 21
"""Operations that are gathered to fragments at a time, at most, where those of each history are scattered."""

_SCATTERED: Final = 4
"""Operations that follow each other in one history, on average, are scattered if they are fewer."""


def read_units(batches: Iterable[Any], job: Job, at_once: int | None = None) -> Iterator[Any]:
    """Read the units that the rows of `batches` name; yield batches of fragments, and a mark after each unit.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Units.
    job : Job
        The files.
    at_once : int, optional
        Operations that are read and gathered at a time, at most, by who wants the first ones only.
    """
    for batch in batches:
        for row in batch.to_pylist():
            unit = Unit(**row)
            operations = 0
            for fragments in _read(unit, job, at_once or BATCH, at_once or GATHERED):
                operations += pc.sum(pc.list_value_length(fragments["invoke"])).as_py() or 0
                yield fragments
            yield mark(unit.file, unit.begin, operations)


def _read(unit: Unit, job: Job, size: int, gathered: int) -> Iterator[Any]:
    path = Path(job.files[unit.file])
    found = UnitProblems(unit, str(path), job.chunks)
    try:
        if unit.problem:
            found.of_file(0, unit.problem)
            _name_all(unit, path, found)
        elif unit.format == "parquet":
            yield from _read_parquet(unit, path, found, size, gathered)
        elif unit.format in ("jsonl", CUT):
            yield from read_lines(unit, path, found, size)
        else:
            yield from _read_whole(unit, path, found, job.options.model)
    except OSError as error:
        found.of_file(0, f"{path}: {first_line(error)}")
    yield from found.rest()


def _read_parquet(unit: Unit, path: Path, found: UnitProblems, size: int, gathered: int) -> Iterator[Any]:
    try:
        file = open_parquet(path)
    except HistoryFormatError as error:
        found.of_file(0, str(error))
        return
    first = 1 + sum(file.metadata.row_group(group).num_rows for group in range(unit.begin))
    waiting: list[Any] = []
    for group in range(unit.begin, unit.end):
        at = first
        first += file.metadata.row_group(group).num_rows
        try:
            for batch in file.iter_batches(size, row_groups=[group], use_threads=False):
                batch.validate(full=True)
                rows = as_rows(pa.Table.from_batches([batch]), at)
                at += batch.num_rows
                waiting.append(_named(rows, path, found))
                if not _is_scattered(rows) or sum(map(len, waiting)) >= gathered:
                    yield from _packed(waiting, unit)
        except (pa.ArrowException, OSError, ValueError) as error:
            text = f"{path}: row group {group}: {first_line(error)}"
            found.of_file(at, text)
            _name(file, group, at, text, found)
            yield from found.passing()
    yield from _packed(waiting, unit)


def _named(rows: Any, path: Path, found: UnitProblems) -> Any:
    """Return the rows that have a history; the others are problems of the file."""
    if not rows["history"].null_count:
        return rows
    nobody = rows["history"].is_null()
    places = rows["place"].filter(nobody)
    for number, place in enumerate(places.slice(0, NAMED).to_pylist()):
        text = str(HistoryFormatError(path, place, 'a string as "history"', "null"))
        found.of_file(place, text, 1 if number else 1 + max(0, len(places) - NAMED))
    return rows.filter(pc.invert(nobody))


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


def _name_all(unit: Unit, path: Path, found: UnitProblems) -> None:
    """Name the histories of a Parquet file whose columns are wrong, so that each has its verdict."""
    if unit.format != "parquet":
        return
    try:
        file: Any = pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError):
        return
    for group in range(file.metadata.num_row_groups):
        _name(file, group, 0, unit.problem, found)


def _name(file: Any, group: int, place: int, text: str, found: UnitProblems) -> None:
    """Name the histories of a damaged row group, if their names can be read."""
    if "history" not in file.schema_arrow.names:
        return
    try:
        column = file.read_row_group(group, columns=["history"], use_threads=False)["history"]
        names = column.cast("string").unique().to_pylist()
    except (pa.ArrowException, OSError, ValueError):
        return
    for name in names:
        if name is not None:
            found.of_history(name, place, text)


def _read_whole(unit: Unit, path: Path, found: UnitProblems, model: str | None) -> Iterator[Any]:
    """Read a file of another format: one history, named after the file."""
    try:
        histories = read_history(path, unit.format, model)
    except HistoryFormatError as error:
        found.of_history(str(path), 0, str(error))
        return
    for history in histories:
        columns = empty()
        for number, record in enumerate(records(history)):
            append(columns, record | {"history": str(path)}, number)
        if columns["place"]:
            yield pack(pa.table(columns, schema=ROWS), unit.file, unit.source)
