"""``latchfree prove --any``: what it says of a right system, of a wrong one, and of a machine without TLC."""

import importlib
import json
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_evidence.inductive.systems.ring_strict import RingStrict
from latchfree_evidence.inductive.theorems import THEOREMS
from latchfree_model.tlc import tools


def prove(*arguments: str) -> Result:
    """Run ``latchfree prove --any``."""
    return CliRunner().invoke(app, ["prove", "--any", *arguments])


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


def test_the_list():
    result = prove("--list")
    assert result.exit_code == exits.OK
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(THEOREMS)


def test_an_unknown_system_is_named():
    result = prove("ring_strikt")
    assert result.exit_code == exits.USAGE
    assert "no system is called 'ring_strikt'; did you mean ring_strict?" in result.stderr
