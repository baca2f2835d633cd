"""Two workers of which one has a disk of its own at the same path: nothing is published, and the command says why."""

import os
import subprocess
import sys

import pytest
from message_files import random_patterns, random_topics, write
from pipeline_processes import can_hide, cluster

from latchfree_cli import exits

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not can_hide(), reason="this system permits no mount namespaces"),
]

COMMAND = "import sys; from latchfree_cli.main import main; sys.exit(main())"
LATE = "import latchfree_spark.match.batch as job; job.probe = lambda *_: None; " + COMMAND
"""The command as if the worker with the disk of its own had come after the probe."""


def matched(master, folder, *options, command=COMMAND):
    (folder / "spark-defaults.conf").write_text("spark.executor.memory 512m\nspark.cores.max 2\n")
    path = os.pathsep.join(each for each in sys.path if each)
    arguments = ["-s", folder / "s.txt", "-m", folder / "data" / "in", "-o", folder / "data" / "outs" / "out"]
    return subprocess.run(
        [sys.executable, "-c", command, "pipeline", "match", *arguments, "--master", master, *options],
        env={**os.environ, "PYTHONPATH": path, "SPARK_CONF_DIR": str(folder)},
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip


@pytest.fixture
def files(rng, tmp_path):
    """Messages in several files, and subscriptions."""
    (tmp_path / "s.txt").write_text("".join(pattern + "\n" for pattern in random_patterns(rng, 40)))
    (tmp_path / "data" / "outs").mkdir(parents=True)
    write(tmp_path / "data" / "in", ".parquet", random_topics(rng, 4000), files=8)
    return tmp_path


@pytest.mark.parametrize("hidden", ["data", "data/outs", "data/in"])
def test_the_probe_tells_before_the_work(files, hidden):
    with cluster(files, hidden=files / hidden) as (address, _):
        result = matched(address, files)
    assert result.returncode == exits.TOOL, result.stderr[-3000:]
    assert "1 of 2 executors (host:process) do not share files with the driver" in result.stderr
    assert "No such file or directory" in result.stderr
    assert not list((files / "data" / "outs").iterdir())


def test_rows_of_a_worker_that_came_later_are_missed(files):
    with cluster(files, hidden=files / "data" / "outs") as (address, _):
        result = matched(address, files, command=LATE)
    assert result.returncode == exits.TOOL, result.stderr[-3000:]
    assert "4,000 messages counted" in result.stderr or "cannot be read" in result.stderr
    assert "Nothing was published" in result.stderr
    assert not list((files / "data" / "outs").iterdir())


def test_all_is_well_where_all_see_the_same(files):
    with cluster(files) as (address, _):
        result = matched(address, files)
    assert result.returncode == exits.OK, result.stderr[-3000:]
    assert "4,000 messages" in result.stdout
