"""Counts that differ, and what workers say that they have."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latchfree_spark import accounts
from latchfree_spark.accounts import account, swept
from latchfree_spark.errors import RowsLost


def test_equal_counts_are_no_news(tmp_path):
    account(None, tmp_path, {"messages": 3}, {"messages": 3, "more": 4})


@pytest.mark.parametrize("there", [3, 5])
def test_counts_that_differ_are_named(spark, tmp_path, there):
    says = f"{tmp_path}/x: 4,000 messages counted, {there} there. the cause. Nothing was published"
    with pytest.raises(RowsLost) as lost:
        account(
            spark,
            tmp_path / "x",
            {"messages": 4000, "deliveries": 1},
            {"messages": there, "deliveries": 1},
            "the cause",
        )
    assert str(lost.value) == says


def test_a_worker_says_what_it_has_and_removes_it(tmp_path):
    inner = tmp_path / "work" / "matches" / "_temporary" / "0"
    inner.mkdir(parents=True)
    pq.write_table(pa.table({"a": [1, 2, 3]}), inner / "part.parquet")
    (inner / "torn.parquet").write_bytes(b"PAR1")
    (batch,) = swept([], str(tmp_path / "work" / "matches"))
    (row,) = batch.to_pylist()
    assert (row["files"], row["rows"]) == (1, 3)
    assert not list(tmp_path.iterdir())


def test_workers_of_another_master_are_asked(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(accounts, "is_foreign", lambda spark: True)
    (tmp_path / "x").mkdir()
    (tmp_path / "kept").touch()
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "x" / "part.parquet")
    with pytest.raises(RowsLost, match=r"has 3 rows in 1 files.* must be at the same path on all hosts"):
        account(spark, tmp_path / "x", {"messages": 4}, {"messages": 3})
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
