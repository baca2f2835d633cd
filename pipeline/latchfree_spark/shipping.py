"""Ship these packages to workers that have none of ours.

Workers of a local session import from the folders of the driver. Workers of another master get an archive, which each
host unpacks once into its cache folder, under the hash of the archive (`unpacking`). numba caches compiled code for
sources in a folder that stays, not for sources inside an archive; so the first task of a host compiles, and all others
load.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import pickle
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_model.models.own_files import folders
from latchfree_spark.modules import send_files
from latchfree_spark.needs import here
from latchfree_spark.places import kept_archive
from latchfree_spark.unpacking import Worker, bootstrap

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES: Final = ("latchfree_support", "latchfree", "latchfree_model", "latchfree_lincheck", "latchfree_spark")
"""The packages that the jobs import on a worker."""

_EPOCH: Final = (2020, 1, 1, 0, 0, 0)


def on_workers(spark: SparkSession, function: str, *arguments: Any) -> Worker:
    """Return a function for `DataFrame.mapInArrow` that workers of any master can run.

    Parameters
    ----------
    spark : SparkSession
        Where it will run.
    function : str
        ``module:function`` of these packages; it is called with the batches and the arguments.
    *arguments : object
        Anything that pickles.
    """
    archive = _shipped(spark)
    found = () if archive else (*_folders(), *folders())
    return bootstrap(archive, found, function, pickle.dumps(arguments), tuple(here().items()))


def _shipped(spark: SparkSession) -> str:
    """Ship the packages unless workers share the driver's path; return the archive's name, "" if none is needed."""
    if not is_foreign(spark):
        return ""
    send_files(spark, _sent(spark))
    archive = _packed().name
    if archive not in _sent(spark):
        _sent(spark).add(archive)
        path = str(_packed())
        if hasattr(spark, "_jsparkSession"):
            spark.sparkContext.addFile(path)
        else:
            spark.addArtifacts(path, file=True)
    return archive


_SENT: dict[str, set[str]] = {}


def _sent(spark: SparkSession) -> set[str]:
    """Return the archives that the session's application has."""
    key = spark.session_id if is_remote(spark) else spark.sparkContext.applicationId  # type: ignore[attr-defined]
    return _SENT.setdefault(str(key), set())


def is_remote(spark: SparkSession) -> bool:
    """Return whether a session speaks Spark Connect, which has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def is_foreign(spark: SparkSession) -> bool:
    """Return whether workers may run elsewhere, without the path and the cache of the driver."""
    return is_remote(spark) or not str(spark.sparkContext.master).startswith("local")


def _home_of(package: str) -> Path:
    """Return the folder of a package."""
    specification = importlib.util.find_spec(package)
    assert specification is not None
    assert specification.origin is not None
    return Path(specification.origin).parent


def _folders() -> tuple[str, ...]:
    """Return the folders that the driver imports the packages from."""
    return tuple(dict.fromkeys(str(_home_of(package).parent) for package in PACKAGES))


def packed() -> Path:
    """Write an archive of the packages' sources to a cache folder; its name holds a hash of it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for home in map(_home_of, PACKAGES):
            for file in sorted(home.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    entry = zipfile.ZipInfo(str(file.relative_to(home.parent)), _EPOCH)
                    archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return kept_archive("latchfree", held.getvalue())


_packed = functools.cache(packed)
