"""Large inputs that once took for ever: a long history that is wrong, and a file in which no line is right."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_jobs import run, verdicts

from latchfree_spark.check import Options
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.options import BadInput, Job
from latchfree_spark.check.output import summary
from latchfree_spark.check.sample import first_look

OPERATIONS = 2_000_000
LINES = 1_000_000
GOOD = 300_000
"""Lines before the first wrong one: no job begins with what it can see at once to be wrong."""


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
    done = run(spark, [tmp_path / "giant.parquet"], tmp_path / "out", Options("map"))
    assert done.verdicts["violation"] == 1
    (row,) = verdicts(tmp_path / "out")
    assert (row["history"], row["operations"], row["verdict"]) == ("giant", OPERATIONS, "violation")
    assert row["reason"].startswith("no order explains get('k')")


def malformed(good, lines):
    """Return lines of which only the first are histories, each of its own."""
    right = (
        '{"history": "%d", "process": 0, "f": "get", "arguments": ["k"], "result": null, "invoke": 1, "return": 2}\n'
    )
    return "".join(right % line if line <= good else f'{{"history": "{line}"}}\n' for line in range(1, lines + 1))


def test_it_is_not_said_that_all_of_the_first_are_wrong_if_some_are_right(tmp_path):
    """What could not be read came first, and of that a thousand were enough."""
    path = tmp_path / "x.jsonl"
    for good, lines in ((0, 5_000), (1, 5_000), (3_000, 8_000)):
        path.write_text(malformed(good, lines))
        found = find([path])
        told = first_look(Job(Options("map"), "", found.files, found.formats, found.sources), found)
        assert bool(told) == (good == 0)


def test_the_problems_that_come_first_are_kept(monkeypatch):
    monkeypatch.setattr(summary, "_DISTINCT", 3)
    found = summary._Found()
    for lines in ([9, 7, 8], [5, 1], [30, 2]):
        rows = [[None, "", "error", f"x.jsonl:{line}: wrong", None, 0, None, None, None, None] for line in lines]
        names = ["history", "source", "verdict", "reason", "engine", "operations", "failing", "object", "key", "saved"]
        table = pa.table({name: [row[at] for row in rows] for at, name in enumerate(names)})
        found.add(table, pa.table({"seconds": [0.0] * len(rows)}))
    assert sorted(found.problems) == ["x.jsonl:1: wrong", "x.jsonl:2: wrong", "x.jsonl:5: wrong"]
    assert found.unnamed == 4


@pytest.mark.slow
def test_of_a_million_malformed_lines_the_first_hundred_are_named(spark, tmp_path):
    """The number of each malformed line was found by reading the file again: a million took hours."""
    path = tmp_path / "x.jsonl"
    path.write_text(malformed(GOOD, LINES))
    with pytest.raises(BadInput) as raised:
        run(spark, [path], tmp_path / "out")
    told = str(raised.value)
    named = [int(number) for number in re.findall(f"{re.escape(str(path))}:([0-9]+): ", told)]
    assert named == list(range(GOOD + 1, GOOD + 101))
    assert f"and {LINES - GOOD - 100:,} more" in told
    assert not (tmp_path / "out").exists()
