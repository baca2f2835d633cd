"""What a job reads, as the driver found it: files, units and sources.

A *unit* is read by one worker: some row groups of a Parquet file, some bytes of a JSON Lines file, or a whole file of
another format. A row is known by its file and its *place*: the number of a row of a Parquet file, the byte at which a
line of text begins.

A *source* is a namespace of histories. Each file is one, since each of two nightly runs counts from h0; but the parts
that one writer made together (``part-00000-...``, as Spark and Hadoop name them) are one, the folder. Under `join` all
files are one source, which has no name.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

CUT: Final = "jsonl-cut"
"""The format of JSON Lines that several workers read: places are bytes."""

ENDLESS: Final = 1 << 62
"""The end of a compressed file, whose size nobody knows."""


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


def stamp(path: str | Path) -> Stamp:
    """Return what a file is now."""
    status = Path(path).stat()
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


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
