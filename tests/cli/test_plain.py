"""Command lines that need no parser: the same words through the parser come to the same."""

import io
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree_cli import exits, main, plain, process
from latchfree_cli.plain import plain_command
from latchfree_cli.settings import Settings, plain_console

LOG = (
    "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\t{}\n"
)


@pytest.fixture(autouse=True)
def in_a_folder_of_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where there is a good log, a violation and a file that is no history."""
    monkeypatch.chdir(tmp_path)
    Path("good.log").write_text(LOG.format(1))
    Path("bad.log").write_text(LOG.format(2))
    Path("none.log").write_text("nothing\n")


def run(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[str, str, int]:
    """Run a command line in this process; return what was printed, without seconds, and the exit code."""

    def leave(code: int) -> None:
        raise SystemExit(code)

    def end(command: Callable[[], object], verbose: bool) -> int:
        return process._code_of(command, verbose)  # and the streams stay as they are

    monkeypatch.setattr(process, "run", end)
    monkeypatch.setattr(process.KEPT, "ends_at_once", False)  # and afterwards it is so again
    monkeypatch.setattr(plain.gc, "set_threshold", lambda _: None)
    monkeypatch.setattr(main.os, "_exit", leave)
    monkeypatch.setattr(sys, "argv", ["latchfree", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    out, err = capsys.readouterr()
    seconds = re.compile(r"[0-9.e-]+( s,|(?=}))")
    return seconds.sub("", out), err, int(ended.value.code or 0)


@pytest.mark.parametrize(
    "words",
    [
        ["good.log"],
        ["good.log", "bad.log"],
        ["bad.log", "--json"],
        ["-q", "good.log", "bad.log", "--out", "there"],
        ["good.log", "--model", "register"],
        ["good.log", "--model", "map"],
        ["good.log", "--model", "nothing"],
        ["good.log", "--format", "jsonl", "-v"],
        ["none.log", "--json", "--no-color"],
        ["gone.log", "good.log"],
        ["-o", "a", "bad.log", "-o", "b"],
    ],
)
def test_a_plain_command_does_what_the_parser_does(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert plain_command(["check", *words]) is not None
    quick = run(["check", *words], monkeypatch, capsys)
    assert plain_command(["check", "--memory", "2048", *words]) is None
    assert quick == run(["check", "--memory", "2048", *words], monkeypatch, capsys)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["show", "good.log"],
        ["-q", "check", "good.log"],
        ["check"],
        ["check", "--help"],
        ["check", "good.log", "--model"],
        ["check", "good.log", "--model", "-q"],
        ["check", "good.log", "--model=map"],
        ["check", "good.log", "--mod", "map"],
        ["check", "--", "good.log"],
        ["check", ""],
        ["check", "good.log", "-qv"],
        ["check", "\udcff.log"],
    ],
)
def test_other_words_are_left_to_the_parser(words: list[str]) -> None:
    assert plain_command(words) is None


def test_completion_is_left_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_LATCHFREE_COMPLETE", "complete_bash")
    assert plain_command(["check", "good.log"]) is None


def test_a_plain_command_loads_neither_parser_nor_compiler() -> None:
    program = (
        "import os, sys\n"
        "from latchfree_cli import main\n"
        "main.os._exit = lambda code: print(sorted({'typer', 'rich', 'pydantic', 'pyarrow'} & {*sys.modules}), code)\n"
        "sys.argv = ['latchfree', 'check', 'good.log', 'bad.log']\n"
        "try:\n    main.main()\nexcept SystemExit:\n    pass\n"
        "print('OPENBLAS_NUM_THREADS' in os.environ)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == [f"[] {exits.VIOLATION}", "False"]


@settings(max_examples=40)
@given(st.text(st.characters(codec="utf-8") | st.sampled_from(" \t\n\r\x1b[b]:heart:")))
def test_plain_text_is_printed_as_rich_prints_it(text: str) -> None:
    ours, theirs, before = io.StringIO(), io.StringIO(), sys.stdout
    try:
        sys.stdout = ours
        Settings().say(text)
    finally:
        sys.stdout = before
    plain_console(theirs, width=160).print(text, soft_wrap=True)
    assert ours.getvalue() == theirs.getvalue()
