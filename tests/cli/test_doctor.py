"""``latchfree doctor``: one line for each thing, with the fix where it is missing."""

import importlib.metadata
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app


def test_complete() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == exits.OK, result.output
    lines = {line.split()[1]: line for line in result.stdout.splitlines()}
    for name in ("python", "platform", "processors", "numba", "cache", "java", "tla2tools", "spec"):
        assert name in lines
    assert importlib.metadata.version("numba") in lines["numba"]


def test_a_missing_core_package(monkeypatch: pytest.MonkeyPatch) -> None:
    version = importlib.metadata.version

    def without_numpy(name: str) -> str:
        if name == "numpy":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without_numpy)
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == exits.TOOL
    document = json.loads(result.stdout)
    (missing,) = [finding for finding in document["findings"] if finding["core"] and not finding["ok"]]
    assert (missing["name"], missing["fix"]) == ("numpy", "pip install numpy")
    assert document["verdict"] == "missing"


def test_an_optional_tool_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TLA2TOOLS_JAR", "/nowhere.jar")
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == exits.OK
    (line,) = [line for line in result.stdout.splitlines() if " tla2tools " in line]
    assert line.startswith("missing")
    assert "/nowhere.jar" in line


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == exits.TOOL
    assert "set $NUMBA_CACHE_DIR to a folder you can write to" in result.stdout
