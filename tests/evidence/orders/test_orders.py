"""The record of orders: it is of today's code, each of its runs goes wrong again, and the page has its tables."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from latchfree_evidence.orders import page, record
from latchfree_evidence.orders.accesses import WAYS, OrderedAccess, access_at, by_line
from latchfree_evidence.orders.again import run_again
from latchfree_evidence.orders.programs import Weakly
from latchfree_evidence.orders.search import goes_wrong, machine_for, sites_of

ROWS = record.read()
PAGE = Path(__file__).parents[3] / "docs" / "orders.md"
PIN = OrderedAccess("arena/kernels/epochs.py", "pin", "exchange", 1)
TARGETS = sorted({row.target for row in ROWS if row.needed})


def test_the_record_is_of_todays_code() -> None:
    assert list(record.gone(ROWS)) == []
    why = record.unseen()
    assert [str(access) for access in record.unlisted(ROWS) if not record.explained(access, why)] == []


def test_each_reason_is_of_some_access() -> None:
    unlisted = list(record.unlisted(ROWS))
    assert len(unlisted) >= len(list(record.unseen())) > 0
    for name in record.unseen():
        assert any(name in (access.file, f"{access.file} {access.function}") for access in unlisted), name


def test_every_access_and_every_way_is_listed() -> None:
    found = {(row.access, row.way) for row in ROWS}
    assert found == {(access, way) for access, _ in found for way in access.ways}
    assert len({access for access, _ in found}) >= 60


@pytest.mark.parametrize("target", TARGETS)
def test_each_run_goes_wrong_again(target: str) -> None:
    ran = list(run_again([row for row in ROWS if row.target == target]))
    assert [again.problem for again in ran if again.problem] == []
    assert all(again.failure is not None and again.failure.kind == again.row.kind for again in ran)


def test_a_row_that_does_not_hold_is_told() -> None:
    (row,) = (row for row in ROWS if row.access == PIN and row.way == "a store")
    (again,) = run_again([replace(row, choices=())])
    assert "does not fail any more" in again.problem
    (again,) = run_again([replace(row, access=OrderedAccess(row.access.file, "pin", "exchange", 2))])
    assert "does not make this access" in again.problem


def test_the_pin_needs_its_exchange_on_x86_too() -> None:
    """Found anew, without the record: mutant R5."""
    machine = machine_for(Weakly("pins", "read | replace"))
    sites = sites_of(machine)
    assert goes_wrong(machine, set(), "a store") == (None, pytest.approx(3_000, abs=3_000))
    failure, _ = goes_wrong(machine, sites[PIN], "a store")
    assert failure is not None
    assert "tso" in failure.models
    failure, _ = goes_wrong(machine, sites[PIN], "not seq_cst")
    assert failure is not None
    assert "tso" not in failure.models


def test_accesses_are_told_apart() -> None:
    accesses = list(by_line().values())
    assert len(set(accesses)) == len(accesses)
    assert {access.kind for access in accesses} >= {"load", "load_seq", "load_unsure", "store", "cas", "exchange"}
    assert all(set(access.ways) <= set(WAYS) for access in accesses)
    assert not any(access.file in ("jit/cache.py", "topics/mask/kernels/texts.py") for access in accesses)
    assert access_at("latchfree/no/such.py:1", "load") is None


@pytest.mark.parametrize("name", page.TABLES)
def test_the_page_has_the_tables_of_the_record(name: str) -> None:
    found = re.search(
        rf"<!-- orders {name}: start -->\n(.*?)\n<!-- orders {name}: end -->", PAGE.read_text(), re.DOTALL
    )
    assert found is not None
    assert found[1] == page.TABLES[name](ROWS), "python -m latchfree_evidence.orders docs/orders.md"
