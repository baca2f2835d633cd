"""Reading: all of a file or none of it, and every problem with its place."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from lincheck_random import random_history
from pipeline_jobs import fragments, put_and_get

from latchfree_lincheck import write_history
from latchfree_lincheck.formats import HistoryFormatError, read_history
from latchfree_spark.check import Options, inputs, reading
from latchfree_spark.check.decoding import history_of, unpack
from latchfree_spark.check.inputs import find
from latchfree_spark.check.reading import lines_of

JEPSEN = """INFO  jepsen.util - 0\t:invoke\t:write\t3
INFO  jepsen.util - 0\t:ok\t:write\t3
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t3
"""


def read(paths, folder):
    """Return the histories that a job reads, by name, and the problems of histories and files."""
    job, table = fragments(paths, folder, Options())
    problems = {(row["history"], row["problem"]) for row in table.to_pylist() if row["problem"]}
    names = dict.fromkeys(name for name in table["history"].to_pylist() if name is not None)
    found = {}
    for name in names:
        if not any(each == name for each, _ in problems):
            mine = table.filter(pa.compute.equal(table["history"], name))
            order = pa.compute.sort_indices(mine, [("file", "ascending"), ("first", "ascending")])
            found[name] = history_of(unpack(mine.take(order)), 0, None, job, numbered=True)
    return found, problems


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("unit", [1 << 20, 300])
def test_the_histories_are_those_of_the_file_however_it_is_cut(tmp_path, monkeypatch, suffix, unit):
    monkeypatch.setattr(inputs, "UNIT", unit)
    histories = [random_history(kind, seed) for kind in ("map", "whole-set", "append-kv") for seed in range(30)]
    path = tmp_path / f"all.{suffix}"
    write_history(path, histories)
    if suffix == "parquet":
        pq.write_table(pq.read_table(path), path, row_group_size=7)
    assert (len(find([path]).units) > 10) == (unit == 300)
    found, problems = read([path], tmp_path)
    assert not problems
    assert list(found.values()) == read_history(path)


def test_scattered_operations_are_gathered(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "BATCH", 7)
    monkeypatch.setattr(reading, "GATHERED", 60)
    histories = [put_and_get(f"h{number}", operations=9) for number in range(10)]
    path = tmp_path / "x.parquet"
    write_history(path, histories)
    _, together = fragments([path], tmp_path)
    assert len(together) < 30
    table = pq.read_table(path)
    order = [10 * history + at for at in range(10) for history in range(10)]
    pq.write_table(table.take(order), path, row_group_size=30)
    _, gathered = fragments([path], tmp_path)
    assert len(gathered) == 20
    found, problems = read([path], tmp_path)
    assert not problems
    assert {name: history.operations for name, history in found.items()} == {
        history.name: history.operations for history in histories
    }


def test_a_log_is_one_history_called_what_the_file_is(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.log").write_text(JEPSEN)
    (tmp_path / "cut.log").write_text(JEPSEN + "INFO  jepsen.util - 9\t:invoke\n")
    found, problems = read([tmp_path], tmp_path)
    assert set(found) == {str(tmp_path / name / "test.log") for name in "ab"}
    assert all(history.operations == read_history(name)[0].operations for name, history in found.items())
    ((name, text),) = problems
    assert name == str(tmp_path / "cut.log")
    assert text.startswith(f"{name}:5: expected")


def test_each_file_is_a_source_and_the_parts_of_one_writer_are_one(tmp_path):
    names = ["a.jsonl", "b/a.jsonl", "c/part-00000-77ab.c000.jsonl", "c/part-00001-77ab.c000.jsonl", "c/part-r-00002"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_history(tmp_path / name, [put_and_get("h0")], "jsonl")
    found = find([tmp_path])
    assert found.sources == ("a.jsonl", "b/a.jsonl", "c")
    assert [(unit.file, unit.source) for unit in found.units] == [(0, 0), (1, 1), (2, 2), (3, 2), (4, 2)]
    assert find([tmp_path / "c"]).sources == ("c",)
    joined = find([tmp_path], join=True)
    assert (joined.sources, {unit.source for unit in joined.units}) == (("",), {0})


def test_folders_patterns_and_files(tmp_path):
    for name in ("a.jsonl", "below/b.jsonl", ".hidden/c.jsonl", "below/_temporary"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_history(tmp_path / name, [put_and_get(name)], "jsonl")
    names = lambda *given: [str(Path(file).relative_to(tmp_path)) for file in find(given).files]  # noqa: E731
    assert names(tmp_path) == ["a.jsonl", "below/b.jsonl"]
    assert names(f"{tmp_path}/*/b.jsonl", tmp_path / "a.jsonl", tmp_path) == ["a.jsonl", "below/b.jsonl"]
    (tmp_path / "empty").mkdir()
    assert [text.split(":")[0] for text in find([tmp_path / "empty", f"{tmp_path}/x*", "gone"]).problems] == [
        f"{tmp_path}/empty",
        f"{tmp_path}/x*",
        "gone",
    ]


def line(history="h", **changes):
    row = {"history": history, "process": 0, "f": "get", "arguments": ["k"], "result": None, "invoke": 0, "return": 1}
    row |= changes
    return json.dumps({name: value for name, value in row.items() if value != "absent"})


@pytest.mark.parametrize(
    "wrong",
    [
        line(process="absent"), line(process=True), line(invoke="0"), line(invoke=2**70), line(f=None), line(more=1),
        line(arguments="k"), line(object=1), line(**{"return": "absent"}),
    ],
)  # fmt: skip
def test_a_malformed_line_is_the_problem_of_its_history(tmp_path, wrong):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join([line("other"), "", wrong, line("third")]) + "\n")
    found, problems = read([path], tmp_path)
    with pytest.raises(HistoryFormatError) as told:
        read_history(path)
    assert problems == {("h", str(told.value))}
    assert told.value.line == 3
    assert set(found) == {"other", "third"}


@pytest.mark.parametrize("wrong", ["{", "[]", line(history=7), line(history="absent"), '{"history": NaN}', "\udcff"])
def test_a_line_of_nobody_taints_the_file(tmp_path, monkeypatch, wrong):
    monkeypatch.setattr(inputs, "UNIT", 40)
    path, other = tmp_path / "x.jsonl", tmp_path / "y.jsonl"
    path.write_bytes("\n".join([line("a"), line("b"), wrong, line("c"), ""]).encode("utf-8", "surrogateescape"))
    other.write_text(line("d") + "\n")
    found, problems = read([tmp_path], tmp_path)
    with pytest.raises(HistoryFormatError) as told:
        read_history(path)
    assert problems == {(name, str(told.value)) for name in (None, "a", "b", "c")}
    assert set(found) == {"d"}


def test_a_damaged_row_group_taints_the_file(tmp_path):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get(f"h{number}") for number in range(10)])
    pq.write_table(pq.read_table(path), path, row_group_size=10, compression="none", use_dictionary=False)
    damaged = bytearray(path.read_bytes())
    at = pq.ParquetFile(path).metadata.row_group(1).column(2).data_page_offset
    damaged[at : at + 40] = b"\xff" * 40
    path.write_bytes(damaged)
    found, problems = read([path], tmp_path)
    assert not found
    assert {name for name, _ in problems} == {None, *(f"h{number}" for number in range(10))}
    (text,) = {text for _, text in problems}
    assert text.startswith(f"{path}: row group 1: ")


@pytest.mark.parametrize("how", ["cut", "no column", "wrong type", "unknown column", "text"])
def test_a_parquet_file_that_is_none_is_told_before_the_job(tmp_path, how):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get("h")])
    table = pq.read_table(path)
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "text":
        path.write_text("nothing of the kind")
    else:
        changed = {
            "no column": lambda: table.drop_columns(["f"]),
            "wrong type": lambda: table.set_column(4, "invoke", table["f"]),
            "unknown column": lambda: table.append_column("more", table["f"]),
        }
        pq.write_table(changed[how](), path)
    (told,) = find([path]).problems
    assert told.startswith(f"{path}:1: expected ")
    _, problems = read([path], tmp_path)
    assert (None, told) in problems


def test_a_row_without_a_history(tmp_path):
    path = tmp_path / "x.parquet"
    write_history(path, [put_and_get("a"), put_and_get("b")])
    table = pq.read_table(path)
    pq.write_table(table.set_column(0, "history", pa.array(["a", "a", None, "b"])), path, row_group_size=2)
    _, problems = read([path], tmp_path)
    assert problems == {(name, f'{path}:3: expected a string as "history", got null') for name in (None, "a", "b")}


def test_line_numbers(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\n\nbb\n" + b"x" * (3 << 20) + b"\nc\n")
    assert lines_of(path, [6 + (3 << 20) + 1, 0, 3]) == [1, 3, 5]
