"""What executors must see: the marker of the driver, files of the same size, and a folder that takes their own."""

import os
from types import SimpleNamespace

import pyarrow as pa
import pytest

from latchfree_spark import probe as module
from latchfree_spark.errors import ClusterError, NotShared
from latchfree_spark.probe import looked, probe, refuse


@pytest.fixture
def marks(tmp_path):
    """What the driver writes."""
    folder = tmp_path / "x.probe"
    folder.mkdir()
    (folder / "driver").write_text("x.probe")
    return folder


def look(marks, sizes):
    (batch,) = looked([pa.RecordBatch.from_pylist([{"id": 1}])], str(marks), sizes)
    (row,) = batch.to_pylist()
    return SimpleNamespace(**row)


def test_who_sees_everything_leaves_a_mark(marks, tmp_path):
    row = look(marks, {str(marks / "driver"): 7})
    assert row.problem == ""
    assert row.host == os.uname().nodename
    assert row.executor.startswith(f"{row.host}:")
    assert (marks / row.mark).read_text() == row.mark
    refuse([row], marks, str(tmp_path))


def test_who_does_not_see_the_folder_makes_none(tmp_path):
    row = look(tmp_path / "elsewhere", {})
    assert row.problem == f"{tmp_path}/elsewhere/driver: No such file or directory"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("size", "says"), [(8, "7 bytes, the driver sees 8"), (None, "No such file or directory")])
def test_input_that_differs_is_named(marks, tmp_path, size, says):
    file = marks / ("driver" if size else "absent")
    row = look(marks, {str(file): size or 0})
    assert row.problem == f"{file}: {says}"
    with pytest.raises(NotShared, match=r"1 of 1 executors .* mount it there") as raised:
        refuse([row], marks, str(tmp_path))
    assert f"{row.executor}: {row.problem}" in str(raised.value)
    assert isinstance(raised.value, ClusterError)


def test_a_mark_that_the_driver_does_not_see(marks, tmp_path):
    rows = [look(marks, {}) for _ in range(8)]
    for number, row in enumerate(rows):
        row.executor = f"host{number}:1"
        if number != 3:
            (marks / row.mark).unlink()
    with pytest.raises(NotShared, match=r"7 of 8 executors") as raised:
        refuse(rows, marks, str(tmp_path))
    text = str(raised.value)
    assert f"host0:1: the driver does not see what was written to {tmp_path}" in text
    assert "host3" not in text
    assert "and 2 more" in text


def test_every_executor_of_a_session_is_asked(spark, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "is_foreign", lambda spark: True)
    (tmp_path / "in.txt").write_text("some")
    asked = []
    monkeypatch.setattr(module, "refuse", lambda rows, *others: asked.append(rows) or refuse(rows, *others))
    probe(spark, tmp_path, [tmp_path / "in.txt", f"file://{tmp_path}/in.txt", "s3a://elsewhere/in.txt"])
    assert [len(rows) for rows in asked] == [2]
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]
    probe(spark, "hdfs://name/folder", [])
    assert {row.mark for row in asked[1]} == {""}


def test_a_local_session_is_not_asked(spark, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "on_workers", None)
    probe(spark, tmp_path / "absent", [tmp_path / "absent"])
