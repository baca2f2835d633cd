"""Find the files to read, and deal out the reading to workers.

Example: ``find(["runs/"])`` looks at all files below ``runs``, sixteen at a time, and cuts them into units of 32 MB.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from latchfree_spark.check.input.beginnings import beginning
from latchfree_spark.check.input.inputs import CUT, ENDLESS, Inputs, Stamp, Unit, stamp
from latchfree_spark.hadoop import whole

UNIT: Final = 32 << 20
"""Bytes that one worker reads at a time, about."""

_PART: Final = re.compile(r"part-(?:[a-z]-)?\d{5}|part\.\d+\.parquet$")
"""How the names of parts begin that a job of Spark or Hadoop writes; the second is what Dask writes."""

_COMPRESSED: Final = re.compile(r"\.(?:jsonl|ndjson|json)\.(gz|zst|bz2|lz4)$")
_CODECS: Final = {"gz": "gzip", "zst": "zstd", "bz2": "bz2", "lz4": "lz4"}

_SHOWN: Final = 10
"""Columns that are named, at most."""

_LOOKERS: Final = 16
"""Files that are looked at at a time: what takes long is waiting for them."""


def find(inputs: Sequence[str | Path], *, join: bool = False) -> Inputs:
    """Look at files, folders (all files below, but for hidden ones) and patterns; `join` makes all one source."""
    problems: list[str] = []
    found: set[Path] = set()
    for name in inputs:
        mine = list(expand(str(name)))
        if not mine:
            problems.append(f"{name}: expected a file, a folder with files or a pattern that fits some, got nothing")
        found.update(mine)
    files = sorted(found)
    sources, source_of = ([""], [0] * len(files)) if join else _sources(files)
    with ThreadPoolExecutor(_LOOKERS) as lookers:
        looks = list(lookers.map(_look, files))
    digest = hashlib.sha256()
    units: list[Unit] = []
    read = 0
    for number, (path, look) in enumerate(zip(files, looks, strict=True)):
        digest.update(f"{path}\0{look.stamp.size}\0{look.stamp.changed}\n".encode())
        if look.problem:
            problems.append(look.problem)
        size = look.stamp.size if look.format in ("jsonl", CUT) and not compression(path) else ENDLESS
        for begin, end, count in look.pieces:
            units.append(Unit(number, look.format, begin, end, read // UNIT, look.problem, source_of[number], size))
            read += count
    return Inputs(
        tuple(map(str, files)),
        tuple(look.format for look in looks),
        tuple(units),
        tuple(problems),
        read,
        digest.hexdigest()[:16],
        tuple(sources),
        tuple(look.stamp for look in looks),
        tuple(map(str, inputs)),
        tuple(_left_out(looks)),
        tuple(look.beginning for look in looks),
    )


def _left_out(looks: Sequence[_Look]) -> Iterator[str]:
    columns = sorted({name for look in looks for name in look.extra})
    if columns:
        count = sum(bool(look.extra) for look in looks)
        files = "1 file has columns" if count == 1 else f"{count:,} files have columns"
        yield f"{files} that are not read: {', '.join(map(repr, columns[:_SHOWN]))}{', ...' * (len(columns) > _SHOWN)}"


def _sources(files: Sequence[Path]) -> tuple[list[str], list[int]]:
    """Return the names of the sources, below the folder that holds them all, and the number of each file's source."""
    homes = [file.parent if _PART.match(file.name) else file for file in files]
    numbers = {home: number for number, home in enumerate(dict.fromkeys(homes))}
    root = os.path.commonpath([home.parent for home in numbers]) if numbers else ""
    return [str(home.relative_to(root)) for home in numbers], [numbers[home] for home in homes]


def expand(name: str) -> Iterator[Path]:
    """Yield the files that a name stands for."""
    path = Path(name)
    root = Path(path.anchor or ".")
    chosen = [path] if path.exists() else root.glob(str(path.relative_to(path.anchor)))
    for each in chosen:
        if each.is_dir():
            for file in each.rglob("*"):
                hidden = any(part.startswith((".", "_")) for part in file.relative_to(each).parts)
                if file.is_file() and not hidden:
                    yield whole(file)
        else:
            yield whole(each)


def compression(path: Path) -> str | None:
    """Return how JSON Lines are compressed, as the end of the file's name says."""
    match = _COMPRESSED.search(path.name)
    return _CODECS[match[1]] if match else None


class _Look(NamedTuple):
    """What a look at a file tells: its format, where it is cut (begin, end, bytes), what is wrong with it."""

    stamp: Stamp
    format: str
    pieces: list[tuple[int, int, int]]
    problem: str = ""
    extra: Sequence[str] = ()
    beginning: str = ""


def _look(path: Path) -> _Look:
    from latchfree_lincheck.formats import HistoryFormatError, detect_format
    from latchfree_spark.check.tables import extra_columns, open_parquet

    now = Stamp(0, 0, 0)
    try:
        now = stamp(path)
        if compression(path):
            return _Look(now, "jsonl", [(0, ENDLESS, now.size)])
        if path.suffix in (".jsonl", ".ndjson"):
            kind = "jsonl"
        else:
            kind = "parquet" if path.suffix == ".parquet" else detect_format(path)
        if kind == "parquet":
            file = open_parquet(path)
            return _Look(now, kind, _row_groups(file.metadata), extra=extra_columns(file.schema_arrow))
        if kind == "jsonl":
            cuts = [*range(0, now.size, UNIT), now.size]
            kind = CUT if len(cuts) > 2 else kind
            pieces = [(begin, end, end - begin) for begin, end in pairwise(cuts)]
            return _Look(now, kind, pieces, beginning=beginning(path, now.size))
        return _Look(now, kind, [(0, now.size, now.size)])
    except HistoryFormatError as error:
        return _Look(now, "parquet" if path.suffix == ".parquet" else "damaged", [(0, 0, now.size)], str(error))
    except OSError as error:
        return _Look(now, "damaged", [(0, 0, now.size)], f"{path}: {error.strerror or error}")


def _row_groups(metadata: Any) -> list[tuple[int, int, int]]:
    """Return row groups gathered to pieces."""
    pieces: list[tuple[int, int, int]] = []
    begin, size = 0, 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= UNIT or group + 1 == metadata.num_row_groups:
            pieces.append((begin, group + 1, size))
            begin, size = group + 1, 0
    return pieces
