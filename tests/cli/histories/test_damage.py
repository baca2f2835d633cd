"""Damaged files through the commands: exit code 2 with the line, or the verdict of what was read whole."""

import os
import random
import re
from pathlib import Path

import pytest
from damaged_files import MODELS, expected, files, usual_files
from lane_ways import functions
from lincheck_damage import damaged, truth
from typer.main import get_command
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.histories import lane

WHOLE = files()
USUAL = usual_files()
TREE = get_command(app)
COMMANDS = {"check": ["-o", "out"], "show": ["-o", "page.html"], "shrink": ["-o", "out"]}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("typer.testing._get_command", lambda app: TREE)  # which is made anew each time, in 20 ms


def run(command, kind, data):
    """Return the exit code of a command on a file, and what it says on standard error."""
    Path("h").write_bytes(data)
    if kind == "events":
        return follow(data)
    words = ["--transactions", "list-append"] if kind.startswith("txn") else ["--model", MODELS[kind], "--format", kind]
    result = CliRunner().invoke(app, [command, "h", *words, *COMMANDS[command]])
    return result.exit_code, result.stderr


def follow(data):
    """Return what ``check --follow`` says about events on its standard input."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    with os.fdopen(reading) as pipe, pytest.MonkeyPatch.context() as patch:
        patch.setattr("latchfree_support.standard.sys", type("sys", (), {"stdin": pipe}))
        result = CliRunner().invoke(app, ["check", "--follow", "-", "--model", "cas-register"])
    return result.exit_code, result.stderr


def assert_noticed(rng, kind, command):
    """Damage a file and run a command on it; return the code."""
    whole = WHOLE[kind]
    before, after = damaged(rng, whole)
    code, harmless = truth(expected, kind, after)
    got, said = run(command, kind, after)
    if got == exits.USAGE and (code is None or harmless):
        name = "-" if kind == "events" else "h"
        assert re.search(rf"{name}:\d+: |{name}: T\d+ \(line \d+\)[: ]", said, re.MULTILINE), f"{said}: {after!r}"
        return got
    codes = {code} if code is not None else {truth(expected, kind, before)[0]} if harmless else {exits.USAGE}
    if command == "shrink" and exits.VIOLATION not in codes:
        codes |= {exits.OK, exits.NOTHING}
    assert got in codes, f"{kind}, {command}: {got}, not {codes}: {said}: {after!r}"
    return got


def campaign(rng, count):
    """Damage files of every kind; return how many had each kind and code."""
    codes = {}
    kinds = list(WHOLE)
    for turn in range(count):
        kind = kinds[turn % len(kinds)]
        command = "check" if kind not in MODELS or turn % 10 else rng.choice(["show", "shrink"])
        code = assert_noticed(rng, kind, command)
        codes[kind, code] = codes.get((kind, code), 0) + 1
    return codes


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_whole_is_a_violation(kind):
    assert expected(kind, WHOLE[kind]) == exits.VIOLATION
    for command in COMMANDS if kind in MODELS else ["check"]:
        assert run(command, kind, WHOLE[kind])[0] == exits.VIOLATION


def test_an_index_that_lost_its_name():
    """Without it, nobody would see that two maps have changed places."""
    lines = WHOLE["txn-edn"].splitlines(keepends=True)
    lines[3:5] = lines[4], lines[3].replace(b":index", b":hndex")
    code, said = run("check", "txn-edn", b"".join(lines))
    assert (code, "h:5: expected an :index in all maps" in said) == (exits.USAGE, True)


def test_an_index_that_is_no_number():
    lines = WHOLE["txn-edn"].splitlines(keepends=True)
    lines[3:5] = lines[4], lines[3].replace(b":index 3", b":index ?")
    code, said = run("check", "txn-edn", b"".join(lines))
    assert (code, "h:5: expected an integer as :index" in said) == (exits.USAGE, True)


def test_damage_is_noticed():
    codes = campaign(random.Random(15), 210)
    for kind in WHOLE:
        assert codes[kind, exits.USAGE] >= 3, codes
    assert sum(count for (_, code), count in codes.items() if code == exits.VIOLATION) >= 20, codes


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_much_damage_is_noticed(rng, part):
    rng = random.Random(rng.randrange(2**32) + part)
    codes = campaign(rng, int(os.environ.get("LATCHFREE_DAMAGED", "100000")) // 10)
    assert {code for _, code in codes} <= {exits.OK, exits.VIOLATION, exits.USAGE, exits.NOTHING}, codes
    print(sorted(codes.items()))


def by_lane(data):
    """Return the exit code of the fast lane, or None if it leaves a file to the ordinary path."""
    Path("h").write_bytes(data)
    try:
        found = lane.judged(["h"], "out", False, "", functions)
    except lane.NotUsual:
        return None
    return None if found is None else found[0]


def lane_campaign(rng, count):
    """Damage usual files of every kind; return how often the fast lane gave which answer."""
    codes = {}
    for turn in range(count):
        kind = list(USUAL)[turn % len(USUAL)]
        before, after = damaged(rng, USUAL[kind])
        got = by_lane(after)
        codes[kind, got] = codes.get((kind, got), 0) + 1
        if got is not None:
            code, harmless = truth(expected, kind, after)
            right = {code} if code is not None else {truth(expected, kind, before)[0]} if harmless else set()
            assert got in right, f"{kind}: {got}, not {right}: {after!r}"
    return codes


@pytest.mark.parametrize("kind", USUAL)
def test_the_lane_judges_what_is_whole(kind):
    assert by_lane(USUAL[kind]) == expected(kind, USUAL[kind]) == exits.VIOLATION


def test_damage_is_noticed_by_the_lane():
    codes = lane_campaign(random.Random(15), 2_000)
    for kind in USUAL:
        assert min(codes.get((kind, code), 0) for code in (None, exits.VIOLATION)) >= 5, codes
    assert sum(count for (_, code), count in codes.items() if code == exits.OK) >= 10, codes


@pytest.mark.slow
def test_much_damage_is_noticed_by_the_lane(rng):
    codes = lane_campaign(rng, int(os.environ.get("LATCHFREE_DAMAGED", "100000")))
    print(sorted(codes.items(), key=str))
