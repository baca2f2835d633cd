"""Send the index to the workers: one file, mapped into memory once by each worker process.

The file name holds a digest of the bytes, so any file of that name is that index. A worker that sees the folder of the
driver (one machine, a shared disk) maps the file there; another worker maps the copy that Spark brought.
"""

from __future__ import annotations

import functools
import hashlib
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


def ship(spark: SparkSession, index: MaskIndex, folder: Path) -> Shipped:
    """Write an index to a folder and make it readable for all workers.

    Raises
    ------
    BadSubscriptions
        If it cannot be saved: its subscribers are of mixed types, or its dialect is one of your own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    unnamed = folder / "new.index"
    try:
        index.save(unnamed)
    except TypeError as error:
        raise BadSubscriptions(str(error)) from None
    with unnamed.open("rb") as file:
        version = hashlib.file_digest(file, functools.partial(hashlib.blake2b, digest_size=8)).hexdigest()
    path = unnamed.replace(folder / f"{version}.index").absolute()
    if is_remote(spark):
        spark.addArtifacts(str(path), file=True)
    elif is_foreign(spark):
        spark.sparkContext.addFile(str(path))
    return Shipped(version, str(path))


@functools.lru_cache(maxsize=2)
def opened(shipped: Shipped) -> MaskIndex:
    """Return the index in this worker process."""
    from latchfree.topics import MaskIndex

    path = Path(shipped.path)
    if not path.exists():
        from pyspark import SparkFiles

        path = Path(SparkFiles.get(path.name))
    return MaskIndex.open(path, check=False)
