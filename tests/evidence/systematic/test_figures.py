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


def test_what_is_argued_equivalent_has_survived():
    mutants = json.loads(RECORD.read_text())["mutants"]
    assert not [name for name in reasons() if mutants[name]["layer"] is not None]


def test_enough_are_killed():
    mutants, argued = json.loads(RECORD.read_text())["mutants"], reasons()
    left = [name for name, verdict in mutants.items() if verdict["layer"] is None and name not in argued]
    assert len(left) <= 0.05 * (len(mutants) - len(argued))
