"""Look at the columns of files before Spark reads them: footers of Parquet, headers of CSV.

Example: ``a.parquet`` has ``topic, id``, and ``b.parquet`` has ``topic, id, size``. Spark takes the columns of one file
for all and says nothing, so ``size`` is lost. Here both footers are read, and the files are told to differ.

Invariant: of the files that are not refused, each column is in the table that is read, with one type.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pyarrow as pa

THREADS: Final = 16
"""Footers and headers are read by so many threads: on a network disk each takes milliseconds."""


@dataclass(frozen=True)
class Seen:
    """What the footer or header of a file says.

    Parameters
    ----------
    file : str
    defect : str
        Why the file cannot be read with the others; "" if nothing is wrong.
    columns : tuple of (str, str)
        Name and type of each column; the type is "" in CSV.
    rows : int or None
        How many there are; None in CSV.
    """

    file: str
    defect: str
    columns: tuple[tuple[str, str], ...] = ()
    rows: int | None = None


def footers(files: Sequence[str], topic: str) -> list[Seen]:
    """Read the footers of Parquet files; files whose types contradict the ones before them are defective."""
    known: dict[str, tuple[str, Any]] = {}
    made = []
    for file, found in zip(files, _pool(_footer, files), strict=True):
        if isinstance(found, str):
            made.append(Seen(file, found))
            continue
        schema, rows = found
        defect = _topic_defect(file, topic, schema) or _contradiction(file, schema, known)
        if not defect:
            for each in schema:
                known.setdefault(each.name.lower(), (file, each.type))
        columns = tuple((each.name, str(_plain(each.type))) for each in schema)
        made.append(Seen(file, defect, columns, rows))
    return made


def headers(files: Sequence[str], topic: str) -> list[Seen]:
    """Read the headers of CSV files; an empty file has no columns."""
    made = []
    for file, names in zip(files, _pool(_header, files), strict=True):
        lacks = bool(names) and topic not in names
        defect = f"{file}: expected a column {topic}, got {', '.join(names)}; see --topic-column" if lacks else ""
        made.append(Seen(file, defect, tuple((name, "") for name in names)))
    return made


def alike(seen: Iterable[Seen]) -> list[tuple[str, ...]]:
    """Return files in groups of the same columns; files without any, which have no rows, are in no group."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for each in seen:
        if each.columns:
            groups.setdefault(each.columns, []).append(each.file)
    return [tuple(group) for group in groups.values()]


def _pool(look: Any, files: Sequence[str]) -> list[Any]:
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(look, files))


def _footer(file: str) -> tuple[pa.Schema, int] | str:
    """Return the schema of a file and its number of rows, or what is wrong with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened:
            return opened.schema_arrow, opened.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        return f"{file}: no Parquet, {error}"


def _header(file: str) -> tuple[str, ...]:
    with Path(file).open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        return tuple(next(csv.reader(stream), ()))


def _topic_defect(file: str, topic: str, schema: pa.Schema) -> str:
    import pyarrow as pa

    if topic not in schema.names:
        return f"{file}: expected a column {topic}, got {', '.join(schema.names)}; see --topic-column"
    kind = schema.field(topic).type
    if _plain(kind) != pa.string():
        return f"{file}: the column {topic} must be text, not {kind}"
    return ""


def _contradiction(file: str, schema: pa.Schema, known: dict[str, tuple[str, Any]]) -> str:
    for each in schema:
        before = known.get(each.name.lower())
        if before is not None and not _unites(before[1], each.type):
            return (
                f"{file}: the column {each.name} is {each.type}, and {before[1]} in {before[0]};"
                f" write it with one type everywhere, or leave one of the files out"
            )
    return ""


def _unites(one: pa.DataType, other: pa.DataType) -> bool:
    """Return whether Spark makes one type of two: the same type, or records whose fields do not contradict."""
    import pyarrow as pa

    one, other = _plain(one), _plain(other)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {field.name.lower(): field.type for field in one}
        return all(_unites(fields.get(field.name.lower(), field.type), field.type) for field in other)
    if pa.types.is_list(one) and pa.types.is_list(other):
        return _unites(one.value_type, other.value_type)
    if pa.types.is_map(one) and pa.types.is_map(other):
        return _unites(one.key_type, other.key_type) and _unites(one.item_type, other.item_type)
    if pa.types.is_decimal(one) and pa.types.is_decimal(other):
        return bool(one.scale == other.scale)
    return bool(one == other)


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type that stands for all those that Spark reads alike."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return _plain(kind.value_type)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    if pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_type)
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz and "UTC")
    return kind
