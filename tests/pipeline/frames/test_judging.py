"""Rows to verdicts without Spark: one row for each history, whatever the batches, the partitions and the order."""

import random
import shlex
import sys
import zlib
from dataclasses import replace

import pytest
from lincheck_random import KINDS, model_of, random_history
from pipeline_frames import by_hand, rows_of
from pipeline_jobs import put_and_get
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import History, Operation, check
from latchfree_lincheck.criteria import CRITERIA
from latchfree_lincheck.formats import read_history
from latchfree_spark.check import Options

MALFORMED = (
    {"invoke": None},
    {"process": "nobody"},
    {"process": None},
    {"f": "frobnicate"},
    {"f": None},
    {"arguments": "{"},
    {"arguments": '"k"'},
    {"arguments": None},
    {"result": "["},
    {"return": -1},
)


def in_order(history):
    """Return a history as the workers order it."""
    last = 2**63 - 1
    operations = sorted(
        history.operations, key=lambda each: (each.invoke, last if each.return_ is None else each.return_)
    )
    return History(history.name, operations, history.model_hint)


@pytest.mark.parametrize("seed", range(12))
def test_each_history_has_one_row_with_the_verdict_of_the_library(seed):
    chance = random.Random(f"frames {seed}")
    kind = chance.choice(KINDS)
    expected, rows = {}, []
    for number in range(chance.randrange(1, 60)):
        history = random_history(kind, seed * 1000 + number, most=chance.choice((3, 7, 40)))
        run, name = chance.choice(((None, f"h{number}"), (1, None), (2, f"h{number % 7}")))
        if (run, name) in expected:
            continue
        mine = rows_of([history])
        verdict = check(history, model_of(kind).name).verdict
        if chance.random() < 0.2:
            mine[chance.randrange(len(mine))].update(chance.choice(MALFORMED))
            verdict = "error"
        expected[run, name] = (verdict, len(mine))
        rows += [row | {"run": run, "name": name} for row in mine]
    if chance.random() < 0.7:
        chance.shuffle(rows)
    options = Options(model_of(kind).name, saved=1)
    found = {}
    for partitions, batch in ((1, 1000), (2, 5), (8, 17)):
        answer = by_hand(rows, ["run", "name"], partitions, batch, options)
        assert len(answer) == len(expected)
        told = {(row["run"], row["name"]): row for row in answer}
        assert {key: (row["verdict"], row["operations"]) for key, row in told.items()} == expected
        for row in answer:
            for unsure in ("seconds", "witness", "reproduce", "engine", "states"):
                row.pop(unsure)
        found[partitions] = told
    assert found[1] == found[2] == found[8]


def test_failing_counts_in_order_of_time():
    histories = [in_order(random_history("map", seed, most=12)) for seed in range(80)]
    rows = rows_of(histories)
    random.Random(5).shuffle(rows)
    for row in by_hand(rows, ["history"], batch=50):
        history = next(each for each in histories if each.name == row["history"])
        verdict = check(history, "map")
        assert (row["verdict"], row["failing"], row["reason"]) == (verdict.verdict, verdict.failing, verdict.reason)


def test_names_that_read_alike_are_different_histories():
    good, bad = put_and_get("h"), put_and_get("h", seen=7)
    rows = [row | {"a": "x/y", "b": "z"} for row in rows_of([good])]
    rows += [row | {"a": "x", "b": "y/z"} for row in rows_of([bad])]
    rows += [row | {"a": "null", "b": "null"} for row in rows_of([good])]
    rows += [row | {"a": None, "b": None} for row in rows_of([bad])]
    found = {(row["a"], row["b"]): row["verdict"] for row in by_hand(rows, ["a", "b"])}
    assert found == {("x/y", "z"): "ok", ("x", "y/z"): "violation", ("null", "null"): "ok", (None, None): "violation"}


def test_a_malformed_row_is_named_by_its_place_in_time():
    rows = rows_of([put_and_get("h", operations=3)])
    rows[2]["process"] = "nobody"
    (row,) = by_hand(rows[::-1], ["history"])
    assert row["verdict"] == "error"
    assert row["reason"].startswith("operation:3: expected JSON text in column 'process', got 'nobody'")


