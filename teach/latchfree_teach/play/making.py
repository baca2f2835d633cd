"""Make a play page of a target and a scenario, or of a known bug.

The page has every state where there are few. Else it has the states within one change of threads more than the first
violation needs; and if these are too many, those near one failing schedule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Final

from latchfree_explore.machine.machine import Machine
from latchfree_explore.scenario import Scenario
from latchfree_explore.search import run, warm_up
from latchfree_explore.strategies.bounded import BOUNDED
from latchfree_explore.target import Target
from latchfree_support.notebook import frame, panel
from latchfree_teach.play.document import document
from latchfree_teach.play.growing import StateGraph, corridor, whole, within
from latchfree_teach.play.page import page
from latchfree_teach.play.painters.picture import Painter
from latchfree_teach.play.par import shortest
from latchfree_teach.play.walking import MOST_STEPS, Walker

#: States searched for a page of all, and for one that has a bound.
MOST_WHOLE: Final = 4_000
MOST_NEAR: Final = 8_000
_MOST_SWITCHES: Final = 5
_PREEMPTIONS: Final = 4
_SCHEDULES: Final = 400_000
_MOST_AWAY: Final = 4


@dataclass(frozen=True)
class Play:
    """A play page.

    Attributes
    ----------
    text : str
        The HTML page.
    graph : StateGraph
        The states, before those with one future were merged.
    states : int
        States on the page.
    par : int or None
        The fewest changes of threads to a violation on the page; None if there is none.
    data : dict
        What the page is given, as JSON values.
    """

    text: str
    graph: StateGraph
    states: int
    par: int | None
    data: dict[str, Any] = field(repr=False)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame."""
        par = "no schedule on it fails" if self.par is None else f"par is {self.par}"
        return panel(f"{self.states:,} states; {par}", [frame(self.text)])


def play_page(
    target: Target,
    scenario: str | Scenario,
    *,
    switches: int | None = None,
    title: str = "",
    story: str = "",
    painter: Painter | None = None,
    opened: bool = False,
    lines: bool = True,
) -> Play:
    """Return the play page of a scenario.

    Parameters
    ----------
    target : Target
        The structure whose compiled code runs.
    scenario : str or Scenario
        What each thread calls.
    switches : int, optional
        The page has the states reached with at most so many changes of threads; by default all, if they are few.
    title, story : str
        Shown at the top.
    painter : Painter, optional
        Draws memory; by default the one of the target, or one that draws words.
    opened : bool
        Whether the page opens at the end of a shortest failing schedule, if there is one.
    lines : bool
        Whether the page shows lines of source.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If the target cannot run the scenario or its model cannot be followed, or there are too many states.
    """
    _right_kinds(target=(target, Target), scenario=(scenario, str | Scenario), title=(title, str), story=(story, str))
    _whole(switches)
    parsed = Scenario.parse(scenario) if isinstance(scenario, str) else scenario
    walker = Walker(Machine(target, parsed, steps=MOST_STEPS))
    graph = _chosen(walker) if switches is None else within(walker, switches, most=MOST_NEAR)
    if not graph.complete:
        raise ValueError(
            f"{parsed}: more than {MOST_NEAR:,} states {graph.bound}; "
            "ask for fewer changes of threads or a shorter scenario"
        )
    data: dict[str, Any] = document(graph, title=title or target.name, story=story, painter=painter)
    if not lines:
        data["sources"] = {}
    best = shortest(graph.states[0]) if opened else None
    if best is not None:
        data["open"] = best[1]
    return Play(page(data), graph, len(data["states"]), data["par"], data)


def mutant_page(name: str, *, scenario: str | None = None, switches: int | None = None) -> Play:
    """Return the play page of a seeded bug; it must be the first use of its structure in this process.

    Parameters
    ----------
    name : str
        Such as "S1"; see `latchfree_evidence.MUTANTS`.
    scenario : str, optional
        By default the mutant's own.
    switches : int, optional
        As for `play_page`.

    Raises
    ------
    TypeError
        If an argument is of another kind.
    ValueError
        If there is no such mutant, or neither it nor the caller has a scenario.
    RuntimeError
        If the structure is loaded already.
    """
    from latchfree_evidence.mutants import MUTANTS, apply_mutant
    from latchfree_evidence.targets.finding import find_target

    _right_kinds(name=(name, str), scenario=(scenario, str | None))
    _whole(switches)
    if name not in MUTANTS:
        raise ValueError(f"unknown mutant {name!r}; there are: {', '.join(MUTANTS)}")
    mutant = MUTANTS[name]
    if mutant.scenario is None:
        raise ValueError(f"mutant {name} has no page: the explorer cannot show it ({mutant.summary})")
    apply_mutant(name)
    return play_page(
        find_target(mutant.target),
        scenario or mutant.scenario,
        switches=switches,
        title=f"{mutant.target}, mutant {name}",
        story=_story(mutant.summary, mutant.published),
    )


def _right_kinds(**given: tuple[object, type | UnionType]) -> None:
    """Raise `TypeError`, naming the argument, if one is of another kind than wanted."""
    for argument, (value, kind) in given.items():
        if not isinstance(value, kind):
            wanted = kind.__name__ if isinstance(kind, type) else str(kind)
            raise TypeError(f"{argument} must be a {wanted}, not {type(value).__name__}")


def _whole(switches: object) -> None:
    if switches is None:
        return
    if not isinstance(switches, int) or isinstance(switches, bool):
        raise TypeError(f"switches must be a whole number, not {type(switches).__name__}")
    if switches < 0:
        raise ValueError(f"switches must be at least 0, got {switches}")


def _story(summary: str, published: str | None) -> str:
    return f"{summary[0].upper()}{summary[1:]}." + (f" Published: {published}." if published else "")


def _chosen(walker: Walker) -> StateGraph:
    """Return the largest graph that a page has room for."""
    graph = whole(walker, most=MOST_WHOLE)
    if graph.complete:
        return graph
    best = None
    for switches in range(_MOST_SWITCHES + 1):
        graph = within(walker, switches, most=MOST_NEAR)
        if not graph.complete:
            break
        found = best is not None and shortest(best.states[0]) is not None
        best = graph
        if found:
            return graph
    if best is not None and shortest(best.states[0]) is not None:
        return best
    schedule = _failing(walker.machine)
    if schedule is not None:
        return _widest(walker, schedule)
    assert best is not None, "no change of threads at all is one state a move"
    return best


def _widest(walker: Walker, schedule: list[int]) -> StateGraph:
    """Return the widest corridor that a page has room for."""
    best = corridor(walker, schedule, 1, most=MOST_NEAR)
    for moves in range(2, _MOST_AWAY + 1):
        graph = corridor(walker, schedule, moves, most=MOST_WHOLE)
        if not graph.complete:
            break
        best = graph
    return best


def _failing(machine: Machine) -> list[int] | None:
    """Return a failing schedule with as few preemptions as can be, None if none was found."""
    failure = warm_up(machine)
    for bound in range(_PREEMPTIONS):
        if failure is None:
            failure = run(machine, BOUNDED, bound=bound, schedules=_SCHEDULES).failure
    return None if failure is None else failure.schedule
