"""`explore_threads`: run functions at the same time, in every order that makes a difference."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias

from latchfree_explore.python.code import Code
from latchfree_explore.python.core.constants import Unsettled
from latchfree_explore.python.core.run import Diverged, Run
from latchfree_explore.python.given.arguments import packages, require_arguments, require_function, seconds, whole
from latchfree_explore.python.program import Machine, Program, Threads
from latchfree_explore.python.result import PythonExploration, raise_if_wrong
from latchfree_explore.python.rewriting.instrument import CannotControl
from latchfree_explore.python.search.fewest import fewest
from latchfree_explore.python.search.strategies import Bounded, Fixed, Pct, Random, Reduced, Strategy
from latchfree_explore.python.verdicts import Wrong
from latchfree_explore.python.watchdog import Watchdog

Switches: TypeAlias = Literal["free", "gil"]

SCHEDULES: Final = 20_000
DRAWN: Final = 40
"""Schedules that "auto" draws before it runs every class of schedules."""
FEWEST_SECONDS: Final = 5.0
"""Seconds for the search of a failing schedule with fewer preemptions."""
Plan: TypeAlias = list[tuple[Strategy, int | None]]
"""Strategies and how many schedules each gets, None for all that are left."""
PLANS: Final[dict[str, Callable[[int, int], Plan]]] = {
    "auto": lambda bound, seed: [(Random(seed), DRAWN // 2), (Pct(seed), DRAWN // 2), (Reduced(), None)],
    "dpor": lambda bound, seed: [(Reduced(), None)],
    "bounded": lambda bound, seed: [(Bounded(bound), None)],
    "random": lambda bound, seed: [(Random(seed), None)],
    "pct": lambda bound, seed: [(Pct(seed), None)],
}
"""The plan of each strategy that users name, made of a bound and a seed."""


def explore_threads(
    *threads: Callable[..., Any],
    check: Callable[..., Any] | None = None,
    setup: Callable[[], Any] | None = None,
    switches: Switches = "free",
    strategy: str = "auto",
    bound: int = 2,
    timeouts: int = 0,
    schedules: int = SCHEDULES,
    timeout: float | None = None,
    seed: int = 0,
    include: Sequence[str] = (),
    raises: bool = True,
) -> PythonExploration:
    """Run functions as threads of one program, in every order of their accesses that makes a difference.

    The functions and what they call are ordinary Python with `threading`, `queue` and `concurrent.futures`. Changes to
    objects that are older than the call are undone after every schedule.

    Parameters
    ----------
    *threads : callable
        What each thread does; they take what `setup` returns, if there is a setup.
    check : callable, optional
        Called after each schedule, with what `setup` returned; wrong if it returns False or raises.
    setup : callable, optional
        Makes what the threads share, anew for each schedule.
    switches : "free" or "gil"
        Where threads may change: between any two accesses ("free": free-threaded builds, and all that the language
        promises), or only where this version of CPython polls ("gil").
    strategy : str
        "auto" (a few random schedules, then "dpor"), "dpor" (one schedule of each class of equivalent ones),
        "bounded" (every schedule with at most `bound` preemptions), "random", or "pct" (random priorities).
    bound : int
        For "bounded".
    timeouts : int
        How many deadlines may pass while a thread could still go on. Without them, time passes only where none can.
    schedules : int
        How many schedules at most.
    timeout : float, optional
        Seconds, above 0.
    seed : int
        Of random schedules.
    include : sequence of str
        Installed packages whose accesses are steps too; a call of any other package is one step.
    raises : bool
        Whether a schedule that goes wrong raises; else the result says so.

    Returns
    -------
    PythonExploration

    Raises
    ------
    ExplorationFailed
        If a schedule goes wrong: an AssertionError that shows the schedule.
    KeyboardInterrupt
        If Ctrl-C is pressed before one does, and `raises` is true.
    TypeError, ValueError
        If an argument makes no sense: a thread that is a coroutine function, no package of a name in `include`.
    CannotControl
        If a part of the program is out of control; the message names it.
    Diverged
        If the same choices lead to different runs, because the program depends on time, addresses or random numbers.
    latchfree.errors.MissingExtra
        If greenlet is not installed.

    Examples
    --------
    >>> explore_threads(counter.increment, counter.increment, check=lambda: counter.n == 2)
    """
    __tracebackhide__ = True
    if not threads:
        raise ValueError("give at least one function to explore")
    for each in threads:
        require_function("a thread", each)
    for name, given in (("check", check), ("setup", setup)):
        if given is not None:
            require_function(name, given)
    if setup is not None:
        require_arguments("setup", setup)
    shared = () if setup is None else ("what setup returned",)
    for number, each in enumerate(threads):
        require_arguments(f"thread {number}", each, *shared)
    if check is not None:
        require_arguments("check", check, *shared)
    result = explore_program(
        Threads(threads, setup, check), switches=switches, strategy=strategy, bound=bound, timeouts=timeouts,
        schedules=schedules, timeout=seconds("timeout", timeout), seed=seed, include=include,
    )  # fmt: skip
    if raises:
        raise_if_wrong(result)
    return result


def explore_program(
    program: Program,
    *,
    switches: str = "free",
    strategy: str = "auto",
    bound: int = 2,
    timeouts: int = 0,
    schedules: int = SCHEDULES,
    timeout: float | None = None,
    seed: int = 0,
    include: Sequence[str] = (),
    minimise: bool = True,
    code: Code | None = None,
) -> PythonExploration:
    """Explore any program; see `explore_threads`. Programs of the same functions may share their rewritten `code`."""
    if switches not in ("free", "gil"):
        raise ValueError(f"switches are 'free' or 'gil', not {switches!r}")
    if not isinstance(strategy, str) or strategy not in PLANS:
        raise ValueError(f"there is no strategy {strategy!r}; choose one of {', '.join(PLANS)}")
    schedules, timeouts = whole("schedules", schedules, 1), whole("timeouts", timeouts, 0)
    bound, seed = whole("bound", bound, 0), whole("seed", seed)
    machine = Machine(program, polls=switches == "gil", include=packages(include), timeouts=timeouts, code=code)
    result = PythonExploration(switches, strategy=strategy)
    began = time.monotonic()
    deadline = None if timeout is None else began + timeout
    watchdog = Watchdog(machine.progress)
    found: Wrong | None = None
    try:
        with machine.ready(), watchdog:
            found = _search(machine, result, PLANS[strategy](bound, seed), schedules, deadline)
            if found is not None:
                if minimise and strategy != "bounded":
                    found = _fewest(machine, result, found, deadline, watchdog)
                _settle(machine, result, found, watchdog)
    except Unsettled as error:
        raise CannotControl(str(error)) from None
    except KeyboardInterrupt:
        if watchdog.hung_at:
            raise CannotControl(watchdog.why()) from None
        result.interrupted = True
        if result.wrong is None:
            if result.schedules == 0 or found is not None:  # what is wrong cannot be shown
                raise
            result.verdict, result.reason = "unknown", "interrupted; nothing wrong so far"
    result.seconds = time.monotonic() - began
    return result


def _search(
    machine: Machine,
    result: PythonExploration,
    plan: Plan,
    schedules: int,
    deadline: float | None,
) -> Wrong | None:
    """Run schedules until one is wrong, the plan is done, or the limits are reached."""
    forced = False
    for strategy, share in plan:
        drawn = 0
        while True:
            if result.schedules + result.cut >= schedules or (deadline is not None and time.monotonic() > deadline):
                _cut_short(result, plan[-1][0])
                return None
            if share is not None and drawn >= share:
                break
            drawn += 1
            strategy.begin()
            run, wrong = machine.execute(strategy)
            if machine.constants.refuted():
                strategy.restart()
                continue
            _count(result, run)
            forced = forced or run.forced
            if wrong is not None:
                result.found_after = result.schedules
                return wrong
            if not strategy.advance(run):
                break
    last = plan[-1][0]
    result.complete = isinstance(last, Reduced) and not forced
    result.reason = (
        f"nothing wrong in any schedule; the {result.schedules:,} that were run stand for all"
        if result.complete
        else f"nothing wrong in {result.schedules:,} schedules; the outside was made to act where a loop turned long"
        if forced
        else f"nothing wrong in {result.schedules:,} schedules, every one within the bound"
    )
    return None


def _cut_short(result: PythonExploration, strategy: Strategy) -> None:
    result.reason = f"nothing wrong in {result.schedules:,} schedules"
    if isinstance(strategy, Reduced | Bounded) or not result.schedules:
        result.verdict = "unknown"
        result.reason += ", which are not all; fix: a smaller program, or a larger limit of schedules or time"


def _count(result: PythonExploration, run: Run) -> None:
    if run.problem is not None and run.problem[0] == "cut":
        result.cut += 1
    else:
        result.schedules += 1
    result.longest = max(result.longest, len(run.steps))


def _settle(machine: Machine, result: PythonExploration, wrong: Wrong, watchdog: Watchdog) -> None:
    """Run the failing schedule once more, told in words; a first Ctrl-C waits until that is done."""
    try:
        run = _told(machine, wrong)
    except KeyboardInterrupt:
        if watchdog.hung_at or result.interrupted:
            raise
        result.interrupted = True
        run = _told(machine, wrong)
    result.verdict, result.wrong = "violation", wrong
    result.reason = f"{wrong.kind}: {wrong.message}"
    result.steps = run.steps[: len(wrong.choices)]
    result.names = [task.name for task in run.tasks]
    result.written = sorted(machine.constants.written)


def _told(machine: Machine, wrong: Wrong) -> Run:
    """Run a failing schedule once more, told in words.

    Telling takes room on the stack, so a recursion that is too deep may end some steps away from where it did.
    """
    kept: list[Run] = []
    try:
        _, again = machine.execute(Fixed(wrong.choices), telling=True, on_over=kept.append)
    except Diverged:
        if not isinstance(wrong.error, RecursionError):
            raise
    else:
        fails = again is not None and again.kind == wrong.kind
        if not fails and not isinstance(wrong.error, RecursionError):
            raise RuntimeError(f"a schedule that failed ({wrong.kind}) does not fail again: {again}")
    return kept[0]


def _fewest(
    machine: Machine, result: PythonExploration, wrong: Wrong, deadline: float | None, watchdog: Watchdog
) -> Wrong:
    """Return a failing schedule with the fewest preemptions, if the search ends in time; Ctrl-C ends the search only.

    The time is within that of the whole exploration.
    """
    until = time.monotonic() + FEWEST_SECONDS
    try:
        found, result.preemptions = fewest(machine, wrong, until if deadline is None else min(until, deadline))
    except KeyboardInterrupt:
        if watchdog.hung_at:
            raise
        result.interrupted = True
        return wrong
    return found
