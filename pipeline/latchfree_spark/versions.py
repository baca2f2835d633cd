"""What differs between the versions of Spark; no other file knows of versions.

Example: ``dealt(frame, 4, "chunk")`` brings the rows of chunk 6 to partition 2 of 4, those of chunk -1 to partition 3.
Spark 4.1 has a shuffle that takes the number of a partition as it is. Older ones take a hash of a column, by Murmur3:
chunks 0 to 3 would share two or three partitions, and a worker would have nothing to do. But Murmur3 of an integer can
be undone. So each number gets the integer whose hash is that number.

A version is that of PySpark here, or that of a Spark Connect server, whichever is older.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.errors import SparkTooOld

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Version = tuple[int, int]

OLDEST: Final[Version] = (3, 5)
NEWEST: Final[Version] = (4, 3)
"""The newest version that the tests run; a newer one gets a warning."""

NEW_JAVA: Final[Version] = (4, 1)
"""Runs on a Java without ``Subject.getSubject``, which 23 takes away."""
_OLD_JAVA: Final = 22
DEALING: Final[Version] = (4, 1)
"""Has ``DataFrame.repartitionById``."""
TABLE_FUNCTIONS: Final[Version] = (4, 0)
"""Has Python data sources, and table functions that say how their tables are partitioned."""
COLLECTING: Final[Version] = (4, 0)
"""Has ``DataFrame.toArrow``."""
SKETCHES: Final[Version] = (4, 2)
"""Has functions for KLL and frequent items; 4.1.0 cannot unite those of KLL."""

_INT: Final = 0xFFFFFFFF
_SEED: Final = 42
"""What Spark begins a hash with."""


def here() -> Version:
    """Return the version of PySpark in this process."""
    import pyspark

    return parsed(pyspark.__version__)


def of(spark: SparkSession) -> Version:
    """Return the version that a session can be relied on for: PySpark's, or that of an older server."""
    return min(here(), parsed(spark.version))


def parsed(text: str) -> Version:
    """Return the first two numbers of a version, as in ``4.0.5`` or ``4.2.0.dev1``."""
    match = re.match(r"(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def require(what: str, needed: Version = OLDEST, found: Version | None = None, instead: str = "") -> None:
    """Raise unless a version is there.

    Parameters
    ----------
    what : str
        Who needs it, the beginning of the error.
    needed : tuple of int
        The oldest version that does.
    found : tuple of int, optional
        By default that of PySpark in this process.
    instead : str
        What older versions can do.

    Raises
    ------
    SparkTooOld
        With both versions, and the command that installs another one.
    """
    found = found or here()
    if found < needed:
        upto = f"{NEWEST[0]}.{NEWEST[1] + 1}"
        fix = f'pip install "pyspark>={said(needed)},<{upto}"' + (f"; {instead}" if instead else "")
        raise SparkTooOld(f"{what} needs Spark {said(needed)}, and this is {said(found)}; {fix}")


def look(what: str) -> None:
    """Raise if PySpark is too old for any job; warn if it is newer than what was tried."""
    require(what)
    if here() > NEWEST:
        tried = f"{what} was tried with Spark {said(OLDEST)} to {said(NEWEST)}, and this is {said(here())}"
        warnings.warn(tried, stacklevel=3)


def newest_java() -> int | None:
    """Return the newest Java that PySpark here runs on, None if none is known that is too new."""
    return None if here() >= NEW_JAVA else _OLD_JAVA


def said(version: Version) -> str:
    """Return a version as text."""
    return "{}.{}".format(*version)


def has_sketches(spark: SparkSession) -> bool:
    """Return whether a session has functions for KLL and frequent items."""
    return of(spark) >= SKETCHES


def arrow_of(frame: DataFrame) -> Any:
    """Return a table of Spark's, collected, as one of Arrow's."""
    if here() >= COLLECTING:
        return frame.toArrow()
    import pyarrow as pa

    collect: Any = frame._collect_as_arrow  # what its `toPandas` begins with
    return pa.Table.from_batches(collect())


def dealt(frame: DataFrame, partitions: int, column: str) -> DataFrame:
    """Return the rows of a table dealt out to partitions: to the one whose number the column has, modulo `partitions`.

    Parameters
    ----------
    frame : DataFrame
        The table.
    partitions : int
        How many partitions the result has.
    column : str
        Of integers, without null.
    """
    if of(frame.sparkSession) >= DEALING:
        return frame.repartitionById(partitions, column)
    return dealt_by_hash(frame, partitions, column)


def dealt_by_hash(frame: DataFrame, partitions: int, column: str) -> DataFrame:
    """Do the same by a shuffle that hashes, which every version has."""
    from pyspark.sql import functions as F

    # Text is one constant, however long; Spark makes an array of it once.
    keys = json.dumps([unhashed(number) for number in range(partitions)], separators=(",", ":"))
    number = f"int(pmod(`{column}`, {partitions})) + 1"
    return frame.repartition(partitions, F.expr(f"element_at(from_json('{keys}', 'array<int>'), {number})"))


def unhashed(number: int) -> int:
    """Return the integer of which Spark's Murmur3 is `number`: each step of the hash, undone from the last one on."""
    h = number & _INT
    h ^= h >> 16
    h = h * _inverse(0xC2B2AE35) & _INT
    h ^= h >> 13 ^ h >> 26
    h = h * _inverse(0x85EBCA6B) & _INT
    h ^= h >> 16
    h ^= 4  # bytes that were hashed
    h = (h - 0xE6546B64) * _inverse(5) & _INT
    h = (h >> 13 | h << 19) & _INT
    h ^= _SEED
    h = h * _inverse(0x1B873593) & _INT
    h = (h >> 15 | h << 17) & _INT
    h = h * _inverse(0xCC9E2D51) & _INT
    return h - (1 << 32) if h >> 31 else h


def _inverse(factor: int) -> int:
    """Return what undoes the multiplication with an odd number, modulo 2**32."""
    return pow(factor, -1, 1 << 32)
