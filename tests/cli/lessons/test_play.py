"""``latchfree play``: the page, what it says, and what it refuses."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import latchfree_explore
from latchfree_cli import exits
from latchfree_cli.app import app

COUNTER = str(Path(latchfree_explore.__file__).parent / "examples" / "counter.py") + ":counter"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def play(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["play", *arguments])


def test_a_page_of_a_file() -> None:
    done = play(COUNTER, "--scenario", "increment | increment", "-o", "one/page.html")
    assert done.exit_code == 0, done.output
    assert "no schedule on it fails" in done.output
    assert Path("one/page.html").read_text().startswith("<!DOCTYPE html>")


def test_what_json_says() -> None:
    done = play(COUNTER, "--scenario", "increment | increment", "--within", "0", "--json", "-o", "page.html")
    told = json.loads(done.output)
    assert (told["page"], told["par"], told["bound"]) == ("page.html", None, "up to 0 changes of threads")
    assert told["bytes"] == Path("page.html").stat().st_size


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["ctrie"], "give the operations to play"),
        (["nowhere", "--scenario", "get(0)"], "unknown target 'nowhere'"),
        (["none.py", "--scenario", "get(0)"], "there is no such file"),
        (["ring", "--scenario", "enqueue("], "expected an operation"),
        (["weak-ring", "--scenario", "dequeue()"], "it judges a part of each history"),
        (["N3"], "mutant N3 has no page"),
    ],
)
def test_what_is_refused(arguments, why) -> None:
    done = play(*arguments, "-o", "page.html")
    assert done.exit_code == exits.USAGE
    assert why in done.output
    assert not Path("page.html").exists()


def test_an_unwritable_place() -> None:
    Path("file").touch()
    done = play(COUNTER, "--scenario", "increment | increment", "-o", "file/page.html")
    assert done.exit_code == exits.USAGE
    assert "cannot write file/page.html" in done.output
