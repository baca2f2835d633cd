"""``latchfree shrink``: the small history is shown and written, and checks again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> Result:
    """Run ``latchfree``."""
    return CliRunner().invoke(app, arguments)


def write(name: str, stale: bool, history: str = "one") -> None:
    """Append a history of 200 puts and gets on 4 keys; the last get may read a value long gone."""
    with Path(name).open("a") as file:
        for turn in range(200):
            key, put = turn % 4, turn % 8 < 4
            result = None if put and turn < 8 else turn - 8 if put else turn - 4
            if stale and turn == 199:
                result = 3
            record = {"history": history, "process": turn % 3, "f": "put" if put else "get"}
            arguments = [key, turn] if put else [key]
            times = {"invoke": 2 * turn, "return": 2 * turn + 1}
            file.write(json.dumps({**record, "arguments": arguments, "result": result, **times}) + "\n")


def test_a_violation_becomes_small() -> None:
    write("bad.jsonl", stale=True)
    result = run("shrink", "bad.jsonl", "--model", "map", "-o", "small")
    assert result.exit_code == exits.VIOLATION
    assert "200 operations, of which 3 are a violation" in result.stdout
    assert "get(3) -> 3  ✗" in result.stdout
    assert "get(3) returned 3, but key 3 held" in result.stdout
    assert "as far as it can be explained: put(3, 3), then put(3, " in result.stdout
    again = result.stdout.splitlines()[-1].split()
    assert again == ["latchfree", "check", "small/shrink/bad-small.jsonl", "--model", "map"]
    assert run(*again[1:]).exit_code == exits.VIOLATION


def test_json() -> None:
    write("bad.jsonl", stale=True)
    document = json.loads(run("shrink", "bad.jsonl", "--model", "map", "--json").stdout)
    assert (document["verdict"], document["operations"], document["small"]) == ("violation", 200, 3)
    assert Path(document["artefact"]).exists()


def test_of_several_histories_the_one_that_is_wrong_or_named() -> None:
    write("both.jsonl", stale=False)
    write("both.jsonl", stale=True, history="two")
    result = run("shrink", "both.jsonl", "--model", "map")
    assert result.exit_code == exits.VIOLATION
    assert "two: 200 operations, of which 3" in result.stdout
    result = run("shrink", "both.jsonl", "--model", "map", "--history", "one")
    assert result.exit_code == exits.OK
    assert "there is no violation to shrink" in result.stdout
    result = run("shrink", "both.jsonl", "--model", "map", "--history", "three")
    assert result.exit_code == exits.USAGE
    assert "there is no history called 'three'" in result.stderr


def test_what_cannot_be_judged_is_refused() -> None:
    write("good.jsonl", stale=False)
    for model, words in ((None, "say what to check against"), ("heap", "no model is called"), ("set", "no operation")):
        result = run("shrink", "good.jsonl", *(["--model", model] if model else []))
        assert result.exit_code == exits.USAGE
        assert words in result.stderr
    Path("empty.jsonl").write_text("")
    assert run("shrink", "empty.jsonl", "--model", "map").exit_code == exits.NOTHING
