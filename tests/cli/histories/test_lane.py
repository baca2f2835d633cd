"""The fast lane says what the ordinary path says, byte for byte but for the seconds, or leaves a file to that path."""

import os
import random
import subprocess
from pathlib import Path

import pytest
from lane_ways import by_lane, by_ordinary_path, command, compared, needs_library, plain
from random_logs import damaged, register_log, store_log

from latchfree_cli import exits
from latchfree_cli.histories import lane, lane_logs
from latchfree_lincheck.engine.frontier.kernels.configurations import CONTROL_FIELDS, FLIGHT_FIELDS, SLOTS
from latchfree_lincheck.engine.logs import lines, register, store, told

GOOD = (
    "INFO  jepsen.util - 0\t:invoke\t:write\t1\nINFO  jepsen.util - 0\t:ok\t:write\t1\n"
    "INFO  jepsen.util - 1\t:invoke\t:read\tnil\nINFO  jepsen.util - 1\t:ok\t:read\t1\n"
)
BAD = GOOD.replace("read\t1", "read\t2")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run in an empty folder, with short paths."""
    monkeypatch.chdir(tmp_path)


def campaign(rng, make, rounds):
    """Judge random logs and damaged ones, a file each; return how many had each answer."""
    answers = {exits.OK: 0, exits.VIOLATION: 0, None: 0}
    for number in range(rounds):
        text = make(rng, rng.choice([3, 10, 40]))
        folder = Path(str(number))
        folder.mkdir()
        file = folder / "a.log"
        file.write_bytes((text if number % 2 else damaged(rng, text)).encode())
        answers[compared([file], folder)] += 1
    return answers


@pytest.mark.parametrize("make", [register_log, store_log])
def test_random_and_damaged_logs(make):
    answers = campaign(random.Random(15), make, 200)
    assert min(answers.values()) >= 10


@pytest.mark.slow
@pytest.mark.parametrize("make", [register_log, store_log])
@pytest.mark.parametrize("seed", range(4))
def test_many_random_and_damaged_logs(make, seed):
    answers = campaign(random.Random(seed), make, 5_500)
    assert min(answers.values()) >= 500


def test_the_lane_serves_what_no_one_damaged():
    rng = random.Random(3)
    for make in (register_log, store_log):
        for number in range(20):
            file = Path(f"{make.__name__}{number}.log")
            file.write_text(make(rng, 20))
            assert compared([file], Path(f"{make.__name__}{number}")) is not None


def test_several_files_in_their_order():
    Path("good.log").write_text(GOOD)
    Path("bad.log").write_text(BAD)
    Path("it's.log").write_text(GOOD)
    files = [Path("good.log"), Path("bad.log"), Path("it's.log"), Path("bad.log")]
    assert compared([files[0], files[2]], Path("a")) == exits.OK
    assert compared(files[:3], Path("b")) == exits.VIOLATION
    assert compared(files[:3], Path("c"), quiet=True) == exits.VIOLATION
    assert compared(files[:3], Path("b")) == exits.VIOLATION  # files are replaced


@pytest.mark.parametrize("last", [GOOD, BAD, "nothing\n"])
def test_threads_judge_in_the_order_of_the_files(monkeypatch, last):
    monkeypatch.setattr(lane, "ALONE", 0.0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    rng = random.Random(4)
    texts = [rng.choice([register_log, store_log])(rng, 20) for _ in range(40)]
    files = [Path(f"{number}.log") for number in range(41)]
    for file, text in zip(files, [*texts, last], strict=True):
        file.write_text(text)
    code = compared(files, Path("a"))
    assert (code is None) == (last == "nothing\n")


def test_the_numbers_of_both_sides_agree():
    names = ("OK", "VIOLATION")
    assert all(getattr(lane, name) == getattr(lines, name) for name in names)
    names = (
        "PROCESS",
        "F",
        "FORM",
        "A",
        "B",
        "C",
        "D",
        "RESULT",
        "SIZE",
        "STATE",
        "INVOKE",
        "RETURN",
        "COLUMNS",
        "RETURNED",
    )
    assert all(getattr(lane_logs, name) == getattr(lines, name) for name in names)
    sizes = (CONTROL_FIELDS, FLIGHT_FIELDS, SLOTS, SLOTS, SLOTS)
    assert tuple(map(len, lane.Room(0, True).given[0][:5])) == sizes
    assert (lane.CONFIGURATIONS, lane.PATHS) == (store.CONFIGURATIONS, store.LOG)
    assert store.CONFIGURATIONS >= register.CONFIGURATIONS
    assert store.LOG >= register.LOG
    names = ("PARTIAL", "HELD", "SHOWN", "MODEL", "NAME", "MONITORED", "LEGAL", "FIRST", "MOST", "TOLD")
    assert all(getattr(lane_logs, name) == getattr(told, name) for name in names)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["check", "a.log"], (["a.log"], "out", False, "")),
        (["check", "./b//a.log", "-q", "b/a.log", "--out", "/x/"], (["b/a.log"], "/x", True, "")),
        (["check", "../a.log", "-o", "x", "-o", "y"], (["../a.log"], "y", False, "")),
        (["check", "a.log", "--model", "register", "--model", "map"], (["a.log"], "out", False, "map")),
        (["check", "a.log", "--json"], None),
        (["check", "-"], None),
        (["check", "a.log", "--model", "queue:2"], None),
        (["check", "a.log", "--model=map"], None),
        (["check", "a.log", "--model"], None),
        (["check", "a.parquet"], None),
        (["check", "//a.log"], None),
        (["check", "a.log\n"], None),
        (["check", "é.log"], None),
        (["check", ".log"], None),
        (["check", "a..gz"], None),
        (["check", "..", "a.log"], None),
        (["check", "a.log", "-o"], None),
        (["check", ""], None),
        (["check"], None),
        (["shrink", "a.log"], None),
    ],
)
def test_what_is_asked(words, asked):
    try:
        assert lane._asked(words) == asked
    except lane.NotUsual:
        assert asked is None


@pytest.mark.parametrize("name", ["a", "a.log", "a.b.log", "a.log.gz", "a.zst", "x/a.log", "a.gz.gz", "a b.log"])
def test_the_name_of_a_history(name):
    from latchfree_lincheck.formats.source import stem_of

    assert lane.stem(name) == stem_of(Path(name))


@pytest.mark.parametrize("word", ["a", "a b", "it's", "a$", "~a", "a/b-c_d.e", "a@b", "[x]"])
def test_a_word_for_a_shell(word):
    import shlex

    assert lane.quoted(word) == shlex.quote(word)


def test_files_that_are_not_usual(tmp_path):
    Path("good.log").write_text(GOOD)
    Path("none.log").write_text("")
    Path("other.jsonl").write_text("{}\n")
    Path("folder.log").mkdir()
    os.mkfifo("pipe.log")
    for name in ("other.jsonl", "none.log", "folder.log", "pipe.log"):
        assert by_lane([Path("good.log"), Path(name)], tmp_path / "out") is None
    assert not (tmp_path / "out").exists()


@needs_library
@pytest.mark.parametrize("text", [GOOD, BAD])
def test_a_usual_log_loads_nothing_heavy(text):
    Path("a.log").write_text(text)
    done = command("check", "a.log")
    assert (done.returncode, done.stderr) == (int(text == BAD), "[]\n")
    assert (done.returncode, plain(done.stdout)) == by_ordinary_path([Path("a.log")], Path("out"))


@needs_library
def test_a_pipe_that_nobody_reads_and_a_full_disk():
    Path("a.log").write_text(GOOD)
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        assert command("check", "a.log", capture_output=False, stdout=pipe, stderr=subprocess.PIPE).returncode == 141
    with Path("/dev/full").open("w") as full:
        done = command("check", "a.log", capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == exits.TOOL
    assert "cannot write to standard output: No space left on device" in done.stderr


@needs_library
def test_ctrl_c_and_defects():
    Path("a.log").write_text(GOOD)
    before = "from latchfree_cli.histories import lane\ndef fail(*_): raise {}\nlane.judged = fail"
    done = command("check", "a.log", before=before.format("KeyboardInterrupt"))
    assert (done.returncode, done.stdout) == (exits.INTERRUPTED, "")
    assert done.stderr.startswith("latchfree: interrupted\n")
    done = command("check", "a.log", before=before.format("TypeError"))
    assert (done.returncode, done.stdout[:9]) == (exits.OK, "a.log: a:")
