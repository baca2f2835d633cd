"""Large inputs that once took for ever: a long history that is wrong, and a file in which no line is right."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_jobs import run, verdicts

from latchfree_spark.check import Options
from latchfree_spark.check.options import BadInput

OPERATIONS = 2_000_000
LINES = 1_000_000


def write_wrong_giant(path):
    """Write one history of a map on one key; its last get sees the value before the last one."""
    turn = np.arange(OPERATIONS)
    puts = turn % 2 == 0
    values = turn // 2 % 1000
    values[-1] -= 1
    results = np.where(puts, (turn // 2 - 1) % 1000, values)  # a put returns what was there
    results[0] = 1000
    arguments = pa.array([*(f'["k", {value}]' for value in range(1000)), '["k"]'])
    columns = {
        "history": pa.array(["giant"]).take(pa.array(np.zeros(OPERATIONS, np.int64))),
        "process": pa.array([str(process) for process in range(8)]).take(pa.array(turn % 8)),
        "f": pa.array(["get", "put"]).take(pa.array(puts.astype(int))),
        "arguments": arguments.take(pa.array(np.where(puts, values, 1000))),
        "result": pa.array([*map(str, range(1000)), "null"]).take(pa.array(results)),
        "invoke": pa.array(2 * turn),
        "return": pa.array(2 * turn + 1),
    }
    pq.write_table(pa.table(columns), path)


@pytest.mark.slow
def test_a_violation_in_a_long_history_on_one_key_is_told(spark, tmp_path):
    """Its worker was killed as idle while the violation was saved and made small, and begun again for ever."""
    write_wrong_giant(tmp_path / "giant.parquet")
    summary = run(spark, [tmp_path / "giant.parquet"], tmp_path / "out", Options("map"))
    assert summary.verdicts["violation"] == 1
    (row,) = verdicts(tmp_path / "out")
    assert (row["history"], row["operations"], row["verdict"]) == ("giant", OPERATIONS, "violation")
    assert "held" in row["reason"]


@pytest.mark.slow
def test_of_a_million_malformed_lines_the_first_hundred_are_named(spark, tmp_path):
    """The number of each malformed line was found by reading the file again: a million took hours."""
    path = tmp_path / "x.jsonl"
    path.write_text('{"history": "h", "process": 0}\n' * LINES)
    with pytest.raises(BadInput) as raised:
        run(spark, [path], tmp_path / "out")
    told = str(raised.value)
    assert [f"{path}:{number}: " in told for number in (1, 2, 99, 100, 101)] == [True] * 4 + [False]
    assert not (tmp_path / "out").exists()
