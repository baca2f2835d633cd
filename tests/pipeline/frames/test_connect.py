"""Tables of a server of Spark Connect, whose workers have nothing of ours."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from lincheck_random import random_history
from pipeline_processes import daemon, free_port, wait_for

from latchfree_lincheck import check as local
from latchfree_lincheck import write_history

pytestmark = pytest.mark.cluster


def test_tables_of_a_server_elsewhere(tmp_path):
    histories = [random_history("map", seed) for seed in range(20)]
    write_history(tmp_path / "x.jsonl", histories)
    port = free_port()
    server = (
        "spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2,4]",
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
        "--conf", "spark.ui.enabled=false", "spark-internal",
    )  # fmt: skip
    log = tmp_path / "server.log"
    script = Path(__file__).parents[1] / "helpers" / "pipeline_remote.py"
    path = os.pathsep.join(folder for folder in sys.path if folder)
    with daemon(log, *server) as process:
        wait_for(lambda: process.poll() is not None or "Connect server started" in log.read_text())
        run = subprocess.run(
            [sys.executable, script, f"sc://127.0.0.1:{port}", tmp_path / "x.jsonl"],
            env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    told = json.loads(run.stdout.splitlines()[-1])
    expected = {history.name: local(history, "map").verdict for history in histories}
    assert told["files"] == told["aggregate"] == told["function"] == expected
    assert told["match"] == {"a/b": ["ann", "bob"], "c": ["bob"]}
    assert told["sketch"] == 2
    assert told["nights"] == [[20, 0, ""], [20, 20, ""]]
    assert told["differs"].startswith(f"{socket.gethostname()}: {sys.executable} has numba ")
    assert told["differs"].endswith(", and the driver has 0.1.2; install the same version")
