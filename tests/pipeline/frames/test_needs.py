"""Tables on workers that cannot run the jobs: the call is lazy, and the query fails with what is missing."""

import pytest
from pipeline_frames import frame_of, rows_of
from pipeline_jobs import put_and_get

import latchfree_spark
from latchfree_lincheck import write_history
from latchfree_spark import shipping
from latchfree_spark.check.options import BadInput
from latchfree_spark.frames.source import look, operations
from latchfree_spark.needs import here
from latchfree_spark.task import host
from latchfree_spark.workers import explained


def test_every_function_on_tables_asks_its_worker(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(shipping, "here", lambda: {**here(), "numba": "0.1.2"})
    session = spark.newSession()
    write_history(tmp_path / "x.jsonl", [put_and_get("h")])
    ops = frame_of(session, rows_of([put_and_get("h")]))
    ops.createOrReplaceTempView("ops")
    latchfree_spark.register(session)
    arguments = "'map', process, f, arguments, result, invoke, `return`"
    tables = [
        latchfree_spark.check(ops, "map"),
        latchfree_spark.match(session.createDataFrame([("a/b",)], "topic string"), [("a/+", "ann")]),
        session.sql(f"SELECT linearizable({arguments}) FROM ops GROUP BY history"),
        session.sql("SELECT * FROM check_history(TABLE(ops), 'map')"),
        session.read.format("latchfree").load(str(tmp_path)),
    ]
    for table in tables:
        with pytest.raises(Exception, match="WorkersDiffer") as raised:
            table.collect()
        said = explained(str(raised.value))
        assert said.startswith(f"{host()}: ")
        assert said.endswith(f"has numba {here()['numba']}, and the driver has 0.1.2; install the same version")


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("x.parquet", b"", "0 bytes, and {size:,} where it was looked at"),
        ("x.parquet", None, "No such file or directory"),
        ("x.jsonl", b"{}\n", "3 bytes, and {size:,} where it was looked at"),
    ],
)
def test_a_worker_with_another_file_at_the_path(tmp_path, name, change, says):
    path = tmp_path / name
    write_history(path, [put_and_get("h")])
    size = path.stat().st_size
    (piece,) = look([str(path)])
    assert sum(map(len, operations([piece]))) == 2
    path.unlink()
    if change is not None:
        path.write_bytes(change)
    with pytest.raises(BadInput) as raised:
        list(operations([piece]))
    assert str(raised.value).startswith(f"{path} on {host()}: {says.format(size=size)}; a file must be the same on all")


def test_lines_that_grow_are_read_as_they_were(tmp_path):
    path = tmp_path / "x.jsonl"
    write_history(path, [put_and_get("h")])
    (piece,) = look([str(path)])
    with path.open("a") as file:
        file.write("{ half a line")
    assert sum(map(len, operations([piece]))) == 2
