"""Measure action coverage: a model in which no state takes some action may be vacuous.

One model may take an action that another leaves out, so coverage is measured over several models together. An action is
known by its name; if two modules have an action of the same name, either counts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from latchfree_model.graph.state_graph import StateGraph

PLACE = re.compile(r"line (\d+), col \d+ to line \d+, col \d+ of module (\w+)")


@dataclass(frozen=True, slots=True)
class ActionCoverage:
    """How often an action is taken.

    Parameters
    ----------
    action : str
        Its name.
    place : str
        Where it stands: ``spec/Ctrie.tla:311``.
    steps : int
        How many steps of the graphs take it.
    """

    action: str
    place: str
    steps: int


def action_coverage(
    actions: Iterable[tuple[str, str]], graphs: Sequence[StateGraph], folders: Sequence[Path]
) -> list[ActionCoverage]:
    """Return for each action how many steps of all the graphs take it, in the order of the actions.

    Parameters
    ----------
    actions : iterable of (str, str)
        Names and places, as `list_actions` returns them; an action may come more than once.
    graphs : sequence of StateGraph
        The graphs.
    folders : sequence of Path
        Where the modules are.
    """
    taken = Counter(step.action for graph in graphs for step in graph.steps())
    return [
        ActionCoverage(action, find_place(place, folders), taken[action]) for action, place in dict(actions).items()
    ]


def find_place(place: str, folders: Sequence[Path]) -> str:
    """Return a place of TLC's as file and line, or as it is if there is no such file."""
    match = PLACE.match(place)
    if match:
        for folder in folders:
            file = folder / f"{match[2]}.tla"
            if file.is_file():
                return f"{file}:{match[1]}"
    return place
