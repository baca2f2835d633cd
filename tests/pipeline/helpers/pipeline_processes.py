"""Processes of a job: drivers, and the daemons of a small cluster on the loopback interface."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pyspark

from latchfree_spark.java import java_home

SPARK = Path(pyspark.__file__).parent


def driver(master, source, out, log, judge="", chunks=6):
    """Start a driver; its output goes to a file."""
    script = Path(__file__).with_name("pipeline_driver.py")
    path = os.pathsep.join(folder for folder in sys.path if folder)
    with Path(log).open("a") as file:
        return subprocess.Popen(
            [sys.executable, script, master, source, out, judge, str(chunks)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=file,
            stderr=file,
        )


def free_port():
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(condition, seconds=600.0):
    """Wait until something is the case."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


@contextmanager
def daemon(log, *command, prefix=(), **environment):
    """Run a Spark daemon, with all that it starts in a process group of its own; see `hiding` for prefixes."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with Path(log).open("w") as file:
        process = subprocess.Popen(
            [*prefix, SPARK / "bin" / command[0], *command[1:]],
            env={
                **inherited,
                "JAVA_HOME": str(java_home()),
                "SPARK_HOME": str(SPARK),
                "SPARK_LOCAL_IP": "127.0.0.1",
                "PYSPARK_PYTHON": sys.executable,
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        kill(process)


def kill(process):
    """Kill a daemon and all that it started."""
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def hiding(folder):
    """Return what runs a command in a mount namespace of its own, where an empty folder is in place of `folder`."""
    mount = 'mount --make-rprivate / && mount -t tmpfs none "$0" && exec "$@"'
    return ("unshare", "-m" if os.getuid() == 0 else "-Urm", "sh", "-c", mount, str(folder))


def can_hide():
    """Whether this system lets a test have mount namespaces."""
    with tempfile.TemporaryDirectory() as folder, suppress(OSError):
        return subprocess.run([*hiding(folder), "true"], capture_output=True, check=False).returncode == 0
    return False


@contextmanager
def cluster(folder, workers=2, host="127.0.0.1", hidden=None, apart=False):
    """Run a master and workers of one core each; yield the master's address and the workers.

    The last worker does not see the folder `hidden`. If they are `apart`, each has a loopback address of its own, so
    that Spark takes them for different hosts.
    """
    port = free_port()
    address = f"spark://{host}:{port}"
    ports = ("--host", host, "--webui-port", "0")
    with daemon(
        folder / "master.log",
        "spark-class",
        "org.apache.spark.deploy.master.Master",
        *ports,
        "--port",
        str(port),
        SPARK_LOCAL_IP=host,
    ):
        wait_for(lambda: "New state: ALIVE" in (folder / "master.log").read_text())
        started = []
        try:
            for number in range(workers):
                own = f"127.0.0.{number + 1}" if apart else host
                command = (
                    "spark-class",
                    "org.apache.spark.deploy.worker.Worker",
                    "-c",
                    "1",
                    "-m",
                    "600m",
                    "--host",
                    own,
                    "--webui-port",
                    "0",
                    address,
                )
                log = folder / f"worker{number}.log"
                prefix = hiding(hidden) if hidden is not None and number == workers - 1 else ()
                where = {"SPARK_WORKER_DIR": str(folder / f"work{number}"), "SPARK_LOCAL_IP": own}
                running = daemon(log, *command, prefix=prefix, **where)
                started.append((running, running.__enter__()))
            wait_for(lambda: (folder / "master.log").read_text().count("Registering worker") == workers)
            yield address, [process for _, process in started]
        finally:
            for running, _ in started:
                running.__exit__(None, None, None)
