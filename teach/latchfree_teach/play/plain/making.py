"""Make a play page of plain Python: of calls on an object, or of functions that run as threads.

Which states the page has, `growing` says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from latchfree_explore.python.aio.program import AsyncProgram
from latchfree_explore.python.calling import are_coroutines, calls_of, checked_scenario, tasks_of
from latchfree_explore.python.code import Code
from latchfree_explore.python.exploring import explore_program
from latchfree_explore.python.given.arguments import require_callable, whole
from latchfree_explore.python.given.owners import owner_of
from latchfree_explore.python.program import Machine, Program, Threads
from latchfree_explore.scenario import Scenario
from latchfree_model import SequentialModel, get_model
from latchfree_support.notebook import frame, panel
from latchfree_teach.play.page import page
from latchfree_teach.play.par import fewest_changes
from latchfree_teach.play.plain.document import data_of
from latchfree_teach.play.plain.growing import chosen
from latchfree_teach.play.plain.walking import Stale, Walker

MOST_THREADS: Final = 9
_TRIES: Final = 50
_SECONDS: Final = 20.0
"""For the search of a failing schedule, if none is within the changes of threads for which there is room."""


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
    cancels: int = 0,
    changes: int | None = None,
    include: Sequence[str] = (),
    title: str = "",
    story: str = "",
    opened: Sequence[int] = (),
) -> PythonPlay:
    """Return the play page of calls on an object; see `latchfree_explore.explore_object`.

    If the calls are coroutines, the page is one of an event loop, as those of `play_async` are.

    Parameters
    ----------
    make, scenario, model, methods, cancels, include
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
    cancels = whole("cancels", cancels, 0)
    tasks = are_coroutines(owner_of(make), [each.f for each in wanted.operations], methods)
    if cancels and not tasks:
        raise ValueError("cancels is for calls that are coroutines: threads cannot be cancelled")
    program: Program = (
        tasks_of(make, wanted, chosen, methods, cancels) if tasks else calls_of(make, wanted, chosen, methods)
    )
    return _made(
        program, switches, include, changes, model=None if tasks else chosen, scenario=str(wanted), story=story,
        opened=opened, title=title or getattr(make, "__qualname__", "an object"),
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


def play_async(
    main: Callable[[], Any],
    *,
    check: Callable[[Any], Any] | None = None,
    cancels: int = 0,
    switches: str = "free",
    changes: int | None = None,
    include: Sequence[str] = (),
    title: str = "",
    story: str = "",
    opened: Sequence[int] = (),
) -> PythonPlay:
    """Return the play page of a program of asyncio: the reader is the world outside; see `explore_async`.

    A move of the loop is one callback. Each thing that the outside can do is a column of its own.

    Parameters
    ----------
    main, check, cancels, include
        As for `explore_async`.
    switches, changes, title, story, opened
        As for `play_object`.

    Raises
    ------
    ValueError
        If there are too many states, or the outside can do too many things.
    TypeError
        If main is no function.
    CannotControl, Diverged
        See `explore_threads`.
    """
    for name, given in (("main", main), *([("check", check)] if check is not None else [])):
        require_callable(name, given)
    cancels = whole("cancels", cancels, 0)
    called = getattr(main, "__name__", "main")
    return _made(
        AsyncProgram(main, check, cancels), switches, include, changes, scenario=called, story=story, opened=opened,
        title=title or called,
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
    code = Code(tuple(include))
    machine = Machine(program, polls=switches == "gil", code=code)

    def failing() -> list[int]:
        found = explore_program(program, switches=switches, strategy="dpor", timeout=_SECONDS, code=code)
        return [] if found.wrong is None else found.wrong.choices

    with machine.ready():
        for _ in range(_TRIES):
            try:
                walker = Walker(machine, model)
                states, bound = chosen(walker, changes, failing)
                break
            except Stale:
                continue
        else:
            raise RuntimeError(f"{title}: each run changes more names than the one before")
    if len(walker.names) > MOST_THREADS:
        raise ValueError(f"{title}: {len(walker.names)} threads; a page has {MOST_THREADS} at most, a key for each")
    for each in opened:
        if not 0 <= each < len(walker.names):
            raise ValueError(f"opened: there is no thread {each}; the threads are 0 to {len(walker.names) - 1}")
    data = data_of(walker, states, title=title, story=story, scenario=scenario, bound=bound)
    data["par"] = fewest_changes(data["states"])
    if opened:
        data["open"] = list(opened)
    return PythonPlay(page(data), len(states), bound, data["par"], data)
