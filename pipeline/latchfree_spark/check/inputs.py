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
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

UNIT: Final = 32 << 20
"""Bytes that one worker reads at a time, about."""

_PART: Final = re.compile(r"part-(?:[a-z]-)?\d{5}|part\.\d+\.parquet$")
"""How the names of parts begin that a job of Spark or Hadoop writes; the second is what Dask writes."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a file.

    Parameters
    ----------
    file : int
        Number of the file.
    format : str
        One of `latchfree_lincheck.formats.FORMATS`.
    begin, end : int
        Row groups of a Parquet file, bytes of a JSON Lines file; all of another one.
    task : int
        The task that reads the unit.
    problem : str
        What is wrong with the file, if that is known already.
    source : int
        Number of the file's source.
    """

    file: int
    format: str
    begin: int
    end: int
    task: int
    problem: str = ""
    source: int = 0


UNIT_SCHEMA: Final = "file int, format string, begin bigint, end bigint, task int, problem string, source int"


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
    """

    files: tuple[str, ...]
    formats: tuple[str, ...]
    units: tuple[Unit, ...]
    problems: tuple[str, ...]
    size: int
    fingerprint: str
    sources: tuple[str, ...] = ()


def find(inputs: Sequence[str | Path], *, join: bool = False) -> Inputs:
    """Look at files, folders (all files below, but for hidden ones) and patterns; `join` makes all one source."""
    problems: list[str] = []
    found: set[Path] = set()
    for name in inputs:
        mine = list(_expand(str(name)))
        if not mine:
            problems.append(f"{name}: expected a file, a folder with files or a pattern that fits some, got nothing")
        found.update(mine)
    files = sorted(found)
    sources, source_of = ([""], [0] * len(files)) if join else _sources(files)
    digest = hashlib.sha256()
    formats: list[str] = []
    units: list[Unit] = []
    read = 0
    for number, path in enumerate(files):
        status = path.stat()
        digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
        kind, pieces, problem = _pieces(path, status.st_size)
        formats.append(kind)
        if problem:
            problems.append(problem)
        for begin, end, size in pieces:
            units.append(Unit(number, kind, begin, end, read // UNIT, problem, source_of[number]))
            read += size
    return Inputs(
        tuple(map(str, files)),
        tuple(formats),
        tuple(units),
        tuple(problems),
        read,
        digest.hexdigest()[:16],
        tuple(sources),
    )


def _sources(files: Sequence[Path]) -> tuple[list[str], list[int]]:
    """Return the names of the sources, below the folder that holds them all, and the number of each file's source."""
    homes = [file.parent if _PART.match(file.name) else file for file in files]
    numbers = {home: number for number, home in enumerate(dict.fromkeys(homes))}
    root = os.path.commonpath([home.parent for home in numbers]) if numbers else ""
    return [str(home.relative_to(root)) for home in numbers], [numbers[home] for home in homes]


def _expand(name: str) -> Iterator[Path]:
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


def _pieces(path: Path, size: int) -> tuple[str, list[tuple[int, int, int]], str]:
    """Return a file's format, where it is cut (begin, end, bytes), and what is wrong with it."""
    from latchfree_lincheck.formats import HistoryFormatError, detect_format

    try:
        if path.suffix in (".jsonl", ".ndjson"):
            kind = "jsonl"
        else:
            kind = "parquet" if path.suffix == ".parquet" else detect_format(path)
        if kind == "parquet":
            return kind, _row_groups(path), ""
        if kind == "jsonl":
            cuts = [*range(0, size, UNIT), size]
            return kind, [(begin, end, end - begin) for begin, end in pairwise(cuts)], ""
        return kind, [(0, size, size)], ""
    except HistoryFormatError as error:
        return "parquet" if path.suffix == ".parquet" else "damaged", [(0, 0, size)], str(error)
    except OSError as error:
        return "damaged", [(0, 0, size)], f"{path}: {error.strerror or error}"


def _row_groups(path: Path) -> list[tuple[int, int, int]]:
    """Return row groups gathered to pieces; raise HistoryFormatError if the file's end or its columns are wrong."""
    from latchfree_spark.check.tables import open_parquet

    metadata: Any = open_parquet(path).metadata
    pieces: list[tuple[int, int, int]] = []
    begin, size = 0, 0
    for group in range(metadata.num_row_groups):
        size += metadata.row_group(group).total_byte_size
        if size >= UNIT or group + 1 == metadata.num_row_groups:
            pieces.append((begin, group + 1, size))
            begin, size = group + 1, 0
    return pieces
