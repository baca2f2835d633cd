"""Find the files to read, and deal out the reading to workers.

A *unit* is read by one worker: some row groups of a Parquet file, some bytes of a JSON Lines file, or a whole file of
another format. A row is known by its file and its *place*: the number of a row of a Parquet file, the byte at which a
line of text begins.

A *source* is a namespace of histories. Each file is one, since each of two nightly runs counts from h0; but the parts
that one writer made together (``part-00000-...``, as Spark and Hadoop name them) are one, the folder. Under `join` all
files are one source, which has no name.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

from latchfree_spark.check.beginnings import beginning

UNIT: Final = 32 << 20
"""Bytes that one worker reads at a time, about."""

CUT: Final = "jsonl-cut"
"""The format of JSON Lines that several workers read: places are bytes."""

ENDLESS: Final = 1 << 62
"""The end of a compressed file, whose size nobody knows."""

_PART: Final = re.compile(r"part-(?:[a-z]-)?\d{5}|part\.\d+\.parquet$")
"""How the names of parts begin that a job of Spark or Hadoop writes; the second is what Dask writes."""

_COMPRESSED: Final = re.compile(r"\.(?:jsonl|ndjson|json)\.(gz|zst|bz2|lz4)$")
_CODECS: Final = {"gz": "gzip", "zst": "zstd", "bz2": "bz2", "lz4": "lz4"}

_SHOWN: Final = 10
"""Columns that are named, at most."""

_LOOKERS: Final = 16
"""Files that are looked at at a time: what takes long is waiting for them."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a file.

    Parameters
    ----------
    file : int
        Number of the file.
    format : str
        One of `latchfree_lincheck.formats.FORMATS`, or `CUT`.
    begin, end : int
        Row groups of a Parquet file, bytes of a JSON Lines file; all of another one.
    task : int
        The task that reads the unit.
    problem : str
        What is wrong with the file, if that is known already.
    source : int
        Number of the file's source.
    size : int
        Bytes of the file when the job began.
    """

    file: int
    format: str
    begin: int
    end: int
    task: int
    problem: str = ""
    source: int = 0
    size: int = ENDLESS


UNIT_SCHEMA: Final = (
    "file int, format string, begin bigint, end bigint, task int, problem string, source int, size bigint"
)


class Stamp(NamedTuple):
    """What tells that a file is still the same."""

    size: int
    changed: int
    inode: int


@dataclass(frozen=True, slots=True)
class Inputs:
    """All there is to read.

    Parameters
    ----------
    files, formats : tuple of str
        Absolute paths, sorted, and what is in them.
    units : tuple of Unit
        In order of files.
    problems : tuple of str
        What cannot be read, as far as a look at the files tells.
    size : int
        Bytes of all files.
    fingerprint : str
        Changes with the files' names, sizes and times of change.
    sources : tuple of str
        The names of the sources, in order of their first files.
    stamps : tuple of Stamp
        Of each file, when it was looked at.
    asked : tuple of str
        The files, folders and patterns that were given.
    warnings : tuple of str
        What is left out on purpose.
    beginnings : tuple of str
        Of each file that may grow, what tells its content from another one; "" of others. See `beginning`.
    """

    files: tuple[str, ...]
    formats: tuple[str, ...]
    units: tuple[Unit, ...]
    problems: tuple[str, ...]
    size: int
    fingerprint: str
    sources: tuple[str, ...] = ()
    stamps: tuple[Stamp, ...] = ()
    asked: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()

    @property
    def cut(self) -> list[str]:
        """The files whose places are bytes."""
        return [file for file, kind in zip(self.files, self.formats, strict=True) if kind == CUT]


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
                    yield file.absolute()
        else:
            yield each.absolute()


def compression(path: Path) -> str | None:
    """Return how JSON Lines are compressed, as the end of the file's name says."""
    match = _COMPRESSED.search(path.name)
    return _CODECS[match[1]] if match else None


def stamp(path: str | Path) -> Stamp:
    """Return what a file is now."""
    status = Path(path).stat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


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
