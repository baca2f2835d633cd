"""Matching through Spark Connect, by workers that have neither the driver's path nor its packages."""

import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from message_files import brute, random_patterns, random_topics, write
from pipeline_processes import daemon, free_port, wait_for

pytestmark = pytest.mark.cluster


def matched(master, folder):
    """Run the command on a master; return its result."""
    command = [
        "pipeline",
        "match",
        "-s",
        folder / "s.txt",
        "-m",
        folder / "in",
        "-o",
        folder / "out",
        "--master",
        master,
    ]
    path = os.pathsep.join(each for each in sys.path if each)
    return subprocess.run(
        [sys.executable, "-m", "latchfree_cli", *command], env={**os.environ, "PYTHONPATH": path},
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip


@pytest.fixture
def expected(rng, tmp_path):
    """Messages and subscriptions in files; whom brute force finds."""
    patterns, topics = random_patterns(rng, 40), random_topics(rng, 400)
    (tmp_path / "s.txt").write_text("".join(pattern + "\n" for pattern in patterns))
    write(tmp_path / "in", ".parquet", topics, files=4)
    return brute(patterns, range(40), topics)


def assert_found(folder, expected):
    rows = sorted(pq.read_table(folder / "out" / "matches").to_pylist(), key=lambda row: row["id"])
    assert [sorted(row["subscribers"]) for row in rows] == expected


def test_spark_connect(expected, tmp_path):
    port = free_port()
    server = (
        "spark-submit", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "--master", "local[2,4]",
        "--conf", f"spark.connect.grpc.binding.port={port}", "--conf", "spark.connect.grpc.binding.address=127.0.0.1",
        "--conf", "spark.ui.enabled=false", "spark-internal",
    )  # fmt: skip
    log = tmp_path / "server.log"
    with daemon(log, *server) as process:
        wait_for(lambda: process.poll() is not None or "Connect server started" in log.read_text())
        result = matched(f"sc://127.0.0.1:{port}", tmp_path)
        assert result.returncode == 0, result.stderr[-3000:]
        assert_found(tmp_path, expected)
        assert not list(tmp_path.glob(".out.*"))
        refused = matched(f"sc://127.0.0.1:{port}", tmp_path)
    assert refused.returncode == 2
