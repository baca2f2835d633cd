"""Files with modules of the user's own, for a driver and for all of its workers.

Example: ``--model my_stack:BoundedStack --py-files my_stack.py``. The driver and local workers import from the
folder of ``my_stack.py``, and others get the file from Spark. Spark imports modules and zip archives, so a wheel of
plain Python, which is a zip archive, is sent under such a name.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.places import kept_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KINDS: Final = (".py", ".zip", ".whl", ".egg")

_used: dict[Path, str] = {}
"""The files of this process, each with its digest."""


def use_files(paths: Iterable[str | Path]) -> tuple[tuple[str, str], ...]:
    """Make files importable here and, from the next job on, on the workers; return each path with a digest.

    Raises
    ------
    ValueError
        If one is no file that Python imports from, or if this process has other code under its name already, which
        would be judged with; then nothing was changed.
    """
    files = [Path(path).absolute() for path in paths]
    for file in files:
        if file.suffix not in KINDS or not file.is_file():
            raise ValueError(f"--py-files {file}: expected a file that is there and ends in {', '.join(KINDS)}")
    digests = {file: _digest(file) for file in files}
    for file, digest in digests.items():
        loaded = getattr(sys.modules.get(file.stem), "__file__", None) if file.suffix == ".py" else None
        if _used.get(file, digest) != digest:
            raise ValueError(f"--py-files {file}: it has changed since this program took it; start the program again")
        if loaded is not None and not (Path(loaded).is_file() and _digest(Path(loaded)) == digest):
            raise ValueError(
                f"--py-files {file}: this program has a module {file.stem} of {loaded}; rename one of them"
            )
    _used.update(digests)
    sys.path += [folder for folder in folders() if folder not in sys.path]
    return tuple((str(file), digest) for file, digest in digests.items())


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()[:16]


def folders() -> tuple[str, ...]:
    """Return where the driver imports the files from."""
    return tuple(dict.fromkeys(str(file.parent if file.suffix == ".py" else file) for file in _used))


def send_files(spark: SparkSession, done: set[str]) -> None:
    """Have Spark bring the files to workers that do not share the driver's path; `done` names those that it has."""
    for file in _used:
        if str(file) in done:
            continue
        done.add(str(file))
        sent = str(as_zip(file) if file.suffix == ".whl" else file)
        if hasattr(spark, "_jsparkSession"):
            spark.sparkContext.addPyFile(sent)
        else:
            spark.addArtifacts(sent, pyfile=True)


def as_zip(wheel: Path) -> Path:
    """Return a copy of a wheel whose name says that it is an archive."""
    return kept_archive(wheel.stem, wheel.read_bytes())
