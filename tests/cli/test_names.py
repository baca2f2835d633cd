"""Names and keys are printed as they are: no emoji for :heart:, no style for [b], and what is to be pasted can be."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from cli_processes import latchfree
from rich.table import Table
from typer.testing import CliRunner

from latchfree import Arena, Ctrie
from latchfree_cli.app import app
from latchfree_cli.settings import Settings

KEYS = (":heart:", "[b]bold[/b]", "[/]", "\\[red]", "a b'c")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("key", KEYS)
def test_lines_and_tables(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings()
    table = Table("key")
    table.add_row(key)
    settings.say(key)
    settings.say(table)
    settings.warn(key)
    printed = capsys.readouterr()
    assert printed.out.startswith(key + "\n")
    assert printed.out.count(key) == 2
    assert printed.err == f"latchfree: {key}\n"


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("command", ["check", "shrink"])
def test_a_violation_of_a_key(command: str, key: str) -> None:
    file = Path(":bug: [b].jsonl")
    operation = {"history": ":smile:", "process": 0, "f": "get", "arguments": [key], "result": 5}
    file.write_text(json.dumps({**operation, "invoke": 0, "return": 1}) + "\n")
    arguments = [command, str(file), "--model", "map"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1, result.output
    assert ":smile:" in result.stdout
    assert repr(key) in result.stdout
    again = shlex.split(result.stdout.splitlines()[-1])
    assert again[0] == "latchfree"
    assert CliRunner().invoke(app, again[1:]).exit_code == 1


def test_half_of_a_surrogate_pair() -> None:
    Path("h.jsonl").write_text(
        '{"history": "\\ud800", "process": 0, "f": "get", "arguments": [1], "result": 5, "invoke": 0, "return": 1}\n'
    )
    result = latchfree("check", "h.jsonl", "--model", "map")
    assert (result.returncode, result.stderr) == (1, "")
    assert result.stdout.startswith("h.jsonl: \\ud800: violation\n")


@pytest.mark.skipif(sys.platform != "linux", reason="arenas need Linux")
def test_a_structure_of_an_arena() -> None:
    with Arena.create(path=Path("arena"), capacity=4 << 20) as arena:
        Ctrie.create(arena, ":heart:[b]", keys=str, values=int)
    result = CliRunner().invoke(app, ["arena", "info", "./arena"])
    assert ":heart:[b]" in result.stdout
