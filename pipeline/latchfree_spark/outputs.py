"""Publish the tables of a job whole or not at all, at a path or at a URI.

Example: the tables of ``hdfs://host/matched`` are written to ``hdfs://host/.latchfree-1f0c....tmp``, each one by
Spark's commit protocol, and counted. Then that folder takes the final name. An error before that removes it; a killed
job leaves it, and nobody reads it.

The invariant is that of `latchfree_support.publishing`. HDFS and local disks rename a folder in one step. An object
store has no such step: its client copies one object after the other. What has its final name there was counted, but a
job that is killed in between leaves a part of it, beside the folder that it came from.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from latchfree_spark.errors import BadOutput, OutputExists
from latchfree_spark.hadoop import Store, is_uri, split
from latchfree_support.publishing import published_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Work(Protocol):
    """A private folder that a job fills, before it takes its final name."""

    @property
    def home(self) -> str:
        """The folder, a path or a URI."""

    @property
    def folder(self) -> Path | None:
        """The same as a path, None at a URI."""

    def write(self, name: str, content: bytes) -> None:
        """Write a small file."""

    def clear(self, name: str) -> None:
        """Remove a table or a file; it need not be there."""


class _AtPath:
    def __init__(self, folder: Path) -> None:
        self.home = str(folder)
        self.folder = folder

    def write(self, name: str, content: bytes) -> None:
        (self.folder / name).write_bytes(content)

    def clear(self, name: str) -> None:
        shutil.rmtree(self.folder / name, ignore_errors=True)


class _AtUri:
    folder = None

    def __init__(self, store: Store, home: str) -> None:
        self._store = store
        self.home = home

    def write(self, name: str, content: bytes) -> None:
        self._store.write(f"{self.home}/{name}", content)

    def clear(self, name: str) -> None:
        self._store.remove(f"{self.home}/{name}")


@contextmanager
def published(spark: SparkSession, out: Path | str) -> Iterator[Work]:
    """Yield a private folder that takes the name `out` when the block ends without an error.

    Raises
    ------
    OutputExists
        If something is there, at the start or at the end.
    BadOutput
        If `out` is a URI that no folder can have, or the session is one of Spark Connect and cannot rename there.
    """
    if not is_uri(out):
        path = Path(out).absolute()
        refuse_existing(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with published_folder(path) as folder:
            yield _AtPath(folder)
        return
    address = str(out).rstrip("/")
    above, name = split(address)
    if not name:
        raise BadOutput(f"{out}: expected a folder below the root of the file system, as {address}/matched")
    store = Store.of(spark, address)
    if store is None:
        raise BadOutput(f"{out}: with Spark Connect an output is a path, or a table: see latchfree_spark.match")
    if store.exists(address):
        raise OutputExists(f"{out} exists; name another folder, or remove it")
    private = f".latchfree-{secrets.token_hex(8)}.tmp"
    home = f"{above}/{private}"
    try:
        store.make(home)
        yield _AtUri(store, home)
        # Hadoop moves a folder into one that has appeared meanwhile, and says that all is well.
        if not store.rename(home, address) or store.exists(f"{address}/{private}"):
            with suppress(Exception):
                store.remove(f"{address}/{private}")
            raise OutputExists(f"{out} exists now, made by another job; nothing was published")
    except BaseException:
        with suppress(Exception):
            store.remove(home)
        raise


def refuse_existing(out: Path) -> None:
    """Raise OutputExists if a folder is there."""
    if out.exists():
        raise OutputExists(f"{out} exists; name another folder, or remove it")
