"""Bring files with modules of the user's own to the workers; see `latchfree_model.models.own_files`.

Example: ``--model my_stack:BoundedStack --py-files my_stack.py``. The driver and local workers import from the
folder of ``my_stack.py``, and others get the file from Spark. Spark imports modules and zip archives, so a wheel of
plain Python, which is a zip archive, is sent under such a name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latchfree_model.models.own_files import used_files
from latchfree_spark.places import kept_archive

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def send_files(spark: SparkSession, done: set[str]) -> None:
    """Have Spark bring the files to workers that do not share the driver's path; `done` names those that it has."""
    for file in used_files():
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
