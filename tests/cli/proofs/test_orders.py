"""``latchfree orders``: what it says, and that a run that does not go wrong any more is a violation."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_evidence.orders import record


def orders(*arguments: str) -> Result:
    """Run ``latchfree orders``."""
    return CliRunner().invoke(app, ["orders", *arguments])


def test_an_access_is_shown_with_its_runs() -> None:
    result = orders("epochs.py pin exchange")
    assert result.exit_code == exits.OK
    lines = result.stdout.splitlines()
    assert lines[0] == "arena/kernels/epochs.py pin exchange, a store"
    assert "allowed by tso, sra, rc11: on x86 too" in result.stdout
    assert lines[-2:] == [
        "3 of 3 weakened accesses go wrong, and not as coded",
        "1 of 1 ordered accesses are needed by a program; the others by none of these",
    ]


def test_the_list() -> None:
    result = orders("--list", "pin")
    assert result.exit_code == exits.OK
    assert (
        "arena/kernels/epochs.py pin exchange  seq_cst -> a store: data race in pins: read | replace" in result.stdout
    )
    program = "data race in pins: read | retire | advance"
    assert f"arena/kernels/epochs.py pin load_seq  seq_cst -> relaxed: {program}" in result.stdout
    document = json.loads(orders("--list", "--json").stdout)
    assert len(document["orders"]) == len(record.read())


def test_json() -> None:
    document = json.loads(orders("freelists.py spill cas", "--json").stdout)
    assert document["verdict"] == "ok"
    (acquiring, relaxed) = document["orders"]
    assert (acquiring["weakened"], acquiring["needed"]) == ("not seq_cst", False)
    assert (relaxed["weakened"], relaxed["needed"], relaxed["problem"]) == ("relaxed", True, "")


def test_a_run_that_does_not_go_wrong_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [replace(row, choices=()) if row.choices else row for row in record.read()]
    monkeypatch.setattr(record, "read", lambda: rows)
    result = orders("epochs.py pin exchange")
    assert result.exit_code == exits.VIOLATION
    assert "the schedule does not fail any more; search anew: latchfree orders --search" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("latchfree orders 'arena/kernels/epochs.py pin exchange'")


def test_an_access_that_needs_no_order_runs_nothing() -> None:
    result = orders("epochs.py next_block load_seq")
    assert result.exit_code == exits.NOTHING
    assert "0 of 1 ordered accesses are needed by a program" in result.stdout


def test_an_access_that_is_not_there() -> None:
    result = orders("pin nothing")
    assert result.exit_code == exits.USAGE
    assert "no access has 'pin nothing' in its name; latchfree orders --list shows all" in result.output
    assert orders("--search", "pin").exit_code == exits.USAGE
