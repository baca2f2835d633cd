"""Masters that are not this process: workers that do not share the driver's path."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from lincheck_random import random_history
from pipeline_jobs import content, run, verdicts
from pipeline_processes import SPARK, cluster, daemon, driver, free_port, kill, wait_for

from latchfree_lincheck import write_history
from latchfree_spark.check import Options
from latchfree_spark.check.files import done_chunks
from latchfree_spark.check.output.manifest import partial_folder
from latchfree_spark.java import java_home

pytestmark = pytest.mark.cluster

CHUNKS = 12


@pytest.fixture
def expected(spark, tmp_path):
    """Histories in a file, and the verdicts on this machine."""
    write_history(tmp_path / "x.jsonl", [random_history("map", seed, most=12) for seed in range(200)])
    run(spark, [tmp_path / "x.jsonl"], tmp_path / "local", Options("map", saved=1), chunks=CHUNKS)
    assert len(verdicts(tmp_path / "local")) == 200
    return content(tmp_path / "local")


def test_a_worker_is_killed_while_the_job_runs(expected, tmp_path):
    out = tmp_path / "out"
    with cluster(tmp_path) as (address, workers):
        job = driver(address, tmp_path / "x.jsonl", out, tmp_path / "driver.log", chunks=CHUNKS)
        wait_for(lambda: job.poll() is not None or done_chunks(partial_folder(out)))
        kill(workers[0])
        left = CHUNKS - len(done_chunks(partial_folder(out)))
        assert job.wait(1200) == 0, (tmp_path / "driver.log").read_text()[-3000:]
    assert left > 0
    assert content(out) == expected


def test_spark_connect(expected, tmp_path):
    port = free_port()
    server = (
        "spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2,4]",
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
        "--conf", "spark.ui.enabled=false", "spark-internal",
    )  # fmt: skip
    with daemon(tmp_path / "server.log", *server) as process:
        wait_for(
            lambda: process.poll() is not None or "Connect server started" in (tmp_path / "server.log").read_text()
        )
        address = f"sc://127.0.0.1:{port}"
        job = driver(address, tmp_path / "x.jsonl", tmp_path / "out", tmp_path / "driver.log", chunks=CHUNKS)
        assert job.wait(1200) == 0, (tmp_path / "driver.log").read_text()[-3000:]
    assert content(tmp_path / "out") == expected


TOLD = Path(__file__).parent / "helpers" / "pipeline_told.py"


def told(*command, **environment):
    """Run a program that opens a session; return what the session was told."""
    path = os.pathsep.join(folder for folder in sys.path if folder)
    inherited = {name: value for name, value in os.environ.items() if name not in ("SPARK_LOCAL_IP", "JAVA_HOME")}
    run = subprocess.run(
        [str(part) for part in command],
        env={**inherited, "PYTHONPATH": path, "PYSPARK_PYTHON": sys.executable, **environment},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("TOLD ")]
    return json.loads(line.removeprefix("TOLD "))


def test_the_master_and_settings_of_spark_submit_are_left_alone(tmp_path):
    command = (
        SPARK / "bin" / "spark-submit", "--master", "local[1,3]", "--conf", "spark.task.maxFailures=7",
        "--conf", "spark.ui.enabled=true", "--conf", "spark.driver.bindAddress=127.0.0.1", TOLD,
    )  # fmt: skip
    session = told(*command, JAVA_HOME=str(java_home()), SPARK_HOME=str(SPARK), SPARK_LOCAL_IP="127.0.0.1")
    assert (session["master"], session["spark.task.maxFailures"]) == ("local[1,3]", "7")
    assert session["ui"].startswith("http")
    assert session["rows"] == 499500


def test_the_master_of_the_file_of_defaults_is_left_alone(tmp_path):
    (tmp_path / "spark-defaults.conf").write_text("spark.master local[1,2]\nspark.sql.session.timeZone CET\n")
    session = told(sys.executable, TOLD, SPARK_CONF_DIR=str(tmp_path))
    assert (session["master"], session["spark.sql.session.timeZone"]) == ("local[1,2]", "CET")
    assert session["ui"] is None
    assert session["spark.driver.host"] == "127.0.0.1"


def test_a_driver_killed_with_its_virtual_machine_leaves_nothing_for_long(tmp_path):
    """Shuffle files, artifacts and files to be shipped are removed when the next driver starts."""
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        environment = {"TMPDIR": temporary, "SPARK_SUBMIT_OPTS": ""}
        with (tmp_path / "killed.log").open("w") as log:
            killed = subprocess.Popen(
                [sys.executable, TOLD, "local[1]", "{}", "linger"],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        wait_for(lambda: killed.poll() is not None or "TOLD" in (tmp_path / "killed.log").read_text())
        (left,) = Path(temporary).glob("latchfree-*/spark/*")
        kill(killed)
        assert {"spark", "blockmgr", "artifacts"} <= {each.name.partition("-")[0] for each in left.iterdir()}
        assert told(sys.executable, TOLD, "local[1]", **environment)["rows"] == 499500
        assert not left.exists()
        assert [each.name for each in Path(temporary).iterdir()] == [f"latchfree-{os.geteuid()}"]


def another_python():
    """Return a Python of this machine that is newer than this one, None if there is none."""
    for minor in range(sys.version_info[1] + 1, 20):
        found = [*Path(sys.base_prefix).parent.glob(f"3.{minor}.*/bin/python"), shutil.which(f"python3.{minor}")]
        for each in filter(None, found):
            return str(each), f"3.{minor}"
    return None


def refused_by(python, tmp_path):
    """Run the command with another Python for its workers; return its exit code and what it says."""
    (tmp_path / "messages.csv").write_text("topic\na/b\n")
    command = ("-m", "latchfree_cli", "pipeline", "sketch", "messages.csv", "-o", "out", "--master", "local[1]")
    run = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYSPARK_PYTHON": python},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not (tmp_path / "out").exists()
    return run.returncode, run.stderr.splitlines()[-1]


def test_workers_with_another_python(tmp_path):
    found = another_python()
    if found is None:
        pytest.skip("this machine has no newer Python")
    python, version = found
    code, said = refused_by(python, tmp_path)
    assert code == 70
    assert f"has Python {version}, and the driver has Python " in said
    assert "set PYSPARK_PYTHON" in said


def test_workers_without_a_python(tmp_path):
    code, said = refused_by("/nowhere/python", tmp_path)
    assert code == 70
    assert "has no /nowhere/python, which PYSPARK_PYTHON" in said


def own_address():
    """Return an address of this machine that is not a loopback one, None if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return None
        host = probe.getsockname()[0]
        return None if host.startswith("127.") else host


def test_workers_elsewhere_are_told_an_address_they_can_reach(tmp_path):
    host = own_address()
    if host is None:
        pytest.skip("this machine has the loopback interface only")
    conf = {"spark.executor.memory": "512m", "spark.cores.max": "1"}
    with cluster(tmp_path, workers=1, host=host) as (address, _):
        session = told(sys.executable, TOLD, address, json.dumps(conf))
    assert not session["spark.driver.host"].startswith(("127.", "localhost"))
    assert session["rows"] == 499500
