"""Two jobs on one output at a URI: the second one is refused and told who is there, a dead one is in nobody's way."""

import json
import os
import re
import socket
import subprocess
import sys
import threading

import pytest
from pipeline_jobs import put_and_get
from pipeline_webhdfs import webhdfs

from latchfree_lincheck import write_history
from latchfree_spark.check import JobRefused, Options
from latchfree_spark.frames.claims import FOLDER, PATIENCE, claimed, processes, started
from latchfree_spark.frames.uris import check_uris


def flags(folder):
    """Return the flags that are up, without the checksums that Hadoop writes beside files of local disks."""
    return sorted(file.name for file in (folder / FOLDER).iterdir() if not file.name.startswith("."))


def test_a_second_job_is_refused_and_told_who_is_there(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h1")])
    with webhdfs(tmp_path) as (root, _):
        with claimed(spark, f"{root}/out") as still:
            still()
            told = re.escape(
                f"{root}/out: another job is writing there: process {os.getpid()} on {socket.gethostname()}"
            )
            with pytest.raises(JobRefused, match=told + r" since 20\d\d-\d\d-\d\dT"):
                check_uris(spark, [f"{root}/x.jsonl"], f"{root}/out", Options("map"))
            assert len(flags(tmp_path / "out")) == 1
            still()
        assert flags(tmp_path / "out") == []
        assert not (tmp_path / "out" / "verdicts").exists()
        assert check_uris(spark, [f"{root}/x.jsonl"], f"{root}/out", Options("map")).histories == 1


def test_a_job_that_was_killed_is_in_nobodys_way(spark, tmp_path):
    out = tmp_path / "out"
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert started(child.pid)
    flag = {**processes(child.pid), "since": "tonight"}
    (out / FOLDER).mkdir(parents=True)
    (out / FOLDER / "here-1-a.json").write_text(json.dumps(flag))
    with pytest.raises(JobRefused, match=f"process {child.pid} on"), claimed(spark, out.as_uri()):
        pass
    child.communicate(b"\n")
    with claimed(spark, out.as_uri()):
        assert len(flags(out)) == 1
    assert flags(out) == []


@pytest.mark.parametrize(
    "content", ['{"pid": 7, "host": "far", "since": "now", "processes": {}, "machine": "far"}', ""]
)
def test_a_job_elsewhere_counts_as_gone_after_its_last_sign(spark, tmp_path, content):
    """Nobody sees a process of another machine; an empty flag is one that is being written, or was never finished."""
    out = tmp_path / "out"
    (out / FOLDER).mkdir(parents=True)
    flag = out / FOLDER / "far-7-a.json"
    flag.write_text(content)
    told = r"(process 7 on far since now|far-7), last sign \d+ s ago; wait for it; if it is gone, 10 minutes after"
    with pytest.raises(JobRefused, match=told), claimed(spark, out.as_uri()):
        pass
    past = flag.stat().st_mtime - 2 * PATIENCE
    os.utime(flag, (past, past))
    with claimed(spark, out.as_uri()) as still:
        assert not flag.exists()
        (own,) = flags(out)
        (out / FOLDER / own).unlink()  # another one takes over
        with pytest.raises(JobRefused, match="another job took this output over"):
            still()


def test_a_job_that_starts_in_the_same_instant(spark, tmp_path):
    """However they interleave, never two are in; each is in or is told who is."""
    inside, most, told, ready = [], [], [], threading.Barrier(4)

    def run(number):
        ready.wait()
        for _ in range(3):
            try:
                with claimed(spark, (tmp_path / "out").as_uri()):
                    inside.append(number)
                    most.append(len(inside))
                    inside.remove(number)
            except JobRefused as error:
                told.append(str(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) + len(told) == 12
    assert set(most) <= {1}
    assert flags(tmp_path / "out") == []
    with claimed(spark, (tmp_path / "out").as_uri()):
        pass
