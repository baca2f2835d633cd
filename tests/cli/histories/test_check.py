"""``latchfree check``: verdicts, artefacts, and what it says about input it cannot judge."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import latchfree_lincheck
from latchfree_cli import exits
from latchfree_cli.app import app

Operations = list[tuple[int, str, list[object], object, int, int | None]]

GOOD: Operations = [(0, "put", [1, 5], None, 0, 1), (1, "get", [1], 5, 2, 3)]
STALE: Operations = [(0, "put", [1, 5], None, 0, 1), (1, "get", [1], None, 2, 3)]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def write(name: str, **histories: Operations) -> str:
    """Write histories as JSON lines and return the path."""
    with Path(name).open("w") as file:
        for history, operations in histories.items():
            for process, f, arguments, result, invoke, returned in operations:
                line = {"history": history, "process": process, "f": f, "arguments": arguments, "result": result}
                file.write(json.dumps({**line, "invoke": invoke, "return": returned}) + "\n")
    return name


def check(*arguments: str) -> Result:
    """Run ``latchfree check``."""
    return CliRunner().invoke(app, ["check", *arguments])


def test_ok() -> None:
    result = check(write("good.jsonl", one=GOOD, two=GOOD), "--model", "map")
    assert result.exit_code == exits.OK
    assert result.stdout.startswith("good.jsonl: one: ok (2 operations, ")
    assert len(result.stdout.splitlines()) == 2


def test_violation_says_why_and_how_to_see_it_again() -> None:
    result = check(write("bad.jsonl", one=STALE), "--model", "map")
    assert result.exit_code == exits.VIOLATION
    assert "key 1 held 5" in result.stdout
    assert result.stdout.splitlines()[-1] == "latchfree check bad.jsonl --model map"
    assert "key 1 held 5" in Path("out/check/bad-one.txt").read_text()


def test_the_violating_history_of_several_is_written_alone() -> None:
    result = check(write("both.jsonl", one=GOOD, two=STALE), "--model", "map", "-o", "files")
    assert result.exit_code == exits.VIOLATION
    command = result.stdout.splitlines()[-1].split()
    assert command == ["latchfree", "check", "files/check/both-two.jsonl", "--model", "map"]
    again = CliRunner().invoke(app, [*command[1:], "--json"])
    assert again.exit_code == exits.VIOLATION
    assert [entry["history"] for entry in json.loads(again.stdout)["histories"]] == ["two"]


def test_json() -> None:
    result = check(
        write("both.jsonl", one=GOOD, two=STALE), write("good.jsonl", three=GOOD), "--model", "map", "--json"
    )
    assert result.exit_code == exits.VIOLATION
    document = json.loads(result.stdout)
    assert (document["version"], document["verdict"]) == (1, "violation")
    assert [(e["file"], e["history"], e["verdict"], e["operations"]) for e in document["histories"]] == [
        ("both.jsonl", "one", "ok", 2),
        ("both.jsonl", "two", "violation", 2),
        ("good.jsonl", "three", "ok", 2),
    ]
    assert all({"reason", "seconds", "model"} <= set(entry) for entry in document["histories"])


def test_a_weaker_promise_may_hold() -> None:
    stale = write("stale.jsonl", one=STALE)
    assert check(stale, "--model", "map").exit_code == exits.VIOLATION
    weaker = check(stale, "--model", "map", "--criterion", "sequential-consistency")
    assert weaker.exit_code == exits.OK


def test_updates_may_be_kept_back() -> None:
    """Of three adds of one process a read misses two: right with a relaxation of 2, wrong with 1."""
    adds: Operations = [(0, "add", [1], None, 2 * at, 2 * at + 1) for at in range(3)]
    file = write("buffers.jsonl", one=[*adds, (1, "read", [], 1, 6, 7)])
    relaxed = file, "--model", "counter", "--criterion", "intermediate-value", "--relaxation"
    assert check(*relaxed, "2").exit_code == exits.OK
    result = check(*relaxed, "1")
    assert result.exit_code == exits.VIOLATION
    assert "--criterion intermediate-value --relaxation 1" in result.stdout + result.stderr
    assert check(*relaxed[:-1]).exit_code == exits.VIOLATION
    assert check(*relaxed, "-1").exit_code == exits.USAGE


@pytest.mark.parametrize("engine", ["auto", "frontier", "wgl", "python", "smt"])
def test_the_engine_is_chosen(engine: str) -> None:
    result = check(write("stale.jsonl", one=STALE), "--model", "map", "--engine", engine, "--json")
    assert result.exit_code == exits.VIOLATION
    (entry,) = json.loads(result.stdout)["histories"]
    assert engine == "auto" or entry["engine"].startswith(engine)


def test_a_malformed_file_leaves_no_verdict() -> None:
    good = write("good.jsonl", one=GOOD)
    Path("bad.jsonl").write_text(Path(good).read_text() + '{"history": "one", "process": 0}\n')
    result = check(good, "bad.jsonl", "--model", "map", "--json")
    assert result.exit_code == exits.USAGE
    assert "bad.jsonl:3: expected" in result.stderr
    document = json.loads(result.stdout)
    assert document["verdict"] is None
    assert "histories" not in document


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["good.jsonl"], "good.jsonl: say what to check against: --model map|register|cas-register|append-kv"),
        (["good.jsonl", "--model", "heap"], "no model is called 'heap'"),
        (["good.jsonl", "--model", "map", "--format", "xml"], "xml"),
        (
            ["good.jsonl", "--model", "register"],
            "good.jsonl:1: expected a call of the model 'register', got put(1, 5): the model",
        ),
        (["absent.jsonl", "--model", "map"], "absent.jsonl: No such file"),
        (["good.jsonl", "--model", "map", "--engine", "magic"], "--engine 'magic' is unknown; choose one of auto, "),
        (["good.jsonl", "--model", "map", "--criterion", "luck"], "--criterion 'luck' is unknown; choose one of lin"),
        (
            ["good.jsonl", "--model", "map", "--relaxation", "2"],
            "--relaxation is for --criterion intermediate-value; leave it out with linearizability",
        ),
        (
            ["good.jsonl", "--model", "map", "--criterion", "sequential-consistency", "--engine", "wgl"],
            "--engine is for linearizability; leave it out with --criterion sequential-consistency",
        ),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    write("good.jsonl", one=GOOD)
    result = check(*arguments)
    assert result.exit_code == exits.USAGE
    assert words in result.stderr
    assert result.stdout == ""


def test_nothing_to_check() -> None:
    Path("empty.jsonl").write_text("")
    result = check("empty.jsonl", "--model", "map", "--format", "jsonl")
    assert result.exit_code == exits.NOTHING


def test_unknown_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = latchfree_lincheck.Verdict(
        verdict="unknown", reason="timeout after 1 s", operations=2, seconds=1.0, engine="python"
    )
    monkeypatch.setattr("latchfree_lincheck.checking.checker.check", lambda *_, **__: unknown)
    result = check(write("hard.jsonl", one=GOOD), "--model", "map", "--timeout", "1")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "unknown: timeout after 1 s" in result.stdout


def test_a_history_that_cannot_be_judged_is_inconclusive() -> None:
    mixed: Operations = [(0, "insert", [1], None, 0, 1), (0, "insert", ["a"], None, 2, 3)]
    result = check(write("mixed.jsonl", one=mixed), "--model", "priority-queue")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "unknown: insert('a'): items of a priority queue must be comparable" in result.stdout


def test_quiet_says_only_what_is_wrong() -> None:
    both = write("both.jsonl", one=GOOD, two=STALE)
    assert check(write("good.jsonl", one=GOOD), "--model", "map", "-q").stdout == ""
    assert "one: ok" not in check(both, "--model", "map", "-q").stdout


COMPILED = """
from latchfree_model import CompiledModel, fits

def step(state, op, argument, result):
    return (fits(result, state), state) if op == 0 else (True, argument)

def broken(state, op, argument, result):
    return True, state / 2

cell = CompiledModel("cell", 0, {"load": 0, "store": 1}, step, readonly=["load"])
halves = CompiledModel("halves", 0, {"load": 0}, broken)
"""


def test_a_compiled_model_of_ones_own() -> None:
    Path("own_cells.py").write_text(COMPILED)
    stale: Operations = [(0, "store", [5], None, 0, 1), (1, "load", [], 0, 2, 3)]
    result = check(write("cells.jsonl", one=stale), "--model", "own_cells:cell", "--py-files", "own_cells.py")
    assert result.exit_code == exits.VIOLATION, result.output
    assert "load() returned 0, but the state was 5" in result.stdout
    result = check("cells.jsonl", "--model", "own_cells:halves", "--py-files", "own_cells.py")
    assert result.exit_code == exits.USAGE
    assert "step of 'halves' returns (bool, float64)" in result.output
