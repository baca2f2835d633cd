"""Ship these packages to workers that have none of ours.

Workers of a local session inherit the path of the driver. Workers of another master get an archive, which each host
unpacks once into its cache folder, under the hash of the archive. numba caches compiled code for sources in a folder
that stays, not for sources inside an archive; so the first task of a host compiles, and all others load.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import io
import pickle
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree.jit import cache_root
from latchfree_support.publishing import publish_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGES: Final = ("latchfree_support", "latchfree", "latchfree_model", "latchfree_lincheck", "latchfree_spark")
"""The packages that the jobs import on a worker."""

_EPOCH: Final = (2020, 1, 1, 0, 0, 0)

Worker = Callable[[Iterable[Any]], Iterator[Any]]


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
    return _bootstrap(_shipped(spark), function, pickle.dumps(arguments))


def _bootstrap(archive: str, function: str, arguments: bytes) -> Worker:
    """Return a function that is pickled by value and imports what it needs: a worker may have nothing of ours yet."""

    def run(batches: Iterable[Any]) -> Iterator[Any]:
        import importlib
        import os
        import pickle
        import shutil
        import sys
        import uuid
        import zipfile
        from pathlib import Path

        if archive:
            base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
            home = Path(base) / "latchfree" / "packages" / archive.removesuffix(".zip")
            if not home.exists():
                from pyspark import SparkFiles

                partial = home.with_name(f".{uuid.uuid4().hex}")
                with zipfile.ZipFile(SparkFiles.get(archive)) as packed:
                    packed.extractall(partial)
                try:
                    partial.rename(home)
                except OSError:  # another worker was faster
                    shutil.rmtree(partial)
            if str(home) not in sys.path:
                sys.path.insert(0, str(home))
        module, _, name = function.partition(":")
        yield from getattr(importlib.import_module(module), name)(batches, *pickle.loads(arguments))

    return run


def _shipped(spark: SparkSession) -> str:
    """Ship the packages unless workers share the driver's path; return the archive's name, "" if none is needed."""
    if not is_foreign(spark):
        return ""
    archive = packed()
    if archive not in _sent(spark):
        _sent(spark).add(archive)
        path = str(cache_root() / "packages" / archive)
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


@functools.cache
def packed() -> str:
    """Write an archive of the packages' sources to the cache folder; return its name, which holds a hash of it."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            specification = importlib.util.find_spec(package)
            assert specification is not None
            assert specification.origin is not None
            home = Path(specification.origin).parent
            for file in sorted(home.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    entry = zipfile.ZipInfo(str(file.relative_to(home.parent)), _EPOCH)
                    archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    content = held.getvalue()
    name = f"latchfree-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    path = cache_root() / "packages" / name
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        publish_file(path, content)
    return name
