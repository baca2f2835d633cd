"""A table of subscriptions that changes while messages are matched.

The table is a file that is replaced, or a folder of versions in which the last name counts. A file has changed when its
inode, its size or the time of its last change differs. A reading counts only if the file did not change meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.match.errors import BadSubscriptions

if TYPE_CHECKING:
    from latchfree.topics import MaskIndex

_ATTEMPTS: Final = 3
"""How often a file is read that changes meanwhile."""


@dataclass(frozen=True)
class Identity:
    """The identity of one version of a file."""

    path: str
    inode: int
    size: int
    changed: int


class SubscriptionTable:
    """Subscriptions in a file, or in the last of the files of a folder.

    Parameters
    ----------
    path : path
    load : function
        Reads a file and returns an index.
    """

    def __init__(self, path: Path | str, load: Callable[[str], MaskIndex]) -> None:
        self.path = Path(path)
        self._load = load
        self._seen: Identity | None = None

    def identity(self) -> Identity:
        """Return which file counts now, and which version of it.

        Raises
        ------
        FileNotFoundError
        BadSubscriptions
            If the folder is empty.
        """
        file = self.path
        if file.is_dir():
            files = sorted(each for each in file.iterdir() if each.is_file() and not each.name.startswith(("_", ".")))
            if not files:
                raise BadSubscriptions(f"{file}: there is no file of subscriptions")
            file = files[-1]
        stat = file.stat()
        return Identity(str(file), stat.st_ino, stat.st_size, stat.st_mtime_ns)

    def newer(self) -> tuple[MaskIndex, Identity] | None:
        """Return the index if the table is another than at the last call, else None.

        Raises
        ------
        BadSubscriptions
            If the file changes whenever it is read.
        """
        before = self.identity()
        return None if before == self._seen else self._read(before)

    def now(self) -> tuple[MaskIndex, Identity]:
        """Return the index of the table as it is now.

        Raises
        ------
        BadSubscriptions
            If the file changes whenever it is read.
        """
        return self._read(self.identity())

    def _read(self, before: Identity) -> tuple[MaskIndex, Identity]:
        for _ in range(_ATTEMPTS):
            index = self._load(before.path)
            after = self.identity()
            if after == before:
                self._seen = after
                return index, after
            before = after
        raise BadSubscriptions(f"{before.path} changed {_ATTEMPTS} times while it was read; replace it by a rename")
