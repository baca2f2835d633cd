"""The version, shell completion, and the examples that end each help."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_processes import environment, latchfree, python
from typer.main import get_command
from typer.testing import CliRunner

from latchfree import __version__
from latchfree_cli import exits, frame
from latchfree_cli.app import app
from latchfree_cli.frame import EXAMPLES

WIDTH = 78
"""The columns of a help page that hold an example: a longer one is broken, and cannot be pasted."""


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return the names of each command, as typed."""
    if not hasattr(command, "commands"):
        yield path
        return
    for name, inner in command.commands.items():
        yield from commands(inner, (*path, name))


COMMANDS = list(commands(get_command(app)))
GROUPS = [(), *sorted({path[:-1] for path in COMMANDS if len(path) > 1})]


def test_version() -> None:
    result = latchfree("--version")
    assert (result.returncode, result.stdout, result.stderr) == (exits.OK, f"latchfree {__version__}\n", "")


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_each_help_ends_with_examples(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="latchfree", env={"COLUMNS": "80"})
    assert result.exit_code == exits.OK
    lines = [line.strip() for line in result.stdout.splitlines()]
    begin = lines.index("Examples:") + 1
    shown = [line for line in lines[begin:] if line]
    assert 1 <= len(shown) <= 3
    assert all(line.startswith(" ".join(["latchfree", *path])) for line in shown)


@pytest.mark.parametrize("path", GROUPS, ids=lambda path: " ".join(path) or "latchfree")
def test_the_help_of_a_group_ends_with_examples(path: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="latchfree", env={"COLUMNS": "80"})
    assert result.exit_code == exits.OK
    lines = [line.strip() for line in result.stdout.splitlines()]
    shown = [line for line in lines[lines.index("Examples:") + 1 :] if line]
    assert len(shown) == 3
    for line in shown:
        assert line.startswith(" ".join(["latchfree", *path]))
        assert len(line) <= WIDTH
        assert CliRunner().invoke(app, [*shlex.split(line)[1:], "--help"]).exit_code == exits.OK


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_are_commands(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser takes them; what they would run is left out."""
    monkeypatch.setattr(frame, "finish", lambda settings, run: 0)
    assert len(example) <= WIDTH
    program, *arguments = shlex.split(example)
    assert program == "latchfree"
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


def test_completion_of_commands() -> None:
    asked = {"_LATCHFREE_COMPLETE": "complete_bash", "COMP_WORDS": "latchfree s", "COMP_CWORD": "1"}
    result = latchfree(env={**environment(), **asked})
    assert result.returncode == exits.OK
    assert result.stdout.split() == ["spec", "stress", "shrink", "show"]


def test_completion_of_options() -> None:
    asked = {"_LATCHFREE_COMPLETE": "complete_bash", "COMP_WORDS": "latchfree spec --pro", "COMP_CWORD": "2"}
    assert latchfree(env={**environment(), **asked}).stdout.split() == ["--profile"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell(shell: str) -> None:
    result = latchfree(env={**environment(), "_LATCHFREE_COMPLETE": f"source_{shell}"})
    assert result.returncode == exits.OK
    assert "_LATCHFREE_COMPLETE" in result.stdout


def test_completion_is_shown_and_installed(tmp_path: Path) -> None:
    """Where the shell is not found out, it is named."""
    named = {**environment(), "HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    shown = latchfree("--show-completion", "bash", env=named)
    assert shown.returncode == exits.OK
    assert "complete -o default -F _latchfree_completion latchfree" in shown.stdout
    installed = latchfree("--install-completion", "bash", env=named)
    assert installed.returncode == exits.OK, installed.stderr
    assert "latchfree" in (tmp_path / ".bashrc").read_text()


def test_a_shell_that_is_unknown_is_no_violation() -> None:
    result = latchfree(env={**environment(), "_LATCHFREE_COMPLETE": "source_nonsense"})
    assert result.returncode == exits.USAGE


def test_the_package_is_a_command() -> None:
    assert python("-m", "latchfree_cli", "--version").stdout == f"latchfree {__version__}\n"
