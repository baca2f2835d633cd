"""Ask Spark's checkpoint which files a stream has read.

Before batch N of a stream of files runs, Spark notes its files under ``sources/0`` of the checkpoint, and in
``offsets/N`` up to which of these notes the batch goes. From time to time it joins the notes to one ``K.compact``.
Spark knows a file by its path alone: a file that takes the name of one that was read is never read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

_NOTES: Final = Path("sources", "0")
_JOINED: Final = ".compact"


@dataclass(frozen=True)
class Read:
    """A file that a stream has read: its path or address, when it was changed (in milliseconds), and who notes it."""

    path: str
    changed: int
    note: int


def files_of(checkpoint: Path, batch: int) -> list[Read]:
    """Return the files of a batch, by path; none if the checkpoint does not name them."""
    before, upto = _offset(checkpoint, batch - 1), _offset(checkpoint, batch)
    if upto is None:
        return []
    found: dict[str, Read] = {}
    for number in range(-1 if before is None else before, upto):
        plain = checkpoint / _NOTES / str(number + 1)
        for each in _noted(plain if plain.exists() else plain.with_suffix(_JOINED)):
            if each.note == number + 1:
                found[each.path] = each
    return [found[path] for path in sorted(found)]


def replaced(checkpoint: Path) -> list[Read]:
    """Return the files that have changed since they were read; files that are gone were not replaced."""
    folder = checkpoint / _NOTES
    joined = max((int(file.stem) for file in folder.glob(f"*{_JOINED}") if file.stem.isdigit()), default=-1)
    files = [file for file in folder.glob("*") if file.name.isdigit() and int(file.name) > joined]
    found: dict[str, Read] = {}
    for file in [folder / f"{joined}{_JOINED}", *sorted(files, key=lambda file: int(file.name))]:
        found |= {each.path: each for each in _noted(file)}
    return [found[path] for path in sorted(found) if _has_changed(found[path])]


def _has_changed(read: Read) -> bool:
    try:
        return Path(read.path).stat().st_mtime_ns // 1_000_000 != read.changed
    except OSError:
        return False


def _offset(checkpoint: Path, batch: int) -> int | None:
    """Return the number of the last note that belongs to a batch or an earlier one."""
    try:
        lines = (checkpoint / "offsets" / str(batch)).read_text().splitlines()
        return int(json.loads(lines[2])["logOffset"])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _noted(file: Path) -> list[Read]:
    """Return the files that a note names, or several that were joined; none if it is gone."""
    try:
        lines = file.read_text().splitlines()[1:]
    except OSError:
        return []
    entries = [json.loads(line) for line in lines]
    return [Read(local(each["path"]), int(each["timestamp"]), int(each["batchId"])) for each in entries]


def local(address: str) -> str:
    """Return the path of a file that Spark names; addresses of other file systems as they are."""
    return unquote(urlsplit(address).path) if address.startswith("file:") else address
