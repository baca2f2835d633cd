"""Send the index to the workers: one file, mapped into memory once by each worker process.

The file name holds a digest of the bytes, so any file of that name is that index. A worker that sees the folder of the
driver (one machine, a shared disk) maps the file there; another worker maps the copy that Spark brought.
"""

from __future__ import annotations

import functools
import hashlib
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from latchfree_spark.match.errors import BadSubscriptions
from latchfree_spark.shipping import is_foreign, is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from latchfree.topics import MaskIndex


@dataclass(frozen=True)
class Shipped:
    """The place where workers find an index.

    Parameters
    ----------
    version : str
        A digest of the index.
    path : str
        Where the driver wrote it.
    """

    version: str
    path: str


def ship(spark: SparkSession, index: MaskIndex, folder: Path | None = None) -> Shipped:
    """Write an index to a folder and make it readable for all workers.

    Parameters
    ----------
    spark : SparkSession
        The session whose workers get the index.
    index : MaskIndex
        The index to write.
    folder : Path, optional
        By default a temporary one that ends with Spark's driver, or with this process.

    Raises
    ------
    BadSubscriptions
        If it cannot be saved: its subscribers are of mixed types, or its dialect is one of your own.
    """
    folder = temporary(spark) if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    unnamed = folder / f"new-{uuid.uuid4().hex}.index"
    try:
        index.save(unnamed)
    except TypeError as error:
        unnamed.unlink(missing_ok=True)
        raise BadSubscriptions(str(error)) from None
    with unnamed.open("rb") as file:
        version = hashlib.file_digest(file, functools.partial(hashlib.blake2b, digest_size=8)).hexdigest()
    path = unnamed.replace(folder / f"{version}.index").absolute()
    if is_remote(spark):
        spark.addArtifacts(str(path), file=True)
    elif is_foreign(spark):
        spark.sparkContext.addFile(str(path))
    return Shipped(version, str(path))


def temporary(spark: SparkSession) -> Path:
    """Return a folder for the indexes of a session.

    Where the driver is a Java process it is in a folder that this process removes at its end, also if Python is killed.
    With Spark Connect it is removed when Python ends.
    """
    if is_remote(spark):
        return Path(_kept().name)
    return Path(str(getattr(spark.sparkContext, "_temp_dir", None) or _kept().name)) / "latchfree"


@functools.cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="latchfree-")


@functools.lru_cache(maxsize=2)
def opened(shipped: Shipped) -> MaskIndex:
    """Return the index in this worker process."""
    from latchfree.topics import MaskIndex

    path = Path(shipped.path)
    if not path.exists():
        from pyspark import SparkFiles

        path = Path(SparkFiles.get(path.name))
    return MaskIndex.open(path, check=False)
