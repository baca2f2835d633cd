"""A stream whose processes are killed at random moments, again and again: every message is there once."""

import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from message_files import brute, random_patterns, random_topics, write

FILES, KILLS = 24, 4


@pytest.mark.slow
def test_each_message_once_whenever_it_is_killed(rng, tmp_path):
    patterns, topics = random_patterns(rng, 50), random_topics(rng, 4800)
    write(tmp_path / "in", ".parquet", topics, files=FILES)
    (tmp_path / "s.txt").write_text("".join(pattern + "\n" for pattern in patterns))
    options = ["--stream", "--available-now", "--max-files", "1", "--master", "local[1,4]", "-o", tmp_path / "out"]
    command = [sys.executable, "-m", "latchfree_cli", "pipeline", "match", "-s", tmp_path / "s.txt"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folder for folder in sys.path if folder)}

    def start():
        return subprocess.Popen(
            [*command, "-m", tmp_path / "in", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, env=environment,
        )  # fmt: skip

    def batches():
        return len(list((tmp_path / "out").glob("matches/batch=*")))

    for kill in range(KILLS):
        with start() as running:
            reached = batches() + rng.randint(1, 4)
            while batches() < reached and running.poll() is None:
                time.sleep(0.02)
            time.sleep(rng.random() * 0.5)
            os.killpg(running.pid, signal.SIGKILL)
        print(f"kill {kill + 1} after {batches()} batches")
    assert 0 < batches() < FILES
    with start() as running:
        _, complained = running.communicate(timeout=1200)
    assert running.returncode == 0, complained
    found = [
        row
        for file in (tmp_path / "out").glob("matches/*/*.parquet")
        for row in pq.ParquetFile(file).read().to_pylist()
    ]
    found.sort(key=lambda row: row["id"])
    assert [row["id"] for row in found] == list(range(len(topics)))
    assert [sorted(row["subscribers"]) for row in found] == brute(patterns, range(len(patterns)), topics)
