"""Masters that are not this process: workers that do not share the driver's path."""

import pytest
from lincheck_random import random_history
from pipeline_jobs import content, run, verdicts
from pipeline_processes import cluster, daemon, driver, free_port, kill, wait_for

from latchfree_lincheck import write_history
from latchfree_spark.check import Options
from latchfree_spark.check.files import done_chunks
from latchfree_spark.check.manifest import partial_folder

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
