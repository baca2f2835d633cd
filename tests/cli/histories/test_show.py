"""``latchfree show``: the page, the exit code, and what it says where it cannot read or write."""

import json
import re
import resource
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import latchfree_explore
from latchfree_cli import exits
from latchfree_cli.app import app

GOOD = [(0, "put", [1, 5], None, 0, 1), (1, "get", [1], 5, 2, 3)]
STALE = [(0, "put", [1, 5], None, 0, 1), (1, "get", [1], None, 2, 3)]


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def write(name: str, **histories: list) -> str:
    """Write histories as JSON lines and return the path."""
    with Path(name).open("w") as file:
        for history, operations in histories.items():
            for process, f, arguments, result, invoke, returned in operations:
                line = {"history": history, "process": process, "f": f, "arguments": arguments, "result": result}
                file.write(json.dumps({**line, "invoke": invoke, "return": returned}) + "\n")
    return name


def show(*arguments: str) -> Result:
    """Run ``latchfree show``."""
    return CliRunner().invoke(app, ["show", *arguments])


def test_a_legal_history() -> None:
    result = show(write("good.jsonl", one=GOOD), "--model", "map", "-o", "report.html")
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.startswith("wrote report.html (0.")
    assert Path("report.html").read_text().startswith("<!DOCTYPE html>")


def test_without_a_name_it_goes_into_the_output_folder() -> None:
    assert show(write("good.jsonl", one=GOOD), "--model", "map").exit_code == exits.OK
    assert Path("out/good.html").exists()
    assert show("good.jsonl", "--model", "map", "-o", "folder").exit_code == exits.OK
    assert Path("folder/good.html").exists()


def test_a_violation_says_why_and_how_to_see_it_again() -> None:
    files = write("bad.jsonl", one=STALE), write("good.jsonl", two=GOOD)
    result = show(*files, "--model", "map", "-o", "r.html", "--open-at", "start")
    assert result.exit_code == exits.VIOLATION
    assert "key 1 held 5" in result.stdout
    assert result.stdout.splitlines()[-1] == "latchfree check bad.jsonl --model map"
    assert '"openAt":"start"' in Path("r.html").read_text()


def test_json() -> None:
    result = show(write("both.jsonl", one=GOOD, two=STALE), "--model", "map", "-o", "r.html", "--json")
    assert result.exit_code == exits.VIOLATION
    document = json.loads(result.stdout)
    assert (document["verdict"], document["page"]) == ("violation", "r.html")
    assert document["bytes"] == Path("r.html").stat().st_size
    assert [(each["history"], each["verdict"], each["violations"]) for each in document["histories"]] == [
        ("one", "ok", 0),
        ("two", "violation", 1),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.jsonl"], "cannot read absent.jsonl: No such file or directory; name a file that may be read"),
        (["folder.html"], "cannot read folder.html: Is a directory"),
        (["half.jsonl"], "half.jsonl:1: expected"),
        (["good.jsonl"], "say what to check against: --model"),
        (
            ["good.jsonl", "--model", "register"],
            "good.jsonl:1: expected a call of the model 'register', got put(1, 5): the model",
        ),
        (["good.jsonl", "--model", "map", "-o", "good.jsonl/r.html"], "choose another file with -o REPORT.html"),
        (["good.jsonl", "--model", "map", "-o", "folder.html"], "not a regular file; choose another file with -o"),
        (["page.html", "--model", "map", "-o", "page.html"], "page.html: would overwrite a history"),
    ],
)
def test_wrong_usage_changes_nothing(arguments: list[str], words: str) -> None:
    write("good.jsonl", one=GOOD)
    write("page.html", one=GOOD)
    Path("half.jsonl").write_text('{"history": "one", "pro')
    Path("folder.html").mkdir()
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    result = show(*arguments)
    assert result.exit_code == exits.USAGE
    assert words in result.stderr
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_a_full_disk() -> None:
    write("good.jsonl", one=GOOD)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        result = show("good.jsonl", "--model", "map", "-o", "r.html")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert result.exit_code == exits.TOOL
    assert "cannot write r.html: File too large; make room or choose another disk" in result.stderr
    assert sorted(path.name for path in Path().iterdir()) == ["good.jsonl"]


def test_nothing_to_show() -> None:
    Path("empty.jsonl").write_text("")
    result = show("empty.jsonl", "--model", "map", "-o", "r.html")
    assert result.exit_code == exits.NOTHING
    assert not Path("r.html").exists()


def test_an_exploration_is_drawn_with_its_source_lines() -> None:
    target = f"{Path(latchfree_explore.__file__).parent / 'examples' / 'counter.py'}:lost_update"
    found = CliRunner().invoke(app, ["explore", target, "--scenario", "increment | increment"])
    file = found.stdout.split()[-1]
    result = show(file, "-o", "report.html")
    assert result.exit_code == exits.VIOLATION, result.output
    assert result.stdout.splitlines()[-1] == f"latchfree replay {file}"
    page = Path("report.html").read_text()
    text = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert text is not None
    (shown,) = json.loads(text[1])["histories"]
    assert (shown["name"], shown["verdict"]) == ("increment() | increment()", "violation")
    load, store = (
        "count = load(mem, root)",
        "store(mem, root, count + _1)  # wrong: it undoes an increment since the load",
    )
    made = [(step["kind"], step["value"], step["text"]) for step in shown["steps"]]
    assert sorted(made) == [("load", "0", load)] * 2 + [("store", "0 -> 1", store), ("store", "1", store)]
    assert [step.get("begins") for step in shown["steps"]].count("increment()") == 2
    assert sorted(step["returns"] for step in shown["steps"] if "returns" in step) == ["0", "0"]
    assert {(step["file"].rpartition("/")[2], step["function"]) for step in shown["steps"]} == {
        ("counter.py", "increment_in_two_steps")
    }


def test_a_replay_that_does_not_fail_any_more_is_not_drawn() -> None:
    target = f"{Path(latchfree_explore.__file__).parent / 'examples' / 'counter.py'}:lost_update"
    found = CliRunner().invoke(app, ["explore", target, "--scenario", "increment | increment"])
    file = Path(found.stdout.split()[-1])
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "target": target.replace("lost_update", "counter")}))
    result = show(str(file), "-o", "report.html")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "nothing to draw" in result.stderr
    assert not Path("report.html").exists()
