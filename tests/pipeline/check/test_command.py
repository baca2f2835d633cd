"""``latchfree pipeline check``: exit codes and what it prints."""

import json

import pytest
from pipeline_jobs import put_and_get
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import write_history


@pytest.fixture
def check(spark, tmp_path, monkeypatch):
    """Run the command in an empty folder, on the tests' session."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        return CliRunner().invoke(app, ["pipeline", "check", *arguments, "--chunks", "1"])

    return run


def test_ok_and_the_output_is_not_overwritten(check):
    write_history("x.jsonl", [put_and_get("a"), put_and_get("b")])
    result = check("x.jsonl", "out", "--model", "map")
    assert result.exit_code == exits.OK, result.output
    assert "2 histories, 4 operations: 2 ok" in result.stdout
    again = check("x.jsonl", "out", "--model", "map")
    assert again.exit_code == exits.USAGE
    assert "expected an output folder that is not there yet" in again.stderr


def test_a_violation_ends_with_a_command_that_shows_it(check):
    write_history("x.jsonl", [put_and_get("a"), put_and_get("bad one", seen=5)])
    result = check("x.jsonl", "out", "--model", "map", "--json")
    assert result.exit_code == exits.VIOLATION
    payload = json.loads(result.stdout)
    assert payload["verdicts"] == {"ok": 1, "violation": 1, "unknown": 0, "error": 0}
    command = payload["reproduce"].split()
    assert command[:2] == ["latchfree", "check"]
    assert CliRunner().invoke(app, command[1:]).exit_code == exits.VIOLATION


def test_bad_input(check):
    write_history("x.jsonl", [put_and_get("a")])
    with open("x.jsonl", "a") as file:  # noqa: PTH123
        file.write("{\n")
    result = check("x.jsonl", "out", "--model", "map")
    assert result.exit_code == exits.USAGE
    assert "x.jsonl:3: expected a JSON object" in result.stderr
    kept = check("x.jsonl", "out", "--model", "map", "--keep-going")
    assert kept.exit_code == exits.NOTHING
    assert "nothing was checked" in kept.stdout


def test_wrong_options(check):
    for arguments, expected in (
        (["x", "out", "--by", "key"], "work is split by history or history,object or"),
        (["gone.jsonl", "out"], "gone.jsonl: expected a file"),
    ):
        result = check(*arguments)
        assert result.exit_code == exits.USAGE
        assert expected in result.stderr
