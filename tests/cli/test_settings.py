"""The frame around every command: global options, exit codes, one JSON object, lazy imports."""

import json
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from latchfree.errors import MissingExtra
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.frame import command, global_settings
from latchfree_cli.settings import Outcome, Settings
from latchfree_model.tlc import ToolMissing

MANIFEST = Path(__file__).parents[1] / "model" / "data" / "manifest.toml"


def run(*arguments: str, ending: object = None) -> tuple[int, str, str, list[Settings]]:
    """Run a command that only records its settings and then ends as told."""
    seen: list[Settings] = []

    def probe(settings: Settings, flag: bool = False) -> Outcome:
        """Probe."""
        seen.append(settings)
        if isinstance(ending, BaseException):
            raise ending
        return ending if isinstance(ending, Outcome) else Outcome("ok", {"flag": flag})

    frame = typer.Typer()
    frame.callback()(global_settings)
    frame.command(name="probe")(command(probe))
    result = CliRunner().invoke(frame, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr, seen


def test_global_options_before_and_after_the_command() -> None:
    *_, (before,) = run("--seed", "3", "-o", "x", "probe")
    *_, (after,) = run("probe", "--seed", "3", "-o", "x")
    *_, (both,) = run("--seed", "9", "-o", "x", "probe", "--seed", "3")
    assert before == after == both == Settings(seed=3, out=Path("x"), address="x")
    *_, (rest,) = run("--no-color", "-q", "probe", "--timeout", "2.5", "-v", "--json", "--flag")
    assert rest == Settings(no_color=True, quiet=True, timeout=2.5, verbose=True, json=True)


def test_a_seed_is_chosen_once() -> None:
    *_, (settings,) = run("probe")
    assert settings.chosen_seed == settings.chosen_seed >= 0
    assert Settings(seed=0).chosen_seed == 0


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        (Outcome("ok"), 0),
        (Outcome("violation", reproduce="latchfree again"), 1),
        (Outcome("unknown"), 3),
        (Outcome("nothing"), 4),
        (exits.Stop(exits.USAGE, "wrong"), 2),
        (ToolMissing("no Java"), 70),
        (ModuleNotFoundError("x", name="pyspark.sql"), 70),
        (ZeroDivisionError("zero"), 70),
        (RecursionError(), 70),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes_and_json(ending: object, code: int) -> None:
    got, stdout, stderr, _ = run("probe", "--json", ending=ending)
    assert got == code
    document = json.loads(stdout)
    assert document["version"] == 1
    assert document["verdict"] == (ending.verdict if isinstance(ending, Outcome) else None)
    assert bool(stderr) == bool(document.get("error"))


def test_the_last_line_reproduces() -> None:
    _, stdout, _, _ = run("probe", ending=Outcome("violation", reproduce="latchfree check a.jsonl --model map"))
    assert stdout.splitlines()[-1] == "latchfree check a.jsonl --model map"


def test_a_missing_extra_is_one_line() -> None:
    _, stdout, stderr, _ = run("probe", ending=ModuleNotFoundError("x", name="pyspark.sql"))
    assert stdout == ""
    assert stderr == 'latchfree: pyspark is not installed; fix: pip install "latchfree[spark]"\n'


def test_a_missing_extra_that_the_library_names() -> None:
    _, _, stderr, _ = run("probe", ending=MissingExtra("pyarrow", "topics"))
    assert stderr == 'latchfree: pyarrow is not installed; fix: pip install "latchfree[topics]"\n'


def test_a_defect_of_ours_is_one_line_and_no_violation() -> None:
    code, stdout, stderr, _ = run("probe", ending=ZeroDivisionError("a/b is\n0"))
    assert (code, stdout) == (exits.TOOL, "")
    assert stderr == "latchfree: a defect of latchfree: ZeroDivisionError: a/b is 0; -v prints the traceback\n"


def test_a_defect_of_ours_has_a_traceback_where_asked_for() -> None:
    code, _, stderr, _ = run("probe", "-v", ending=ZeroDivisionError("zero"))
    assert code == exits.TOOL
    assert stderr.startswith("Traceback (most recent call last):")
    assert stderr.endswith("latchfree: a defect of latchfree: ZeroDivisionError: zero; -v prints the traceback\n")


def test_worst() -> None:
    assert exits.worst(["ok", "unknown", "violation"]) == "violation"
    assert exits.worst(["ok", "not run"]) == "not run"
    assert exits.worst(["ok", "ok"]) == "ok"


@pytest.mark.parametrize(
    "arguments",
    [["nonsense"], ["spec", "--profile", "huge"], ["stress"], ["check"], ["stress", "ctrie", "--keys", "0"]],
)
def test_usage_errors(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == exits.USAGE


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a fresh process that finds the packages under test."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=1200, check=False
    )


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from latchfree_cli.main import main\n"
        "sys.argv = ['latchfree', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'pyarrow', 'z3', 'networkx', 'pyspark', 'latchfree', 'latchfree_lincheck'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    result = python("-c", program)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"
    for name in ("verify", "spec", "stress", "check", "mutants", "doctor", "--seed"):
        assert name in result.stdout


def test_spec_imports_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from latchfree_cli.main import main\n"
        f"sys.argv = ['latchfree', 'spec', '--list', '--manifest', {str(MANIFEST)!r}]\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "print(sorted({'numba', 'numpy', 'pyarrow', 'z3', 'networkx'} & set(sys.modules)))\n"
    )
    assert python("-c", program).stdout.splitlines()[-2:] == ["0", "[]"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal")
def test_progress_goes_to_the_terminal_and_results_to_the_file(tmp_path: Path) -> None:
    """Standard error is a terminal and standard output is not."""
    ours, theirs = os.openpty()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "TERM": "xterm",
        "COLUMNS": "80",
    }
    command = [sys.executable, "-m", "latchfree_cli", "spec", "--manifest", str(MANIFEST), "-o", str(tmp_path)]
    shown = bytearray()

    def read() -> None:
        with suppress(OSError):  # the other end is closed
            while chunk := os.read(ours, 4096):
                shown.extend(chunk)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment) as process:
        os.close(theirs)
        terminal = threading.Thread(target=read)  # at the same time: a terminal that nobody reads is soon full
        terminal.start()
        assert process.stdout is not None
        stdout = process.stdout.read()
        terminal.join()
    os.close(ours)
    assert process.returncode == exits.OK
    assert [line.split()[0] for line in stdout.splitlines()] == ["atomic", "lost_update", "2"]
    assert "\x1b" not in stdout
    assert b"spec: 2 models" in shown
    assert b"expected" not in shown
