"""Drivers killed in the midst of a job on URIs, between two requests to the file system: the next one ends it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from lincheck_random import random_history
from pipeline_processes import wait_for
from pipeline_webhdfs import webhdfs

from latchfree_lincheck import check as local
from latchfree_lincheck import write_history
from latchfree_spark.frames.claims import FOLDER, started

KILLS = 3
MOST = 14
"""Requests after which a driver is killed, at most; the first round of a job makes more."""


class Gate:
    """Lets some requests that change the verdicts pass; at the next one all wait until the driver is dead."""

    def __init__(self):
        self.left = None
        self.reached, self.dead = threading.Event(), threading.Event()
        self.done = False
        self._lock = threading.Lock()

    def __call__(self, op, name):
        if self.left is None or "/out/verdicts" not in name:
            return True
        with self._lock:
            if self.left > 0:
                self.left -= 1
                return True
            first = not self.reached.is_set()
            self.reached.set()
        self.dead.wait(600)
        return first and self.done  # the file system may have got the last request of the dead, or not


def start(root, log):
    script = Path(__file__).parents[1] / "helpers" / "pipeline_uri_driver.py"
    path = os.pathsep.join(folder for folder in sys.path if folder)
    with log.open("a") as file:
        return subprocess.Popen(
            [sys.executable, script, f"{root}/in", f"{root}/out", "2"],
            env={**os.environ, "PYTHONPATH": path}, stdout=file, stderr=file,
        )  # fmt: skip


@pytest.mark.slow
def test_a_killed_job_loses_nothing_and_judges_nothing_twice(spark, tmp_path, rng):
    histories = [random_history("map", seed, most=12) for seed in range(60)]
    (tmp_path / "in").mkdir()
    for number in range(2):
        write_history(tmp_path / "in" / f"part-{number:05}-x.jsonl", histories[number::2])
    gate, log = Gate(), tmp_path / "log"
    with webhdfs(tmp_path, gate) as (root, _):
        killed = []
        for _ in range(KILLS):
            gate.left, gate.done = rng.randrange(MOST), rng.random() < 0.5
            killed.append((gate.left, gate.done))
            gate.reached.clear()
            gate.dead.clear()
            process = start(root, log)
            wait_for(lambda process=process: gate.reached.is_set() or process.poll() is not None)
            if process.poll() is not None:
                break
            (flag,) = (file for file in (tmp_path / "out" / FOLDER).iterdir() if file.suffix == ".json")
            known = json.loads(flag.read_text())["processes"]
            process.kill()
            process.wait()
            gate.dead.set()
            wait_for(lambda known=known: all(started(int(pid)) != since for pid, since in known.items()))
        print(f"requests before each kill, and whether the next one was done: {killed}")
        assert gate.reached.is_set() or len(killed) > 1, log.read_text()[-3000:]
        gate.left = None
        last = start(root, log)
        assert last.wait(600) == 0, log.read_text()[-3000:]
        rows = spark.read.parquet(f"{root}/out/verdicts").collect()
        lines = [json.loads(row["value"]) for row in spark.read.text(f"{root}/out/summary.json").collect()]
    assert sorted((row["history"], row["verdict"]) for row in rows) == sorted(
        (history.name, local(history, "map").verdict) for history in histories
    )
    assert {line["histories"] for line in lines} == {60}
