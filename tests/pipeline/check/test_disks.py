"""`pipeline check` on two workers of which one has a disk of its own: no verdict is lost in silence."""

import os
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from pipeline_jobs import put_and_get
from pipeline_processes import can_hide, cluster, kill, wait_for

from latchfree_cli import exits
from latchfree_lincheck import write_history
from latchfree_spark.check.files import done_chunks
from latchfree_spark.check.output.manifest import partial_folder

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not can_hide(), reason="this system permits no mount namespaces"),
]

HISTORIES = 600
COMMAND = "import sys; from latchfree_cli.main import main; sys.exit(main())"
LATE = "import latchfree_spark.check.job as job; job.probe = lambda *_: None; " + COMMAND
"""The command as if the worker with the disk of its own had come after the probe."""


def checked(master, folder, command=COMMAND):
    job = started(master, folder, command)
    code = job.wait(1200)
    return subprocess.CompletedProcess(job.args, code, "", (folder / "said.txt").read_text())


def started(master, folder, command):
    (folder / "spark-defaults.conf").write_text("spark.executor.memory 512m\nspark.cores.max 2\n")
    path = os.pathsep.join(each for each in sys.path if each)
    arguments = [folder / "data" / "in", folder / "data" / "outs" / "out", "--model", "map", "--chunks", "16"]
    with (folder / "said.txt").open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-c", command, "pipeline", "check", *arguments, "--master", master],
            env={**os.environ, "PYTHONPATH": path, "SPARK_CONF_DIR": str(folder)},
            stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip


@pytest.fixture
def files(tmp_path):
    """Histories in several files, one of them a violation."""
    (tmp_path / "data" / "outs").mkdir(parents=True)
    (tmp_path / "data" / "in").mkdir()
    for part in range(4):
        numbers = range(part, HISTORIES, 4)
        histories = [put_and_get(f"h{number}", seen=5 if number == 301 else None) for number in numbers]
        write_history(tmp_path / "data" / "in" / f"{part}.jsonl", histories)
    return tmp_path


@pytest.mark.parametrize("hidden", ["data", "data/outs"])
def test_the_probe_tells_before_the_work(files, hidden):
    with cluster(files, hidden=files / hidden) as (address, _):
        result = checked(address, files)
    assert result.returncode == exits.TOOL, result.stderr[-3000:]
    assert "1 of 2 executors (host:process) do not share files with the driver" in result.stderr
    assert not (files / "data" / "outs" / "out").exists()


def test_verdicts_of_a_worker_that_came_later_are_missed(files):
    with cluster(files, hidden=files / "data" / "outs") as (address, _):
        result = checked(address, files, command=LATE)
    assert result.returncode == exits.TOOL, result.stderr[-3000:]
    assert "of 16 results are not in" in result.stderr or "No such file or directory" in result.stderr
    assert not (files / "data" / "outs" / "out").exists()


@pytest.mark.parametrize("killed", [0, 1], ids=["who shares the disk", "who does not"])
def test_a_worker_is_killed_and_one_has_a_disk_of_its_own(files, killed):
    """Whoever is left judges again what the dead one judged, or the job says which results are not in."""
    out = files / "data" / "outs" / "out"
    with cluster(files, hidden=files / "data" / "outs") as (address, workers):
        job = started(address, files, LATE)
        wait_for(lambda: job.poll() is not None or done_chunks(partial_folder(out)))
        left = 16 - len(done_chunks(partial_folder(out)))
        kill(workers[killed])
        job.wait(1200)
    said = (files / "said.txt").read_text()
    assert left > 0, "the job was over before"
    if job.returncode == exits.VIOLATION:
        assert_all_is_there(out)
    else:
        assert job.returncode == exits.TOOL, said[-3000:]
        assert "of 16 results are not in" in said or "No such file or directory" in said
        assert not out.exists()


def test_all_is_well_where_all_see_the_same(files):
    with cluster(files) as (address, _):
        result = checked(address, files)
    assert result.returncode == exits.VIOLATION, result.stderr[-3000:]
    assert_all_is_there(files / "data" / "outs" / "out")


def assert_all_is_there(out):
    rows = [row for file in (out / "verdicts").iterdir() for row in pq.read_table(file).to_pylist()]
    assert len(rows) == HISTORIES
    (wrong,) = [row for row in rows if row["verdict"] == "violation"]
    assert (wrong["history"], wrong["key"]) == ("h301", '"k"')
    assert wrong["reproduce"] == f"latchfree check {wrong['saved']} --model map"
