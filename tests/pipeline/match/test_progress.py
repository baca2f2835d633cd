"""Lines of progress."""

import time

import pytest

from latchfree_spark.match import progress
from latchfree_spark.match.progress import line, shown


@pytest.mark.parametrize(
    ("known", "says"),
    [
        ((0, 0, 100, 1.0), "matching"),
        ((0, 40, 100, 1.0), "matching: 0 of 40 tasks"),
        ((10, 40, None, 1.0), "matching: 10 of 40 tasks"),
        (
            (10, 40, 4_000_000, 50.0),
            "matching: 10 of 40 tasks, about 1,000,000 of 4,000,000 rows, 20,000 a second, 2:30 left",
        ),
    ],
)
def test_what_is_known_is_said(known, says):
    assert line("matching", *known) == says


def test_a_job_that_runs_is_asked(spark, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY", 0.01)
    said = []

    def slowly(batches):
        for batch in batches:
            time.sleep(0.5)
            yield batch

    frame = spark.range(0, 4, 1, 4).mapInArrow(slowly, "id long")
    with shown(spark, said.append, "matching", 4):
        while not any("of 4 tasks" in text for text in said):
            assert frame.count() == 4
    assert any(text.startswith("matching: ") for text in said)
    told = len(said)
    with shown(spark, None, "matching", 4):
        assert frame.count() == 4
    assert len(said) == told
