"""Make a play page of plain Python: of calls on an object, or of functions that run as threads.

The page has every state where there are few. Else it has those within one change of threads more than the first failure
needs, or as many changes as there is room for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree_explore.python.classes import calls_of, checked_scenario
from latchfree_explore.python.exploring import require_callable
from latchfree_explore.python.program import Machine, Program, Threads
from latchfree_explore.scenario import Scenario
from latchfree_model import SequentialModel, get_model
from latchfree_support.notebook import frame, panel
from latchfree_teach.play.page import page
from latchfree_teach.play.par import fewest_changes
from latchfree_teach.play.plain.document import data_of
from latchfree_teach.play.plain.walking import Stale, State, Walker

MOST_STATES: Final = 2_500
MOST_THREADS: Final = 9
_MOST_SWITCHES: Final = 6
_TRIES: Final = 50


@dataclass(frozen=True)
class PythonPlay:
    """A play page of plain Python.

    Attributes
    ----------
    text : str
        The HTML page.
    states : int
        States on the page.
    bound : str
        "" if all states are there; else which are, in words.
    par : int or None
        The fewest changes of threads to a failure on the page; None if there is none.
    data : dict
        What the page is given, as JSON values.
    """

    text: str
    states: int
    bound: str
    par: int | None
    data: dict[str, Any] = field(repr=False)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the page in a frame."""
        par = "no schedule on it fails" if self.par is None else f"par is {self.par}"
        return panel(f"{self.states:,} states; {par}", [frame(self.text)])


def play_object(
    make: Callable[[], Any],
    scenario: str | Scenario,
    *,
    model: str | SequentialModel[Any] = "map",
    switches: str = "free",
    methods: Mapping[str, str | Callable[..., Any]] | None = None,
    changes: int | None = None,
    include: Sequence[str] = (),
    title: str = "",
    story: str = "",
    opened: Sequence[int] = (),
) -> PythonPlay:
    """Return the play page of calls on an object; see `latchfree_explore.explore_object`.

    Parameters
    ----------
    make, scenario, model, methods, include
        As for `explore_object`.
    switches : "free" or "gil"
        Where threads may change.
    changes : int, optional
        The page has the states reached with at most so many changes of threads; by default all, if they are few.
    title, story : str
        Shown at the top.
    opened : sequence of int
        The threads of the steps after which the page opens, as far as they are on the page.

    Raises
    ------
    ValueError
        If the scenario makes no sense for the model or the class, the model cannot be followed, or there are too many
        states.
    CannotControl, Diverged
        See `explore_threads`.
    """
    chosen = get_model(model) if isinstance(model, str) else model
    wanted = checked_scenario(make, scenario, chosen, methods)
    program = calls_of(make, wanted, chosen, methods)
    return _made(
        program, switches, include, changes, model=chosen, scenario=str(wanted), story=story, opened=opened,
        title=title or getattr(make, "__qualname__", "an object"),
    )  # fmt: skip


def play_threads(
    *threads: Callable[..., Any],
    check: Callable[..., Any] | None = None,
    setup: Callable[[], Any] | None = None,
    switches: str = "free",
    changes: int | None = None,
    include: Sequence[str] = (),
    title: str = "",
    story: str = "",
) -> PythonPlay:
    """Return the play page of functions that run as threads of one program; see `latchfree_explore.explore_threads`.

    Parameters
    ----------
    *threads, check, setup, include
        As for `explore_threads`.
    switches, changes, title, story
        As for `play_object`.

    Raises
    ------
    ValueError
        If there is no thread, or there are too many states.
    CannotControl, Diverged
        See `explore_threads`.
    """
    if not threads:
        raise ValueError("give at least one function to play")
    for each in threads:
        require_callable("a thread", each)
    for name, given in (("check", check), ("setup", setup)):
        if given is not None:
            require_callable(name, given)
    called = [getattr(each, "__name__", "thread") for each in threads]
    return _made(
        Threads(threads, setup, check), switches, include, changes, scenario=" | ".join(called), story=story,
        title=title or ", ".join(dict.fromkeys(called)),
    )  # fmt: skip


def _made(
    program: Program,
    switches: str,
    include: Sequence[str],
    changes: int | None,
    *,
    scenario: str,
    title: str,
    story: str,
    model: SequentialModel[Any] | None = None,
    opened: Sequence[int] = (),
) -> PythonPlay:
    if switches not in ("free", "gil"):
        raise ValueError(f"switches are 'free' or 'gil', not {switches!r}")
    if changes is not None and changes < 0:
        raise ValueError(f"changes must be at least 0, got {changes}")
    machine = Machine(program, polls=switches == "gil", include=tuple(include))
    with machine.ready():
        for _ in range(_TRIES):
            try:
                walker = Walker(machine, model)
                states, bound = _chosen(walker, changes)
                break
            except Stale:
                continue
        else:
            raise RuntimeError(f"{title}: each run changes more names than the one before")
    if len(walker.names) > MOST_THREADS:
        raise ValueError(f"{title}: {len(walker.names)} threads; a page has {MOST_THREADS} at most, a key for each")
    data = data_of(walker, states, title=title, story=story, scenario=scenario, bound=bound)
    data["par"] = fewest_changes(data["states"])
    if opened:
        data["open"] = list(opened)
    return PythonPlay(page(data), len(states), bound, data["par"], data)


def _chosen(walker: Walker, changes: int | None) -> tuple[list[State], str]:
    """Return the states that a page has room for, and which they are in words."""
    root = walker.root()
    found: dict[Hashable, State] = {root.key: root}
    if changes is None:
        states = _within(walker, root, found, None)
        if states is not None:
            return states, ""
    best: tuple[list[State], str] | None = None
    for most in range(_MOST_SWITCHES + 1) if changes is None else [changes]:
        states = _within(walker, root, found, most)
        if states is None:
            break
        failed = best is not None and any(state.is_bad for state in best[0])
        best = states, f"up to {most} change{'' if most == 1 else 's'} of threads"
        if failed:
            break
    if best is None:
        raise ValueError(f"more than {MOST_STATES:,} states; fix: fewer changes of threads, or a shorter program")
    return best


def _within(walker: Walker, root: State, found: dict[Hashable, State], most: int | None) -> list[State] | None:
    """Return the states that are reached with so many changes of threads; None if they are too many."""
    cost: dict[tuple[Hashable, int], int] = {(root.key, -1): 0}
    queue = deque([(root, -1)])
    reached: dict[Hashable, State] = {root.key: root}
    while queue:
        state, last = queue.popleft()
        so_far = cost[state.key, last]
        for thread in state.enabled:
            total = so_far + int(most is not None and last not in (-1, thread))
            if most is not None and total > most:
                continue
            if thread not in state.moves:
                move, after = walker.step(state, thread)
                state.moves[thread] = move, found.setdefault(after.key, after)
            after = state.moves[thread][1]
            reached.setdefault(after.key, after)
            if len(reached) > MOST_STATES:
                return None
            mark = after.key, thread if most is not None else -1
            if total < cost.get(mark, 1 << 30):
                cost[mark] = total
                (queue.append if total > so_far else queue.appendleft)((after, mark[1]))
    return list(reached.values())
