"""How the process of a command ends: never with the exit code of a violation unless there is one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_processes import environment, latchfree, python

from latchfree_cli import exits

MANIFEST = Path(__file__).parents[1] / "model" / "data" / "manifest.toml"
LISTING = ("spec", "--list", "--manifest", str(MANIFEST))

DEFECT = """
import latchfree_cli.commands.doctor as doctor
def broken():
    raise ZeroDivisionError("a defect\\nof two lines")
doctor._findings = broken
"""

GOES_ON = """
from contextlib import suppress
import latchfree_cli.commands.doctor as doctor
def printing():
    with suppress(Exception):
        print("x" * 1_000_000)
    return []
doctor._findings = printing
"""

PRESS = "import signal\ndef press(*_):\n    signal.raise_signal(signal.SIGINT)\n"

IN_A_COMMAND = "import latchfree_cli.commands.doctor as doctor\ndoctor._findings = press\n"

WHILE_IMPORTING = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            press()
sys.meta_path.insert(0, Finder())
"""

WHILE_COMPILING = """
import latchfree_cli.commands.doctor as doctor
def compiled():
    import numba
    from numba.extending import overload
    def stub(x): ...
    @overload(stub)
    def typed(x):
        press()
        return lambda x: x
    numba.njit(lambda x: stub(x))(1)
    return []
doctor._findings = compiled
"""

IN_A_CALLBACK_OF_C = """
import ctypes, time
import latchfree_cli.commands.doctor as doctor
callback = ctypes.CFUNCTYPE(None)(press)
def called():
    callback()
    while True:  # Python has dropped the exception
        time.sleep(0.01)
doctor._findings = called
"""

IN_A_FINALIZER = """
import time
import latchfree_cli.commands.doctor as doctor
class Finalized:
    def __del__(self):
        press()
def dropped():
    Finalized()
    while True:
        time.sleep(0.01)
doctor._findings = dropped
"""

LEAVES_HALF_AN_OBJECT = """
import latchfree_cli.commands.doctor as doctor
class Half:
    def __init__(self):
        press()
        self.owned = True
    def __del__(self):
        self.owned  # what Ctrl-C kept from being there
doctor._findings = Half
"""

TURNED_INTO_ANOTHER_ERROR = """
import latchfree_cli.commands.doctor as doctor
def turned():
    try:
        press()
    except KeyboardInterrupt:
        raise SystemError("initialization failed") from None
doctor._findings = turned
"""

WHILE_PARSING = "import latchfree_cli.frame as frame\nframe._merge = press\n"

IN_A_PROGRESS_CALLBACK = """
from contextlib import contextmanager
from latchfree_cli.settings import Settings
@contextmanager
def progress(self, text):
    yield press
Settings.progress = progress
"""


def test_a_defect_is_one_line_and_70() -> None:
    result = latchfree("doctor", before=DEFECT)
    assert (result.returncode, result.stdout) == (exits.TOOL, "")
    assert result.stderr == (
        "latchfree: a defect of latchfree: ZeroDivisionError: a defect of two lines; -v prints the traceback\n"
    )


def test_a_defect_has_a_traceback_with_v() -> None:
    result = latchfree("-v", "doctor", before=DEFECT)
    assert result.returncode == exits.TOOL
    assert result.stderr.startswith("Traceback (most recent call last):")


def test_a_defect_of_what_tells_errors_is_no_violation() -> None:
    before = "import latchfree_cli.exits as exits\ndef translate(error):\n    raise KeyError('again')\n"
    result = latchfree("doctor", before=DEFECT + before + "exits.translate = translate\n")
    assert (result.returncode, result.stdout) == (exits.TOOL, "")
    assert result.stderr == "latchfree: a defect of latchfree: KeyError: 'again'; -v prints the traceback\n"


