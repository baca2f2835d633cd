"""Open Spark sessions that suit the jobs: by default on this machine, over the loopback interface only.

Example: ``spark-submit --master yarn job.py`` calls `spark_session()`, which names no master. The session is one of
YARN, and the driver's address is what Spark finds: another host could not reach a loopback address.

A setting has the value that the caller gives, else the one that the environment gives (`configured`), else ours, else
Spark's. Workers on this machine inherit the path of the driver and import the same sources, so they find the code that
the driver compiled.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import threading
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark import versions
from latchfree_spark.configured import configured, is_loopback, is_submitted
from latchfree_spark.errors import in_a_line
from latchfree_spark.java import java_home
from latchfree_spark.scratch import scratch_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A task that fails is tried so often before the job fails.
ATTEMPTS: Final = 4

_COMMON: Final = {
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.task.maxFailures": str(ATTEMPTS),
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC -Xshare:auto -XX:-UsePerfData",
}

_LOOPBACK: Final = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""For masters on this machine only."""


class SessionRefused(ValueError):
    """A session that cannot be opened as it was asked for; nothing was started."""


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
        default the master that spark-submit or Spark's configuration names, else all processors of this machine, each
        task tried four times, no network but loopback.
    conf : mapping of str to str, optional
        Settings that override all others.

    Yields
    ------
    SparkSession

    Raises
    ------
    ToolMissing
        If there is no Java 17 or later (Spark Connect needs none).
    SparkTooOld
        If PySpark is older than `versions.OLDEST`. If it is newer than `versions.NEWEST`, there is a warning.
    SessionRefused
        If a Spark Connect server does not let clients change a setting, or this process has run Spark on the loopback
        interface only and the master is elsewhere.
    """
    versions.look("latchfree")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        from pyspark.sql import SparkSession
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    session = _opened(app, master, dict(conf or {}))
    try:
        yield session
    finally:
        session.stop()


def _opened(app: str, master: str | None, conf: dict[str, str]) -> SparkSession:
    before = {} if (master or "").startswith("sc://") else configured()
    address = master or conf.pop("spark.remote", None) or conf.get("spark.master") or before.get("spark.remote")
    if address is not None and address.startswith("sc://"):
        return _remote(app, address, conf)
    conf.pop("spark.master", None)
    return _classic(app, address, conf, before)


def _remote(app: str, address: str, conf: Mapping[str, str]) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(address).appName(app).getOrCreate()
    for name, value in conf.items():
        try:
            session.conf.set(name, value)
        except PySparkException as error:
            session.stop()
            what = in_a_line(error)
            raise SessionRefused(
                f"the server {address} does not take the setting {name}={value}: {what}; "
                "set it where the server is started, or leave it out"
            ) from None
    return session


def _classic(app: str, master: str | None, conf: Mapping[str, str], before: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    chosen = {} if master is None and "spark.master" in before else {"spark.master": master or default_master()}
    settings = chosen | chosen_settings({**before, **chosen}, conf)
    loopback = is_loopback({**before, **settings}["spark.master"])
    builder = SparkSession.builder.appName(app)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _environment(loopback, {**before, **settings}):
        try:
            session = builder.getOrCreate()
        except BaseException as error:
            end_launched(error)
            raise
    if "spark.log.level" not in {**before, **settings}:
        session.sparkContext.setLogLevel("ERROR")
    return session


def end_launched(error: BaseException) -> None:
    """End the virtual machine that PySpark was launching when an error, or Ctrl-C, ended the launch.

    PySpark keeps no hold of the machine until it is there, and a machine that fails to tell its port lives on.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        machine = frame.f_locals.get("proc") if frame.f_code.co_name == "launch_gateway" else None
        if machine is not None:
            machine.kill()
            machine.wait()


def default_master() -> str:
    """Return the master of a session for which nobody names one: this machine."""
    return f"local[{cores()},{ATTEMPTS}]"


def chosen_settings(before: Mapping[str, str], conf: Mapping[str, str]) -> dict[str, str]:
    """Return the settings to ask for: those of the caller, and ours that the environment `before` does not make.

    Parameters
    ----------
    before : mapping of str to str
        What the environment sets, the master among it.
    conf : mapping of str to str
        What the caller sets.
    """
    ours = {**_COMMON, **(_LOOPBACK if is_loopback(before["spark.master"]) else {})}
    return {**{name: value for name, value in ours.items() if name not in before}, **conf}


def _own_path() -> list[str]:
    """Return the path of this program without the standard library, which another interpreter could not load."""
    library = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    library |= {str(Path(folder, "lib-dynload")) for folder in library}
    packed = "python{}{}.zip".format(*sys.version_info[:2])
    return [folder for folder in sys.path if folder and folder not in library and Path(folder).name != packed]


def _machine_options(settings: Mapping[str, str]) -> str:
    """Return the options of the virtual machine to start: its temporary files are in a folder that we look after."""
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    option = "-Djava.io.tmpdir="
    if option in given + settings.get("spark.driver.extraJavaOptions", ""):
        return given
    folder = scratch_folder()
    return f"{given} {option}{folder}".strip() if folder else given


_starting = threading.Lock()
_on_loopback = False
"""Whether this process has started a virtual machine that knows the loopback interface only."""


@contextmanager
def _environment(loopback: bool, settings: Mapping[str, str]) -> Iterator[None]:
    """Set the variables that the virtual machine and its workers inherit, while they start."""
    global _on_loopback
    with _starting:
        from pyspark import SparkContext

        started = SparkContext._gateway is not None
        if started and _on_loopback and not loopback:
            raise SessionRefused(
                f"{settings['spark.master']}: this process has run Spark on the loopback interface, where other hosts "
                "do not reach it; start a new process for this master"
            )
        wanted = {
            # Of the small virtual machine that only puts the command of the driver's together.
            "SPARK_LAUNCHER_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
            "PYSPARK_PYTHON": settings.get("spark.pyspark.python", sys.executable),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            **({"SPARK_LOCAL_IP": "127.0.0.1"} if loopback else {}),
        }
        changed = {name: value for name, value in wanted.items() if name not in os.environ}
        changed["PYTHONPATH"] = os.pathsep.join(_own_path())
        if not started and not is_submitted():
            changed["JAVA_HOME"] = str(java_home())
            changed["SPARK_SUBMIT_OPTS"] = _machine_options(settings)
        before = dict(os.environ)
        os.environ.update(changed)
        os.environ.pop("SPARK_REMOTE", None)  # a server that the caller's master wins over
        try:
            yield
            _on_loopback = _on_loopback or (not started and "SPARK_LOCAL_IP" in changed)
        finally:
            for name in (*changed, "SPARK_REMOTE"):
                if name in before:
                    os.environ[name] = before[name]
                else:
                    os.environ.pop(name, None)
