"""Workers that are killed, hidden, slow or publish twice: every history has its verdict, or the job says no."""

import pytest
from lincheck_random import random_history
from pipeline_jobs import run, verdicts
from pipeline_mischief import was_hidden

from latchfree_lincheck import check, write_history
from latchfree_spark.check import Options
from latchfree_spark.check.output.manifest import partial_folder
from latchfree_spark.errors import RowsLost

HISTORIES = 60
CHUNKS = 6
HOW = "while judging it alone"


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Histories in a file, and the verdict on each."""
    histories = [random_history("map", seed, most=12) for seed in range(HISTORIES)]
    path = tmp_path_factory.mktemp("mischief") / "x.jsonl"
    write_history(path, histories)
    return path, {history.name: check(history, "map").verdict for history in histories}


def whole_or_refused(spark, source, folder, seed):
    """Run a job; return how it ended: "lost" if the job said so, else "whole"."""
    path, expected = source
    out = folder / f"out{seed}"
    options = Options("map", judge=f"pipeline_mischief:judge_{seed}", saved=1)
    lost = ""
    try:
        run(spark, [path], out, options, chunks=CHUNKS)
    except RowsLost as error:
        lost = str(error)
    if lost:
        assert was_hidden(partial_folder(out)), lost
        assert "wrote" in lost
        assert not out.exists()
        return "lost"
    rows = verdicts(out)
    assert sorted(row["history"] for row in rows) == sorted(expected)
    for row in rows:
        undecided = row["verdict"] == "unknown" and HOW in row["reason"]
        assert undecided or row["verdict"] == expected[row["history"]], row
    return "whole"


def test_a_few_runs(spark, source, tmp_path):
    ends = [whole_or_refused(spark, source, tmp_path, seed) for seed in (0, 3, 1, 2)]
    assert ends[:2] == ["whole", "whole"], "with these seeds nobody hides"


@pytest.mark.slow
def test_fifty_runs(spark, source, tmp_path):
    ends = [whole_or_refused(spark, source, tmp_path, seed) for seed in range(50)]
    print({end: ends.count(end) for end in set(ends)})
    assert ends.count("whole") > 17
    assert ends.count("lost") > 5
