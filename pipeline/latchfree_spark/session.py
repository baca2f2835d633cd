"""Open Spark sessions that suit the jobs: local by default, on the loopback interface only.

Workers inherit the path of the driver and import the same sources, so they find the code that the driver compiled.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from latchfree_spark.java import java_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A task that fails is tried so often before the job fails.
ATTEMPTS: Final = 4

_COMMON: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.task.maxFailures": str(ATTEMPTS),
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Xshare:auto -XX:-UsePerfData",
}

_LOCAL: Final = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def spark_session(
    app: str = "latchfree", *, master: str | None = None, conf: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Start a session, or join the running one; stop it at the end if it was started here.

    Parameters
    ----------
    app : str
        Name of the application.
    master : str, optional
        Anything Spark knows: ``local[2]``, ``spark://host:7077``, ``yarn``; ``sc://host:port`` is Spark Connect. By
        default all processors of this machine, each task tried four times, no network but loopback.
    conf : mapping of str to str, optional
        Settings that override the ones made here.

    Yields
    ------
    SparkSession

    Raises
    ------
    ToolMissing
        If there is no Java 17 or later (Spark Connect needs none).
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        from pyspark.sql import SparkSession
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    session = (
        _remote(app, master, conf or {}) if (master or "").startswith("sc://") else _classic(app, master, conf or {})
    )
    try:
        yield session
    finally:
        session.stop()


def _remote(app: str, address: str | None, conf: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(str(address)).appName(app)
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _classic(app: str, master: str | None, conf: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    _prepare_environment()
    local = master is None or master.startswith("local") or "127.0.0.1" in master
    settings = {**_COMMON, **(_LOCAL if local else {}), **conf}
    builder = SparkSession.builder.appName(app).master(master or f"local[{cores()},{ATTEMPTS}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _prepare_environment() -> None:
    """Set the variables that the Java virtual machine and its workers inherit."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # Of the small virtual machine that only puts the command of the driver's together.
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ["JAVA_HOME"] = str(java_home())
    os.environ["PYTHONPATH"] = os.pathsep.join(folder for folder in sys.path if folder)
