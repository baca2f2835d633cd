"""The docs show the figures of the record."""

import json
from pathlib import Path

from latchfree_evidence.systematic.equivalents import reasons
from latchfree_evidence.systematic.figures import figures
from latchfree_evidence.systematic.generating import all_mutants
from latchfree_evidence.systematic.running import RECORD

PAGE = Path(__file__).parents[3] / "docs" / "mutants.md"


def test_the_page_has_the_figures_of_the_record():
    assert figures() in PAGE.read_text()


def test_the_record_is_of_the_mutants_that_there_are():
    record = json.loads(RECORD.read_text())
    assert set(record["mutants"]) == {mutant.name for mutant in all_mutants()}


def test_what_has_a_reason_has_survived():
    mutants = json.loads(RECORD.read_text())["mutants"]
    assert not [name for name in reasons() if mutants[name]["layer"] is not None]


def test_no_survivor_is_without_a_reason():
    mutants, argued = json.loads(RECORD.read_text())["mutants"], reasons()
    assert not [name for name, verdict in mutants.items() if verdict["layer"] is None and name not in argued]


def test_figures_tell_a_survivor_without_a_reason():
    mutant = {"layer": None, "operator": "swap", "how": ""}
    text = figures(
        {"mutants": {"a.py f: swap: x -> y": mutant, "a.py f: swap: y -> x": mutant}}, {"a.py f: swap: x -> y": "same"}
    )
    assert "Of 2 mutants 0 are killed: 0.0 % of the 1 that" in text
    assert text.endswith("These survive without a reason:\n\n- `a.py f: swap: y -> x`")
