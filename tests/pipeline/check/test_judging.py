"""Chunks: verdicts are those of the local checker, and the same bytes whatever the batches."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from lincheck_random import KINDS, model_of, random_history
from pipeline_jobs import content, fragments, put_and_get, shuffled, verdicts

from latchfree_lincheck import History, Operation, check, read_history, write_history
from latchfree_lincheck.formats import HistoryFormatError
from latchfree_spark.check import Options
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.chunks import judge_chunks
from latchfree_spark.check.judge.giants import fold, group_file, groups, judge_groups
from latchfree_spark.check.options import LEVELS


def judged(table, job, folder, rows=1000, chunks=2, **options):
    """Judge fragments without Spark; return the rows of verdicts by history."""
    job = replace(job, folder=str(folder), options=replace(job.options, **options))
    list(judge_chunks(shuffled(table, chunks, rows), job))
    return {row["history"]: row for row in verdicts(folder)}


@pytest.mark.parametrize("kind", KINDS)
def test_verdicts_are_those_of_the_local_checker(tmp_path, kind):
    histories = [random_history(kind, seed) for seed in range(40)]
    write_history(tmp_path / "x.jsonl", histories)
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options(model_of(kind).name, saved=1))
    found = judged(table, job, tmp_path / "out")
    assert len(found) == len(histories)
    for history in histories:
        verdict, row = check(history, model_of(kind)), found[history.name]
        assert (row["verdict"], row["operations"]) == (verdict.verdict, len(history))
        assert (row["failing"] is None) == (verdict.failing is None)
    assert {row["verdict"] for row in found.values()} == {"ok", "violation"}


def test_the_batches_make_no_difference(tmp_path):
    histories = [random_history("map", seed, most=12) for seed in range(60)]
    write_history(tmp_path / "x.parquet", histories)
    job, table = fragments([tmp_path / "x.parquet"], tmp_path, Options("map", saved=2))
    alone = pa.concat_tables(
        table.slice(at, 1) for at in np.random.default_rng(1).permutation(len(table)).tolist()
    )  # in any order
    once = {}
    for rows in (1, 3, 17, 1000):
        folder = tmp_path / f"out{rows}"
        judged(alone, job, folder, rows)
        once[rows] = content(folder), sorted(path.name for path in (folder / "failing").iterdir())
    assert once[1] == once[3] == once[17] == once[1000]
    assert len(once[1][0]) == 2


def test_a_history_in_several_files_is_one(tmp_path):
    history = put_and_get("h", operations=9)
    for number, operation in enumerate(history.operations):
        write_history(tmp_path / f"{number}.jsonl", [type(history)("h", [operation])])
    job, table = fragments([tmp_path], tmp_path, Options("map", join=True))
    assert len(table) == 10
    found = judged(table, job, tmp_path / "out", rows=2)
    assert (found["h"]["verdict"], found["h"]["operations"]) == ("ok", 10)


def test_a_file_that_counts_from_zero_again_has_histories_of_its_own(tmp_path):
    """Two nights write h0. Taken for one history, the second get sees what the other night has put: a violation."""
    for night in (1, 2):
        write_history(tmp_path / f"{night}.parquet", [put_and_get("h0", night, operations=6), put_and_get("h1")])
    for join, giant, rows in ((False, 100, 1), (False, 100, 9), (False, 4, 9), (True, 100, 9)):
        options = Options("map", join=join, giant=giant)
        job, table = fragments(sorted(tmp_path.glob("*.parquet")), tmp_path, options)
        out = tmp_path / f"{join}{giant}{rows}"
        list(judge_chunks(shuffled(table, 2, rows), replace(job, folder=str(out))))
        found = {(row["source"], row["history"]): row["verdict"] for row in verdicts(out)}
        if join:
            assert found == {("", "h0"): "error", ("", "h1"): "error"}  # a process calls twice at once
        elif giant == 100:
            assert found == {(f"{night}.parquet", name): "ok" for night in (1, 2) for name in ("h0", "h1")}
        else:
            asked = [{"giant": each, "part": 0} for each in groups(out)]
            list(judge_groups([pa.RecordBatch.from_pylist(asked)], replace(job, folder=str(out))))
            rows_of = [fold(out, each, options) for each in groups(out)]
            assert {(row["source"], row["history"], row["operations"]) for row in rows_of} == {
                ("1.parquet", "h0", 7),
                ("2.parquet", "h0", 7),
            }


def test_what_is_wrong_is_told_as_the_local_reader_tells_it(tmp_path):
    good, bad = (
        {"history": "h", "process": 0, "f": "get", "arguments": ["k"], "result": 1, "invoke": 0, "return": 1},
        [],
    )
    bad.append([{"f": "frobnicate"}])
    bad.append([{"arguments": []}])
    bad.append([{"return": -1}])
    bad.append([{"return": None}])
    bad.append([{}, {"invoke": 0, "return": 4}])
    (tmp_path / "in").mkdir()
    expected = {}
    for number, changes in enumerate(bad):
        path = tmp_path / "in" / f"{number}.jsonl"
        rows = [good | {"history": f"bad{number}"} | change for change in changes]
        path.write_text("\n" + "".join(json.dumps(row) + "\n" for row in rows))
        with pytest.raises(ValueError, match=r":[23]: expected") as told:
            read_history(path, model="map")
        expected[f"bad{number}"] = str(told.value)
    write_history(tmp_path / "in" / "good.jsonl", [put_and_get(f"good{number}") for number in range(20)])
    job, table = fragments([tmp_path / "in"], tmp_path)
    found = judged(table, job, tmp_path / "out")
    for name, row in found.items():
        assert (row["verdict"], row["reason"]) == (
            ("error", expected[name]) if name in expected else ("ok", "linearizable")
        )
    assert len(found) == 25


def test_a_history_without_a_model(tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h")])
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options())
    row = judged(table, job, tmp_path / "out")["h"]
    assert row["verdict"] == "error"
    assert row["reason"].startswith(f"{tmp_path}/x.jsonl: h: say what to check against: --model map|register|")
    assert judged(table, job, tmp_path / "out2", model="mop")["h"]["reason"].endswith("topic-index:DIALECT")


def test_each_history_can_have_its_own_model(tmp_path):
    histories = [random_history(kind, seed) for kind in ("stack", "queue", "register") for seed in range(5)]
    for history in histories:
        history.model_hint = history.name.partition("-")[0]
    write_history(tmp_path / "x.parquet", histories)
    job, table = fragments([tmp_path / "x.parquet"], tmp_path, Options())
    found = judged(table, job, tmp_path / "out")
    assert {name: row["verdict"] for name, row in found.items()} == {
        history.name: check(history, history.model_hint).verdict for history in histories
    }


def test_failing_histories_are_saved_whole_and_shrunk(tmp_path):
    histories = [put_and_get(f"bad/{number}", 'a"ä', seen="other", operations=6) for number in range(5)]
    write_history(tmp_path / "x.jsonl", histories)
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options("map", saved=2))
    found = judged(table, job, tmp_path / "out", chunks=1)
    saved = {name: row["saved"] for name, row in found.items() if row["saved"]}
    assert sorted(saved) == ["bad/0", "bad/1"]
    for name, file in saved.items():
        (again,) = read_history(tmp_path / "out" / file)
        assert (again.name, again.model_hint) == (name, "map")
        assert again.operations == next(each for each in histories if each.name == name).operations
        assert check(again, "map").failing == found[name]["failing"]
        (small,) = read_history(tmp_path / "out" / file.replace(".jsonl", "-small.jsonl"))
        assert len(small) < len(again)
        assert check(small, "map").verdict == "violation"


def write_alone(folder, history):
    """Write a history to a file, which says some things in another way: an empty snapshot is an empty list."""
    write_history(folder / "alone.jsonl", [history])
    return folder / "alone.jsonl"


@pytest.mark.parametrize("kind", ["map", "whole-map", "set", "queue", "counter"])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_giants_are_judged_in_parts(tmp_path, kind, levels):
    histories = []
    for seed in range(30):
        history = random_history(kind, seed, most=14)
        operations = [replace(each, object="ab"[at % 2]) for at, each in enumerate(history.operations)]
        histories.append(type(history)(history.name, operations))
    write_history(tmp_path / "x.jsonl", histories)
    options = Options(kind.removeprefix("whole-"), giant=4, by=LEVELS[:levels], saved=0)
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, options)
    found = judged(table, job, tmp_path / "out")
    job = replace(job, folder=str(tmp_path / "out"))
    giants = groups(job.folder)
    assert set(found) == {history.name for history in histories if len(history) <= 4}
    assert (max(giants.values()) > 1) == (levels > 1)
    asked = [{"giant": giant, "part": number} for giant, count in giants.items() for number in range(count)]
    list(judge_groups([pa.RecordBatch.from_pylist(asked)], job))
    assert all(group_file(job.folder, each["giant"], each["part"]).exists() for each in asked)
    for giant in giants:
        row = fold(job.folder, giant, options)
        history = next(each for each in histories if each.name == row["history"])
        verdict = check(history, options.model)
        assert (row["verdict"], row["operations"]) == (verdict.verdict, len(history))
        if row["verdict"] == "violation":
            (again,) = read_history(tmp_path / "out" / row["saved"])
            (whole,) = read_history(write_alone(tmp_path, history))
            assert sorted(map(str, again.operations)) == sorted(map(str, whole.operations))
            assert again.operations[row["failing"]].return_ is not None


def test_a_giant_that_is_no_history(tmp_path):
    history = put_and_get("h", operations=9)
    path = tmp_path / "x.jsonl"
    write_history(path, [history])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[-1].replace('["k"]', '["other"]')]))  # a process calls twice at once
    job, table = fragments([path], tmp_path, Options("map", giant=4))
    row = judged(table, job, tmp_path / "out")["h"]
    assert (row["verdict"], row["operations"]) == ("error", 11)
    assert row["reason"].startswith(f"{path}:11: expected one operation of process 1 invoked at")
    assert not groups(tmp_path / "out")


def test_unpacked_histories_can_be_taken_one_by_one(tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("a"), put_and_get("b", operations=3)])
    _, table = fragments([tmp_path / "x.jsonl"], tmp_path)
    batch = unpack(table).part(1, 2)
    assert (batch.names, batch.bounds.tolist(), len(batch.files)) == (["b"], [0, 4], 4)


def added(name, value, seen=1):
    return History(name, [Operation(0, "add", (value,), None, 0, 1), Operation(0, "read", (), seen, 2, 3)])


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("giant", [1, 100])
def test_a_value_is_not_taken_for_the_equal_one_of_another_history(tmp_path, names, giant):
    """A counter adds 1, but not true, which is equal to 1: whichever of them comes first in a batch."""
    good, bad = names
    write_history(tmp_path / "x.jsonl", [added(good, 1), added(bad, True), added("wrong", 1, seen=2)])
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options("counter", giant=giant))
    found = judged(table, job, tmp_path / "out", chunks=1)
    assert found[bad]["reason"] == (
        f"{tmp_path}/x.jsonl:3: expected a call of the model 'counter', got add(True):"
        " 'add' of 'counter' takes an integer, not True"
    )
    if giant == 100:
        assert (found[good]["verdict"], found["wrong"]["verdict"]) == ("ok", "violation")
    else:
        assert len(groups(tmp_path / "out")) == 2


def test_a_giant_adds_no_truth(tmp_path):
    whole = History("h", [*added("h", 1).operations, Operation(1, "add", (True,), None, 4, 5)])
    write_history(tmp_path / "x.jsonl", [whole])
    job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options("counter", giant=2))
    assert "add(True)" in judged(table, job, tmp_path / "out", chunks=1)["h"]["reason"]


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_history_has_one_model(tmp_path, kind, rows):
    """As for the library, also where some of its operations name none, and in several files."""
    calls = put_and_get("h", operations=5).operations
    for number, model in enumerate(("map", None, "map", "register", "map")):
        write_history(tmp_path / f"{number}.{kind}", [History("h", calls[number : number + 1], model)])
    job, table = fragments(sorted(tmp_path.glob(f"*.{kind}")), tmp_path, Options(join=True))
    row = judged(table, job, tmp_path / "out", rows=rows, chunks=1)["h"]
    assert row["verdict"] == "error"
    assert "expected one model for a history, got map | register; choose one: --model map" in row["reason"]
    table = table.filter(pc.not_equal(table["file"], 3))
    assert judged(table, job, tmp_path / "same", rows=rows, chunks=1)["h"]["verdict"] == "ok"
    asked = judged(table, job, tmp_path / "asked", rows=rows, chunks=1, model="map")["h"]
    assert asked["verdict"] == "ok"


def test_a_history_of_one_file_has_one_model(tmp_path):
    calls = put_and_get("h", operations=3).operations
    write_history(tmp_path / "x.parquet", [History("h", calls, "map"), put_and_get("other")])
    table = pq.read_table(tmp_path / "x.parquet")
    models = ["map", None, "register", "map"][: len(calls)] + [None] * (len(table) - len(calls))
    pq.write_table(table.set_column(table.column_names.index("model"), "model", [models]), tmp_path / "x.parquet")
    job, table = fragments([tmp_path / "x.parquet"], tmp_path, Options())
    assert "got map | register" in judged(table, job, tmp_path / "out", chunks=1)["h"]["reason"]
    with pytest.raises(HistoryFormatError, match=r"x\.parquet:3: expected 'map', the model of the history 'h'"):
        read_history(tmp_path / "x.parquet")
