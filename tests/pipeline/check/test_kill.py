"""Drivers killed at random moments: the output is that of a job that nobody disturbed."""

import time

import pytest
from lincheck_random import random_history
from pipeline_jobs import content, run, verdicts
from pipeline_processes import driver

from latchfree_lincheck import write_history
from latchfree_spark.check import Options
from latchfree_spark.check.files import done_chunks
from latchfree_spark.check.output.manifest import partial_folder

KILLS = 10
CHUNKS = 40
JUDGE = "pipeline_judges:slowly"


@pytest.mark.slow
def test_a_killed_driver_loses_nothing_and_repeats_nothing(spark, tmp_path, rng):
    histories = [random_history("map", seed, most=12) for seed in range(300)]
    source, out = tmp_path / "x.jsonl", tmp_path / "out"
    write_history(source, histories)
    run(spark, [source], tmp_path / "whole", Options("map", judge=JUDGE, saved=1), chunks=CHUNKS)
    done = []
    for number in range(KILLS):
        process = driver("local[2,4]", source, out, tmp_path / f"{number}.log", JUDGE, CHUNKS)
        more, until = rng.randrange(4), time.monotonic() + 120
        while process.poll() is None and time.monotonic() < until:
            if len(done_chunks(partial_folder(out))) >= (done[-1] if done else 0) + more:
                break
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 1.5))
        assert process.poll() is None, (tmp_path / f"{number}.log").read_text()[-3000:]
        process.kill()
        process.wait()
        done.append(len(done_chunks(partial_folder(out))))
        assert not out.exists()
    print(f"chunks done at each kill: {done}")
    assert 0 < done[-1] < CHUNKS
    last = driver("local[2,4]", source, out, tmp_path / "last.log", JUDGE, CHUNKS)
    assert last.wait(300) == 0, (tmp_path / "last.log").read_text()[-3000:]
    assert content(out) == content(tmp_path / "whole")
    assert sorted(row["history"] for row in verdicts(out)) == sorted(history.name for history in histories)
