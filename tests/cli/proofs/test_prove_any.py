"""``latchfree prove --any``: what it says of a right system, of a wrong one, and of a machine without TLC."""

import importlib
import json
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.proofs import any_number
from latchfree_evidence.inductive.systems.ring_strict import RingStrict
from latchfree_evidence.inductive.theorems import THEOREMS
from latchfree_model.tlc import tools


def prove(*arguments: str) -> Result:
    """Run ``latchfree prove --any``."""
    return CliRunner().invoke(app, ["prove", "--any", *arguments])


@pytest.fixture
def alone(monkeypatch):
    """Let all checks be made in this process, so that a test may replace parts of them."""
    monkeypatch.setattr(any_number, "processors", lambda: 1)


class Hasty(RingStrict):
    """A ring that is wrong although it should be right."""

    def __init__(self, wrong: str = "") -> None:
        super().__init__(wrong or "claim without comparing")


class Sound(RingStrict):
    """A ring without wrong variants, so that the check is short."""

    variants = {}  # noqa: RUF012


@pytest.mark.slow
@pytest.mark.parametrize("name", THEOREMS)
def test_a_system_is_proved(name):
    result = prove(name, "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["verdict"]) == (exits.OK, "ok")
    (entry,) = document["systems"]
    assert entry["obligations"] > 10
    assert entry["failures"] == []
    assert entry["tie"]["no_step"] == entry["tie"]["no_edge"] == entry["tie"]["broken"] == {}
    assert len(entry["wrong"]) >= 3
    assert entry["tie"]["edges"] == entry["tie"]["steps"]
    assert all(each["refuted"] and each["run"] for each in entry["wrong"])


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_wrong_system_is_shown(monkeypatch):
    monkeypatch.setitem(THEOREMS, "ring_strict", replace(THEOREMS["ring_strict"], system=Hasty))
    result = prove("ring_strict")
    assert result.exit_code == exits.VIOLATION
    assert "    refuted: PutClaim:ok does not keep not_full" in result.stdout
    assert "    small instances: at_the_end broken by u.Invoke v.Invoke" in result.stdout
    assert "180 differences" in result.stdout
    assert "        no step for PutClaim: 90" in result.stdout
    assert result.stdout.splitlines()[-1] == "latchfree prove --any ring_strict"


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_without_tlc_the_tie_is_open(monkeypatch):
    importlib.import_module("latchfree_model.graph.explore")

    def missing(*_, **__):
        raise tools.ToolMissing("no Java")

    monkeypatch.setitem(THEOREMS, "ring_strict", replace(THEOREMS["ring_strict"], system=Sound))
    monkeypatch.setattr(sys.modules["latchfree_model.graph.explore"], "run_model", missing)
    result = prove("ring_strict")
    assert result.exit_code == exits.INCONCLUSIVE
    assert "    tie to ring_strict: not run: no Java" in result.stdout
    assert "0 of 1 systems proved" in result.stdout


@pytest.mark.slow
def test_side_by_side_the_checks_say_the_same(monkeypatch):
    def said(count):
        monkeypatch.setattr(any_number, "processors", lambda: count)
        result = prove("inverse_bloom")
        assert result.exit_code == exits.OK
        return re.sub(r"\d+\.\d s", "some s", result.stdout).splitlines()

    assert said(2) == said(1)


def test_ctrl_c_leaves_no_process(tmp_path):
    command = [sys.executable, "-m", "latchfree_cli", "prove", "--any"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path
    ) as process:
        while len(members(process.pid)) < 3:  # the process, and those that work for it
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
    assert (process.returncode, stderr) == (exits.INTERRUPTED, "latchfree: interrupted\n")
    until = time.monotonic() + 60
    while members(process.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert members(process.pid) == []


def members(session):
    """Return the processes of a session."""
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            with suppress(OSError):
                state, _, _, its = (each / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(its) == session and state != "Z":
                    found.append(int(each.name))
    return found


def test_the_list():
    result = prove("--list")
    assert result.exit_code == exits.OK
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(THEOREMS)


def test_an_unknown_system_is_named():
    result = prove("ring_strikt")
    assert result.exit_code == exits.USAGE
    assert "no system is called 'ring_strikt'; did you mean ring_strict?" in result.stderr
