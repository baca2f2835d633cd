"""``latchfree check --follow``: files that grow, pipes, Ctrl-C, and what is refused."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_processes import environment, interrupt
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app

WRITE = [{"type": "invoke", "process": 0, "f": "write", "arguments": [1]}, {"type": "ok", "process": 0}]
READ = [{"type": "invoke", "process": 1, "f": "read", "arguments": []}, {"type": "ok", "process": 1, "result": 1}]
STALE = [READ[0], {"type": "ok", "process": 1, "result": None}]


def lines(*events):
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def start(*arguments, **options):
    code = "from latchfree_cli.main import main; main()"
    argv = [sys.executable, "-c", code, "check", "--follow", "--model", "register", *arguments]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(argv, text=True, env=environment(), **{**streams, **options})


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        (lines(*WRITE, *READ), exits.OK, "ok: linearizable so far (4 events, 2 operations, 0 in flight)"),
        (lines(*WRITE, *STALE), exits.VIOLATION, "read() returned None, but the register held 1"),
        (lines(*WRITE, *READ)[:-1], exits.OK, "ok: linearizable so far (4 events"),
        (lines(WRITE[0], *READ), exits.OK, "1 in flight"),
        (lines(*WRITE, {"type": "info", "process": 1}), exits.USAGE, "-:3: process 1 has no call that could end"),
        ("", exits.NOTHING, "0 events"),
        (lines(*WRITE)[:-2] + ', "result": 7, "result": null}\n', exits.USAGE, "the field 'result' twice"),
        ("[" * 20_000 + "\n", exits.USAGE, "-:1: expected a JSON object"),
        ("{\n", exits.USAGE, "-:1: expected a JSON object, got '{'"),
        (lines(WRITE[0]) + lines(WRITE[1])[:9], exits.USAGE, "-:2: expected a JSON object"),
        (
            lines({"history": "h", "process": 0, "f": "read", "invoke": 1, "return": 2}),
            exits.USAGE,
            "a whole operation",
        ),
        (lines({**READ[0], "f": "pop"}), exits.USAGE, "-:1: pop(): the model 'register' has no operation 'pop'"),
        (
            lines({**WRITE[1], "f": "write"}),
            exits.USAGE,
            'expected the fields type, process, result, time of ok, got "f"',
        ),
        ("\n \n" + lines(*WRITE, {"type": "end"}), exits.USAGE, "-:5: expected one of invoke, ok, fail, info"),
    ],
)
def test_a_pipe_is_judged_to_its_end(text, code, words, monkeypatch):
    read, write = os.pipe()
    os.write(write, text.encode())
    os.close(write)
    with os.fdopen(read) as pipe:
        monkeypatch.setattr("latchfree_support.standard.sys", type("sys", (), {"stdin": pipe}))
        result = CliRunner().invoke(app, ["check", "--follow", "-", "--model", "register"])
    assert result.exit_code == code, result.output
    assert words in result.stdout + result.stderr


def test_a_violation_ends_the_command_while_the_writer_goes_on():
    process = start("-")
    process.stdin.write(lines(*WRITE, *STALE))
    process.stdin.flush()
    assert process.wait(120) == exits.VIOLATION, "though the pipe is still open"
    text, _ = process.communicate()
    assert text.startswith("-: violation: no order explains read() by process 1 (4 events, 2 operations")
    assert "after these:\n    process 0: write(1) -> UNKNOWN, from 1 to 2" in text


def test_ctrl_c_prints_the_verdict_so_far():
    process = start("-")
    process.stdin.write(lines(*WRITE, READ[0]))
    process.stdin.flush()
    Path("events.jsonl").write_text(lines(*WRITE))
    wait_until_it_reads(process)
    out, _ = interrupt(process)
    assert process.returncode == exits.OK
    assert "-: ok: linearizable so far" in out
    assert "followed until Ctrl-C; what comes later was not judged" in out


@pytest.mark.parametrize("how", ["Ctrl-C", "--timeout"])
def test_half_a_line_is_no_line_while_its_writer_lives(how):
    process = start("-", *(["--timeout", "5"] if how == "--timeout" else []))
    process.stdin.write(lines(*WRITE, *READ) + lines(*STALE)[:20])
    process.stdin.flush()
    wait_until_it_reads(process)
    if how == "Ctrl-C":
        process.send_signal(signal.SIGINT)
    assert process.wait(120) == exits.OK  # the writer holds the pipe open until then
    assert "ok: linearizable so far (4 events, 2 operations" in process.communicate()[0]


def test_a_named_pipe_without_a_writer_ends_by_its_timeout():
    os.mkfifo("pipe")
    process = start("pipe", "--timeout", "0.5")
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, "0 events" in out) == (exits.NOTHING, True)


def test_a_named_pipe_is_read_when_its_writer_comes():
    os.mkfifo("pipe")
    process = start("pipe")
    with Path("pipe").open("w") as writer:
        writer.write(lines(*WRITE, *STALE))
    assert "no order explains read()" in process.communicate(timeout=120)[0]
    assert process.returncode == exits.VIOLATION


def wait_until_it_reads(process):
    """Wait until the process has read all that is in its pipe: then its handler of Ctrl-C is in place."""
    import fcntl
    import struct
    import termios
    import time

    for _ in range(12_000):
        waiting = struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0\0\0\0"))[0]
        if waiting == 0:
            return
        time.sleep(0.01)
    raise AssertionError("it never read")


def test_a_file_that_grows_is_judged_on():
    path = Path("events.jsonl")
    path.write_text(lines(*WRITE)[:-5])
    process = start(str(path))
    with path.open("a") as file:
        file.write(lines(*WRITE)[-5:] + lines(*STALE))
    assert process.wait(120) == exits.VIOLATION
    assert "no order explains read()" in process.communicate()[0]


@pytest.mark.parametrize("how", ["replaced", "shorter", "removed", "anew", "grown anew"])
def test_rotation_is_refused_by_name(how):
    path = Path("events.jsonl")
    path.write_text(lines(*WRITE))

    def rotate():
        if how == "shorter":
            path.write_text("")
        elif how.endswith("anew"):  # copied and cut off, and since then longer than it was
            other = lines({**WRITE[0], "process": 7}, {**WRITE[1], "process": 7})
            path.write_text(lines(*WRITE[:1]) * ("grown" in how) + other * 3)
        else:
            path.rename("old.jsonl")
            if how == "replaced":
                path.write_text(lines(*WRITE))

    seen = []

    def follow():
        from latchfree_lincheck.watching.tail import NotTheSameFile
        from latchfree_lincheck.watching.tail import lines as followed

        try:
            for line in followed(str(path)):
                if line is None and len(seen) == 2:
                    rotate()
                    seen.append(None)
                elif line is not None:
                    seen.append(line)
        except NotTheSameFile as error:
            seen.append(str(error))

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    thread.join(120)
    said = {"shorter": "was made shorter", "anew": "was written anew", "grown anew": "was written anew"}
    assert said.get(how, "was removed, or replaced by another file") in seen[-1]


def test_a_timeout_ends_it():
    Path("events.jsonl").write_text(lines(*WRITE))
    result = CliRunner().invoke(
        app, ["check", "--follow", "events.jsonl", "--model", "register", "--timeout", "0.5", "--json"]
    )
    document = json.loads(result.stdout)
    assert (result.exit_code, document["verdict"], document["ended"]) == (exits.OK, "ok", "--timeout 0.5")
    assert (document["events"], document["operations"], document["running"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "b", "--follow", "--model", "register"], "--follow takes one file of events, or -, not 2"),
        (["a", "--follow"], "a: say what to check against: --model"),
        (["a", "--follow", "--model", "register"], "a: No such file"),
        (["a", "--follow", "--model", "heap"], "no model is called 'heap'"),
        (["a", "--whole", "--model", "register"], "--whole is for --follow"),
        (
            ["a", "--follow", "--engine", "wgl", "--model", "register"],
            "--follow judges events; give",
        ),
    ],
)
def test_wrong_usage_is_named(arguments, words):
    result = CliRunner().invoke(app, ["check", *arguments])
    assert result.exit_code == exits.USAGE
    assert words in result.stderr
