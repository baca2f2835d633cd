"""Reach any Hadoop file system from the driver, for what needs no job of Spark: to claim, to publish, to remove.

A session has the clients of all file systems that it can read and write. They live in the driver's virtual machine,
so a session of Spark Connect, whose virtual machine is elsewhere, has none for us.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from latchfree_spark.shipping import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrameReader, SparkSession


class Entry(NamedTuple):
    """A file or a folder: its name, and when it was written, in milliseconds by the clock of the file system."""

    name: str
    changed: int


def is_uri(name: object) -> bool:
    """Return whether a name has the scheme of a file system, as in ``s3a://lab/runs``."""
    return "://" in str(name)


def uri(name: str) -> str:
    """Return the URI of a path, and a URI as it is."""
    return name if is_uri(name) else f"file://{whole(name)}"


def whole(name: str | Path) -> Path:
    """Return a path from the root, the same one however it is spelled with ``..``."""
    path = Path(name)
    return path.resolve() if ".." in path.parts else path.absolute()


_SYSTEM: Final = re.compile(r"^[A-Za-z][\w+.-]*:(?://[^/]*)?")


def without_system(address: str) -> str:
    """Return the path of an address in its file system, without ``..`` and double slashes."""
    return posixpath.normpath("/" + _SYSTEM.sub("", address).lstrip("/"))


def is_hidden(path: str) -> bool:
    """Return whether a part of a path has a name that readers of folders pass over."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


def is_below(address: str, folder: str) -> bool:
    """Return whether an address is a folder or in it, where listing the folder shows it: nothing hidden is between."""
    its, mine = f"{without_system(folder).rstrip('/')}/", f"{without_system(address).rstrip('/')}/"
    return _system(address) == _system(folder) and mine.startswith(its) and not is_hidden(mine.removeprefix(its))


def _system(address: str) -> str:
    """Return what comes before the path, the same for all ways to write it that this program knows."""
    found = _SYSTEM.match(address)
    return found[0].lower().replace("//localhost", "//").rstrip("/") if found else "file:"


def literally(address: str) -> str:
    r"""Return an address as Spark takes it for one name, not for a pattern: ``/runs/a[1]`` is ``/runs/a\[1\]``."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", address)


def reader(spark: SparkSession) -> DataFrameReader:
    """Return what reads files, each whole or not at all, whatever the session says of damaged ones."""
    return spark.read.options(ignoreCorruptFiles="false", ignoreMissingFiles="false")


def is_there(spark: SparkSession, address: str) -> bool:
    """Return whether the driver sees a file or a folder of that name; with Spark Connect it sees nothing."""
    with suppress(Exception):  # who cannot reach a file system says so when it reads
        store = Store.of(spark, address)
        return store is not None and store.exists(address)
    return False


def files_at(spark: SparkSession, address: str) -> list[str]:
    """Return all files that an address names, as Spark lists them: a file or a folder of that name, else a pattern."""
    exact = literally(address) if is_there(spark, address) else address
    listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(exact)
    return sorted(row["path"] for row in listed.select("path").collect())


def split(address: str) -> tuple[str, str]:
    """Return the folder of an address, and its last name: ``s3a://lab/a/b`` is b in ``s3a://lab/a``.

    The root of a file system has no name, and gives "" for the name.
    """
    scheme, _, path = address.rstrip("/").partition("://")
    folder, slash, name = path.rpartition("/")
    return (f"{scheme}://{folder}", name) if slash else (address, "")


class Store:
    """The file system of an address.

    Parameters
    ----------
    spark : SparkSession
        Not of Spark Connect.
    address : str
        Any file or folder of it.
    """

    def __init__(self, spark: SparkSession, address: str) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._jvm = jvm
        self._path: Any = jvm.org.apache.hadoop.fs.Path
        session: Any = spark._jsparkSession
        self._system: Any = self._path(address).getFileSystem(session.sessionState().newHadoopConf())

    @property
    def machine(self) -> int:
        """The process of the virtual machine."""
        return int(self._jvm.java.lang.ProcessHandle.current().pid())

    @staticmethod
    def of(spark: SparkSession, address: str) -> Store | None:
        """Return the file system of an address, None if the session has none for us."""
        return None if is_remote(spark) else Store(spark, address)

    def exists(self, address: str) -> bool:
        """Return whether there is a file or a folder."""
        return bool(self._system.exists(self._path(address)))

    def entries(self, folder: str) -> list[Entry]:
        """Return what is in a folder, by name; nothing if there is no such folder."""
        if not self.exists(folder):
            return []
        found = self._system.listStatus(self._path(folder))
        return sorted(Entry(str(each.getPath().getName()), int(each.getModificationTime())) for each in found)

    def read(self, address: str) -> bytes:
        """Return the content of a small file."""
        stream = self._system.open(self._path(address))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, address: str, content: bytes, *, again: bool = False) -> None:
        """Write a small file and its folder; only `again` replaces one that is there."""
        stream = self._system.create(self._path(address), again)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def make(self, folder: str) -> None:
        """Make a folder, with all above it."""
        self._system.mkdirs(self._path(folder))

    def fetch(self, address: str, path: str) -> None:
        """Copy a file to a path of the driver."""
        self._system.copyToLocalFile(False, self._path(address), self._path(f"file://{path}"), True)

    def rename(self, address: str, name: str) -> bool:
        """Give a file or a folder another address, where nothing may be; return whether that was done."""
        return not self.exists(name) and bool(self._system.rename(self._path(address), self._path(name)))

    def remove(self, address: str) -> None:
        """Remove a file, or a folder with all that is in it; it need not be there."""
        self._system.delete(self._path(address), True)