def test_a_defect_while_the_commands_are_loaded() -> None:
    before = "import sys\nsys.modules['latchfree_cli.commands.check'] = None\n"
    result = latchfree("doctor", before=before.replace("None", "object()"))
    assert result.returncode == exits.TOOL
    assert result.stderr.startswith("latchfree: a defect of latchfree: AttributeError: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "moment",
    [
        IN_A_COMMAND,
        WHILE_IMPORTING,
        WHILE_PARSING,
        WHILE_COMPILING,
        IN_A_CALLBACK_OF_C,
        IN_A_FINALIZER,
        LEAVES_HALF_AN_OBJECT,
        TURNED_INTO_ANOTHER_ERROR,
    ],
    ids=["command", "import", "parsing", "compiling", "callback", "finalizer", "half", "turned"],
)
def test_ctrl_c(moment: str) -> None:
    result = latchfree("doctor", before=PRESS + moment)
    assert (result.returncode, result.stdout, result.stderr) == (exits.INTERRUPTED, "", "latchfree: interrupted\n")


def test_ctrl_c_in_a_progress_callback(tmp_path: Path) -> None:
    file = tmp_path / "h.jsonl"
    file.write_text(
        '{"history": "h", "process": 0, "f": "get", "arguments": [1], "result": null, "invoke": 0, "return": 1}\n'
    )
    result = latchfree("check", str(file), "--model", "map", "--timeout", "60", before=PRESS + IN_A_PROGRESS_CALLBACK)
    assert (result.returncode, result.stdout, result.stderr) == (exits.INTERRUPTED, "", "latchfree: interrupted\n")


def test_ctrl_c_with_json() -> None:
    result = latchfree("doctor", "--json", before=PRESS + IN_A_COMMAND)
    assert result.returncode == exits.INTERRUPTED
    assert result.stdout == '{"version": 1, "verdict": null, "error": "interrupted"}\n'


@pytest.fixture
def closed() -> int:
    """A pipe that nobody reads."""
    read, write = os.pipe()
    os.close(read)
    return write


@pytest.mark.parametrize(
    "arguments", [LISTING, ("--version",), ("--help",), ("spec", "--help"), ("doctor",), ("doctor", "--json"), ()]
)
def test_a_closed_pipe_is_silent(closed: int, arguments: tuple[str, ...]) -> None:
    result = latchfree(*arguments, stdout=closed)
    assert (result.returncode, result.stderr) == (exits.PIPE_CLOSED, "")


@pytest.mark.parametrize("arguments", [("check", "missing.jsonl"), ("check", "--nonsense"), ("arena", "info", "/none")])
def test_a_closed_pipe_for_errors_is_silent(closed: int, arguments: tuple[str, ...]) -> None:
    result = latchfree(*arguments, stderr=closed)
    assert (result.returncode, result.stdout) == (exits.PIPE_CLOSED, "")


def test_a_reader_that_takes_one_line() -> None:
    program = f"import sys; sys.argv = {['latchfree', *LISTING]!r}; from latchfree_cli.main import main; main()"
    command = ["bash", "-c", 'python=$1; shift; "$python" -c "$1" | head -1; exit ${PIPESTATUS[0]}', "bash"]
    done = subprocess.run(
        [*command, sys.executable, program], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode in (exits.OK, exits.PIPE_CLOSED)  # whether head was faster
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_standard_output_that_was_closed_before() -> None:
    result = python("-c", "import os, sys; os.close(1); os.execv(sys.argv[1], sys.argv[1:])", *running("--version"))
    assert (result.returncode, result.stderr) == (exits.OK, "")


def running(*arguments: str) -> list[str]:
    """Return the command line of a command."""
    return [sys.executable, "-m", "latchfree_cli", *arguments]


def test_a_full_disk_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        result = latchfree(*LISTING, stdout=full)
    assert result.returncode == exits.TOOL
    assert result.stderr == (
        "latchfree: cannot write to standard output: No space left on device; make room or write elsewhere\n"
    )


def test_a_full_disk_is_named_also_where_a_command_goes_on() -> None:
    with Path("/dev/full").open("w") as full:
        result = latchfree("doctor", before=GOES_ON, stdout=full)
    assert (result.returncode, result.stderr.count("\n")) == (exits.TOOL, 1)


def test_the_console_script_without_the_extra() -> None:
    for package in ("typer", "rich"):
        result = latchfree("doctor", before=f"import sys\nsys.modules[{package!r}] = None\n")
        assert (result.returncode, result.stdout) == (exits.TOOL, "")
        assert result.stderr == f'latchfree: {package} is not installed; fix: pip install "latchfree[check]"\n'
