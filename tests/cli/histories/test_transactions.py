"""``latchfree check`` on files of transactions: verdicts by level, pages, and what it refuses."""

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app

SKEW = """{:type :ok, :process 0, :f :txn, :value [[:r :x nil] [:append :y 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r :y nil] [:append :x 1]]}
"""
REGISTERS = '{"transaction": [["w", "x", 1]]}\n{"transaction": [["r", "x", 1]]}\n'


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)
    Path("skew.edn").write_text(SKEW)
    Path("good.jsonl").write_text(REGISTERS)


def check(*arguments: str) -> Result:
    """Run ``latchfree check``."""
    return CliRunner().invoke(app, ["check", *arguments])


def test_a_violation_is_told_drawn_and_reproduced() -> None:
    result = check("skew.edn")
    assert result.exit_code == exits.VIOLATION
    assert "skew.edn: violation: not strict-serializable: G2-item (2 transactions, list-append)" in result.stdout
    assert "T1 before T0: T1 read :y as empty, and T0 appended 1: a contradiction" in result.stdout
    last = result.stdout.splitlines()[-1]
    assert last == "latchfree check skew.edn --transactions list-append --level strict-serializable"
    assert check(*last.split()[2:]).exit_code == exits.VIOLATION
    assert "G2-item" in Path("out/check/skew.txt").read_text()
    assert "<svg" in Path("out/check/skew.html").read_text()


def test_a_level_that_allows_the_anomaly() -> None:
    result = check("skew.edn", "--level", "snapshot-isolation")
    assert result.exit_code == exits.OK
    assert "ok: snapshot-isolation allows G2-item" in result.stdout


def test_several_files_as_json() -> None:
    result = check("good.jsonl", "skew.edn", "--json")
    assert result.exit_code == exits.VIOLATION
    good, skew = json.loads(result.stdout)["histories"]
    assert (good["verdict"], good["kind"], good["anomalies"]) == ("ok", "rw-register", [])
    assert (skew["verdict"], skew["anomalies"], skew["not"]) == ("violation", ["G2-item"], ["repeatable-read"])


def test_packed_files_and_standard_input() -> None:
    Path("skew.edn.gz").write_bytes(gzip.compress(SKEW.encode()))
    result = check("skew.edn.gz")
    assert result.exit_code == exits.VIOLATION
    assert Path("out/check/skew.html").exists()
    Path("torn.edn.gz").write_bytes(gzip.compress(SKEW.encode())[:-9])
    assert check("torn.edn.gz").exit_code == exits.USAGE
    piped = CliRunner().invoke(app, ["check", "-", "--level", "serializable"], input=SKEW)
    assert piped.exit_code == exits.VIOLATION
    assert "-: violation: not serializable: G2-item" in piped.stdout
    assert not piped.stdout.splitlines()[-1].startswith("latchfree check")  # nobody can read it again


def test_nothing_committed() -> None:
    Path("none.edn").write_text("{:type :fail :f :txn :value [[:append 1 1]]}")
    assert check("none.edn").exit_code == exits.NOTHING
    assert check("none.edn", "good.jsonl").exit_code == exits.OK


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["skew.edn", "--model", "map"], "--model makes no difference"),
        (["skew.edn", "--engine", "wgl"], "--engine makes no difference"),
        (["skew.edn", "--criterion", "sequential-consistency"], "--criterion makes no difference"),
        (["skew.edn", "--level", "best"], "no level of isolation is called 'best'"),
        (["skew.edn", "--transactions", "sets"], "no kind of history is called 'sets'"),
        (["skew.edn", "--keys", "linearizable"], "is for rw-register"),
        (["good.jsonl", "--keys", "ordered"], "choose one of unordered"),
        (["skew.edn", "--transactions", "rw-register"], "expected r or w"),
        (["absent.edn", "--transactions", "list-append"], "cannot read absent.edn"),
        (["torn.edn"], "torn.edn:2: expected"),
    ],
)
def test_what_is_refused(arguments: list[str], said: str) -> None:
    Path("torn.edn").write_text(SKEW[:-10])
    result = check(*arguments)
    assert result.exit_code == exits.USAGE
    assert said in result.stderr
