"""The table of weak exploration in docs/exploring.md: a row for each target, and its numbers of schedules come anew."""

import re
from pathlib import Path

import pytest

from latchfree_evidence.orders.programs import targets
from latchfree_evidence.targets.finding import find_target
from latchfree_explore import Scenario, search
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.table import strategy_named
from latchfree_explore.weak.axioms import MODELS

PAGE = (Path(__file__).parents[3] / "docs" / "exploring.md").read_text()
BOUND = 20_000
QUICK = ("ring", "sleepers", "free-list")


def rows() -> dict[str, list[str]]:
    """Return the cells of the table behind the target, by target."""
    text = PAGE.partition(f"| target | program | {' | '.join(MODELS)} | sc, a second |")[2].partition("\n\n")[0]
    found = {}
    for line in text.splitlines()[2:]:
        _, target, *cells, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line))
        found[target] = [cell.replace("\\|", "|").strip("`") for cell in cells]
    return found


ROWS = rows()


def test_each_target_has_a_row() -> None:
    assert list(ROWS) == list(targets())


def test_each_ratio_is_that_of_its_rates() -> None:
    for target, (*_, strong, weak, ratio) in ROWS.items():
        of = float(weak.replace(",", "")) / float(strong.replace(",", ""))
        assert f"{of:.2f}" == ratio, target


@pytest.mark.parametrize(
    "target", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ROWS]
)
def test_each_number_of_schedules_is_what_comes(target: str) -> None:
    program, *shown = ROWS[target][: 1 + len(MODELS)]
    for memory, cell in zip(MODELS, shown, strict=True):
        machine = Machine(find_target(target), Scenario.parse(program), memory=memory, races=True)
        assert search.warm_up(machine) is None
        done = search.run(machine, strategy_named("dpor"), schedules=BOUND)
        assert done.failure is None
        assert cell == f"{done.schedules:,}" + ("" if done.complete else " (bound)"), memory