def test_the_object_may_name_a_history():
    operations = [Operation(0, "put", ("x", 1), None, 0, 1, "a"), Operation(0, "get", ("x",), 1, 2, 3, "a")]
    operations += [Operation(0, "put", ("y", 1), None, 4, 5, "b"), Operation(0, "get", ("y",), 2, 6, 7, "b")]
    found = by_hand(rows_of([History("h", operations)]), ["history", "object"])
    told = sorted((row["object"], row["verdict"], row["key"]) for row in found)
    assert told == [("a", "ok", None), ("b", "violation", '"y"')]


@pytest.mark.parametrize("key", ["b'1'", "float('inf')"])
def test_a_key_that_is_no_json_costs_no_verdict(tmp_path, monkeypatch, key):
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    name = f"own_keys_{zlib.crc32(key.encode())}"
    (tmp_path / f"{name}.py").write_text(
        "from latchfree_model.models.map import MapModel\n"
        "class Odd(MapModel):\n"
        "    def partition(self, call):\n"
        f"        return {key} if call.result == 9 else 'k'\n"
    )
    (row,) = by_hand(rows_of([put_and_get("h", seen=9)]), ["history"], options=Options(f"{name}:Odd"))
    assert row["key"] is None
    assert row["verdict"] == "violation"


def test_so_many_violations_have_a_witness(tmp_path):
    rows = rows_of([put_and_get(f"h{number}", seen=9, operations=20) for number in range(5)])
    found = by_hand(rows, ["history"], options=Options("map", saved=2))
    assert [row["verdict"] for row in found] == ["violation"] * 5
    shown = [row for row in found if row["witness"]]
    assert len(shown) == 2
    for row in shown:
        (tmp_path / "small.jsonl").write_text(row["witness"])
        (small,) = read_history(tmp_path / "small.jsonl")
        assert small.name == f"{row['history']}-small"
        assert len(small) < 21
        assert check(small, "map").verdict == "violation"
    assert [row["reproduce"] for row in found if not row["witness"]] == [None] * 3


@pytest.mark.parametrize("criterion", sorted({*CRITERIA} - {"intermediate-value"}))  # that one is for counters
def test_the_command_of_a_row_judges_its_witness_again(tmp_path, criterion):
    histories = [put_and_get("good"), put_and_get("bad", seen=9, operations=20)]
    options = Options("map", saved=5, criterion=criterion)
    bad, good = sorted(by_hand(rows_of(histories), ["history"], options=options), key=lambda row: row["history"])
    assert (good["verdict"], good["witness"], good["reproduce"], good["key"]) == ("ok", None, None, None)
    assert bad["verdict"] == "violation"
    assert bad["key"] == ('"k"' if criterion == "linearizability" else None)
    called = CliRunner().invoke(app, shlex.split(bad["reproduce"])[1:], input=bad["witness"])
    assert called.exit_code == exits.VIOLATION, called.output
    (tmp_path / "witness.jsonl").write_text(bad["witness"])
    (again,) = read_history(tmp_path / "witness.jsonl")
    assert (len(again) < 21) == (criterion == "linearizability")


def test_the_object_and_the_key_that_no_order_explains():
    operations = [Operation(0, "put", ("x", 1), None, 0, 1, "a"), Operation(0, "get", ("x",), None, 2, 3, "b")]
    operations += [Operation(0, "put", ("y", 1), None, 4, 5, "b"), Operation(0, "get", ("y",), 2, 6, 7, "b")]
    (row,) = by_hand(rows_of([History("h", operations)]), ["history"])
    assert (row["verdict"], row["failing"], row["object"], row["key"]) == ("violation", 3, "b", '"y"')


def test_a_defect_of_the_judge_costs_one_verdict():
    rows = rows_of([put_and_get(f"h{number}", 666 if number == 4 else 1) for number in range(9)])
    found = {
        row["history"]: row
        for row in by_hand(rows, ["history"], options=Options("map", judge="pipeline_judges:raises"))
    }
    assert {name for name, row in found.items() if row["verdict"] != "ok"} == {"h4"}
    assert found["h4"]["reason"] == "judging it failed: RuntimeError: a defect of the judge"
    assert found["h4"]["verdict"] == "unknown"


def test_the_order_of_operations_at_one_time_makes_no_difference():
    history = put_and_get("h", seen=5, operations=6)
    tied = History("h", [replace(each, process=at, invoke=0) for at, each in enumerate(history.operations)])
    rows = rows_of([tied])
    rows[3]["process"] = "nobody"
    reasons = set()
    for seed in range(6):
        random.Random(seed).shuffle(rows)
        (row,) = by_hand(rows, ["history"])
        reasons.add(row["reason"])
    assert len(reasons) == 1
