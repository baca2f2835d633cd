"""`explore_object`: calls on an object of a class, in every order that makes a difference, judged by a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from latchfree_explore.python.calling import are_coroutines, calls_of, checked_scenario, performer, tasks_of
from latchfree_explore.python.code import Code
from latchfree_explore.python.exploring import SCHEDULES, Switches, explore_program
from latchfree_explore.python.given.arguments import packages, require_callable, seconds, whole
from latchfree_explore.python.given.owners import Methods, owner_of
from latchfree_explore.python.program import Program
from latchfree_explore.python.result import PythonExploration, raise_if_wrong
from latchfree_explore.python.small import small_programs
from latchfree_explore.scenario import Scenario
from latchfree_model import SequentialModel, get_model

SHRINKING: Final = 20
"""How many smaller scenarios are tried at most, while a failing one is made small."""


def explore_object(
    make: Callable[[], Any],
    scenario: str | Scenario | None = None,
    *,
    model: str | SequentialModel[Any] = "map",
    switches: Switches = "free",
    methods: Mapping[str, str | Callable[..., Any]] | None = None,
    cancels: int = 0,
    strategy: str = "dpor",
    schedules: int = SCHEDULES,
    timeout: float | None = None,
    seed: int = 0,
    include: Sequence[str] = (),
    on_progress: Callable[[int, int], object] | None = None,
    raises: bool = True,
) -> PythonExploration:
    """Call an object from several threads, in every order of accesses that makes a difference, and judge the results.

    Whatever the calls return must be linearizable. A scenario that fails is made smaller, call by call. If methods are
    coroutines, the calls are made by tasks of an event loop, explored as `explore_async` does.

    Parameters
    ----------
    make : callable
        Makes the object: a class, or a function.
    scenario : str or Scenario, optional
        Which calls each thread makes: ``"put(0, 1) | get(0); remove(0)"``, with ``init:`` and ``after:``. Without it
        all small programs are explored, two threads with at most two calls each; if these are more than 1,000, a part
        of the largest.
    model : str or SequentialModel
        What the object is: a built-in model's name, or a model.
    switches : "free" or "gil"
        See `explore_threads`.
    methods : mapping, optional
        The method of the object for an operation that has another name there, or a function of the object and the
        arguments.
    cancels : int
        How many tasks the outside cancels at most, where the calls are coroutines. A cancelled call may have taken
        effect, or not.
    strategy, schedules, include, raises
        See `explore_threads`. `schedules` are those of one scenario.
    timeout : float, optional
        Seconds, for all that is explored.
    seed : int
        Of what is drawn: schedules, and scenarios where not all are explored.
    on_progress : callable, optional
        Called with the number of scenarios that were explored and of those that will be.

    Returns
    -------
    PythonExploration

    Raises
    ------
    ExplorationFailed
        If a schedule goes wrong.
    KeyboardInterrupt
        If Ctrl-C is pressed before one does, and `raises` is true.
    ValueError
        If the scenario makes no sense, or names an operation that the model or the class does not have; if `cancels`
        is given and the calls are no coroutines.
    TypeError
        If `make` is no function, or `methods` gives something else than names and functions.

    Examples
    --------
    >>> explore_object(dict_with_a_lock, "put(0, 1) | get(0) | remove(0)", model="map")
    """
    __tracebackhide__ = True
    chosen = get_model(model) if isinstance(model, str) else model
    if isinstance(chosen, type):
        raise TypeError(f"model must be a model, got the class {chosen.__name__}; fix: {chosen.__name__}()")
    for needed in "operations", "name", "init", "step":
        if not hasattr(chosen, needed):
            raise TypeError(
                f"model must be a model or the name of one, got {type(model).__name__}, which has no {needed!r}"
            )
    require_callable("make", make)
    if on_progress is not None:
        require_callable("on_progress", on_progress)
    cancels = whole("cancels", cancels, 0)
    known: Methods = {} if methods is None else methods
    if not isinstance(known, Mapping):
        raise TypeError(f"methods must be a mapping, got {type(known).__name__}")
    if scenario is not None:
        scenario = checked_scenario(make, scenario, chosen, known)
    seed = whole("seed", seed)
    code = Code(packages(include))
    limit = seconds("timeout", timeout)
    until = None if limit is None else time.monotonic() + limit
    with code.rewritten(lambda: [make, performer(known)]):
        owner = owner_of(make, code)
        scenarios, of_all = ([scenario], 1) if scenario is not None else small_programs(owner, chosen, known, seed)
        for each in (scenarios[0], scenarios[-1]):
            checked_scenario(make, each, chosen, known, owner)
        operations = dict.fromkeys(each.f for one in scenarios for each in one.operations)
        subject = _Subject(make, chosen, known, cancels, are_coroutines(owner, [*operations], known), owner.it)
        if cancels and not subject.tasks:
            raise ValueError("cancels is for calls that are coroutines: threads cannot be cancelled")

        def explored(each: Scenario) -> PythonExploration:
            left = None if until is None else max(0.0, until - time.monotonic())
            result = explore_program(
                subject.program(each), switches=switches, strategy=strategy, schedules=schedules, timeout=left,
                seed=seed, code=code,
            )  # fmt: skip
            result.scenario, result.tasks, result.cancels = str(each), subject.tasks, subject.cancels
            return result

        result = _all_of(scenarios, of_all, explored, on_progress)
    if raises:
        raise_if_wrong(result)
    return result


@dataclass
class _Subject:
    """An object, and how it is called."""

    make: Callable[[], Any]
    model: SequentialModel[Any]
    methods: Methods
    cancels: int
    tasks: bool
    sample: Any
    known: set[Hashable] = field(default_factory=set)

    def program(self, scenario: Scenario) -> Program:
        """Return the program of a scenario."""
        if self.tasks:
            return tasks_of(self.make, scenario, self.model, self.methods, self.cancels, self.sample)
        return calls_of(self.make, scenario, self.model, self.methods, self.known)


def _all_of(
    scenarios: Sequence[Scenario],
    of_all: int,
    explored: Callable[[Scenario], PythonExploration],
    on_progress: Callable[[int, int], object] | None,
) -> PythonExploration:
    """Explore scenarios until one fails, which is made small; return its result, or one for all of them."""
    results: list[PythonExploration] = []
    for scenario in scenarios:
        result = explored(scenario)
        results.append(result)
        if on_progress is not None:
            on_progress(len(results), len(scenarios))
        if result.wrong is not None or result.interrupted or not result.schedules:
            break
    last = results[-1]
    if last.wrong is not None:
        last = _smallest(last, scenarios[len(results) - 1], explored)
    return last if len(scenarios) == 1 else _together(last, results, of_all)


def _together(last: PythonExploration, results: Sequence[PythonExploration], of_all: int) -> PythonExploration:
    """Return one result for several scenarios."""
    run = [each for each in results if each.schedules]
    last.programs, last.schedules, last.cut = (
        len(run),
        sum(each.schedules for each in run),
        sum(each.cut for each in run),
    )
    last.seconds, last.longest = sum(each.seconds for each in results), max(each.longest for each in results)
    if last.wrong is not None:
        return last
    last.scenario = ""
    of = f"all {of_all:,} programs" if len(run) == of_all else f"{len(run):,} of {of_all:,} programs"
    last.complete = all(each.complete for each in results)
    if last.complete:
        last.reason = f"nothing wrong in any schedule of {of} of two threads with at most two calls each"
    else:
        last.verdict = "unknown"
        cut = "interrupted; " if last.interrupted else "cut short; "
        last.reason = f"{cut}nothing wrong so far in {of}, not all with every schedule"
        last.reason += "" if last.interrupted else "; fix: a larger limit of schedules or time"
    return last


def _smallest(
    result: PythonExploration, scenario: Scenario, explored: Callable[[Scenario], PythonExploration]
) -> PythonExploration:
    """Return the result of a failing scenario from which no call can be left out, or of the smallest one tried.

    Ctrl-C ends the search, not the command: what has failed is kept.
    """
    tried = 0
    again = True
    while again and not result.interrupted:
        again = False
        for each in scenario.smaller():
            tried += 1
            if tried > SHRINKING:
                return result
            try:
                other = explored(each)
            except KeyboardInterrupt:  # before its first schedule was run
                return replace(result, interrupted=True)
            if other.wrong is not None and result.wrong is not None and other.wrong.kind == result.wrong.kind:
                result, scenario, again = other, each, True
                break
            if other.interrupted:
                return replace(result, interrupted=True)
    return result
