"""``latchfree explore ctrie --along`` and ``latchfree trace``: verdicts, files, exit codes."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout, result.stderr


def test_every_step_of_a_model_is_replayed() -> None:
    code, text, _ = run("explore", "ctrie", "--along", "mutant_s1_fixed")
    assert code == exits.OK
    assert text.startswith("along mutant_s1_fixed: 1,000 of 1,000 ")
    assert "steps replayed (100.0%), 528 states" in text
    code, text, _ = run("explore", "ctrie", "--along", "mutant_s1_fixed", "--json")
    document = json.loads(text)
    assert (code, document["verdict"], document["complete"]) == (exits.OK, "ok", True)
    assert document["replayed"] == document["steps"]
    assert document["not_taken"] == {}


def test_the_dead_are_counted() -> None:
    code, text, _ = run("explore", "ctrie", "--along", "mutant_r19_fixed")
    assert code == exits.OK
    assert "4 nodes retired by the code, each compared with the specification; 4 of them freed" in text
    code, text, _ = run("explore", "ctrie", "--along", "mutant_r19")
    assert code == exits.VIOLATION
    assert "is dead, but the code has not retired it" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ctrie", "--along", "two_writer"), "did you mean two_writers?"),
        (("ctrie", "--along", "collision"), "collide wholly"),
        (("ctrie", "--along", "free_list"), "is no model of Ctrie.tla"),
        (("ctrie", "--along", "two_writers", "--scenario", "get(0)"), "give no scenario"),
        (("other.py", "--along", "two_writers"), "the target is ctrie"),
    ],
)
def test_along_refuses_what_makes_no_sense(arguments: tuple[str, ...], message: str) -> None:
    code, _, error = run("explore", *arguments)
    assert code == exits.USAGE
    assert message in error


def test_recorded_runs_are_accepted() -> None:
    code, text, _ = run("trace", "ctrie", "--traces", "4", "--seed", "3")
    assert code == exits.OK, text
    assert "ok: 4 traces are behaviours of Ctrie.tla: 2 of random schedules and 1 of real threads and" in text


def test_a_file_is_checked_again(tmp_path: Path) -> None:
    events = [[0, "RdcssRead", "I-node", "here:1", [1]], [0, "GcasReadMain", "C k0=1", "here:2", [1, 2]]]
    document = {
        "latchfree": "trace",
        "version": 3,
        "source": "by hand",
        "scenario": "init: put(0, 1) | get(0) | keys: pairs",
        "results": [None, 1],
        "events": events,
    }
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(document))
    code, text, _ = run("trace", "trace.json")
    assert (code, text) == (exits.OK, "trace.json: ok: 2 events are a behaviour of Ctrie.tla\n")
    events[1] = [0, "GcasCas", "yes", "here:3", [1, 2, 3]]
    file.write_text(json.dumps(document))
    code, text, _ = run("trace", "trace.json")
    assert code == exits.VIOLATION
    assert "event 1 is no step of Ctrie.tla: GcasCas of thread 0, which saw yes [1 2 3] (here:3)" in text
    assert "the specification has process t0 at GcasReadMain" in text
    assert text.splitlines()[-1] == "latchfree trace trace.json"


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text("[]")
    for target, message in (
        ("trace.json", '"latchfree": "trace"'),
        ("none.json", "No such file"),
        ("trie", "is ctrie"),
    ):
        code, _, error = run("trace", target)
        assert code == exits.USAGE
        assert message in error
    code, _, error = run("trace", "ctrie", "--mutant", "Z9")
    assert code == exits.USAGE
    assert "unknown mutant 'Z9'" in error
