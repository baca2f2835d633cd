"""`explore`: many interleavings of a target, one scenario after the other, until one is wrong."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from latchfree_explore.result import Exploration
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.strategies.table import strategy_named
from latchfree_explore.weak.axioms import MODELS

if TYPE_CHECKING:
    from latchfree_explore.machine.machine import Machine
    from latchfree_explore.search import Tally
    from latchfree_explore.target import Target

#: Schedules of each generated scenario, and of all of them, unless the caller says otherwise.
_EACH: Final = 1_000
_SCHEDULES: Final = 100_000
_SOLO_STEPS: Final = 1_000


@dataclass(frozen=True)
class _Plan:
    """What the caller wants, with the defaults filled in."""

    target: Target
    strategy: Strategy
    seed: int
    each: int | None
    schedules: int | None
    timeout: float | None
    bound: int
    plain: bool
    memory: str
    races: bool
    solo_steps: int
    script: str
    on_progress: Callable[[int, int, str], None]


def explore(
    target: str | Target,
    *,
    scenario: str | Scenario | None = None,
    strategy: str | None = None,
    seed: int = 0,
    schedules: int | None = None,
    timeout: float | None = None,
    bound: int | None = None,
    script: str = "",
    plain: bool = False,
    memory: str = "sc",
    races: bool = True,
    progress: bool = False,
    minimise: bool = True,
    on_progress: Callable[[int, int, str], None] | None = None,
) -> Exploration:
    """Run a structure's compiled code through many interleavings and judge what its operations return.

    Parameters
    ----------
    target : str or Target
        A `Target`, or the file that declares one: "FILE.py" or "FILE.py:NAME".
    scenario : str or Scenario, optional
        Which operations to run, such as ``"put(1, 1) | put(1, 2); get(1)"``; by default random ones, from `seed`.
    strategy : str, optional
        "dpor" (exhaustive, the default for a given scenario), "graphs" (exhaustive, one run for each execution graph
        that `memory` allows), "bounded" (exhaustive up to so many preemptions), "pct" (the default for random
        scenarios), "random", or "directed" (along `script`).
    seed : int
        Of scenarios and of random strategies.
    schedules : int, optional
        How many schedules at most; with random strategies or scenarios, 100,000 by default.
    timeout : float, optional
        Seconds, compiling not included; an exhaustive exploration that it ends is "unknown".
    bound : int, optional
        For "bounded", the most preemptions (2 by default); for "pct", the depth of bugs looked for (3 by default).
    script : str
        For "directed": see `latchfree_explore.script`.
    plain : bool
        Whether plain accesses, to memory nobody else should be touching, are interleaved too.
    memory : str
        The memory model: "sc" (sequentially consistent, the default), "tso" (x86), "sra" (strong release-acquire) or
        "rc11" (what the language promises; see docs/memory-models.md).
    races : bool
        Whether a data race is a failure: a plain access that nothing orders with another one. Under a weak memory model
        it always is.
    progress : bool
        Whether to check obstruction freedom: from every state reached, each thread alone finishes its operation.
    minimise : bool
        Whether to look for a smaller failure than the one found, up to 20 seconds.
    on_progress : callable, optional
        Called now and then with schedules so far, scenarios so far, and what goes on.

    Returns
    -------
    Exploration
        If Ctrl-C ends the exploration, `interrupted` says so, and the verdict is "unknown" unless a violation was found
        before.

    Raises
    ------
    ValueError
        For an unknown target, strategy or memory model, a number out of range, or a scenario that makes no sense; and
        for what strategy "graphs" does not serve.
    latchfree_explore.board.stacks.Unsupported
        If this machine is not Linux on x86-64 or aarch64.
    KeyboardInterrupt
        If Ctrl-C is pressed before the first schedule has run.

    References
    ----------
    Kokologiannakis, Marmanis, Gladstein, Vafeiadis, POPL 2022; Abdulla, Aronis, Jonsson, Sagonas, POPL 2014; Musuvathi
    and Qadeer, PLDI 2007; Burckhardt et al., ASPLOS 2010.
    """
    chosen = strategy_named(strategy or ("pct" if scenario is None else "dpor"))
    _validate(chosen, scenario, schedules, bound, script, memory)
    if isinstance(scenario, str):
        scenario = Scenario.parse(scenario)
    if isinstance(target, str):
        from latchfree_explore.target_files import find_target

        target = find_target(target)
    if schedules is None:
        schedules = chosen.default_schedules or (_SCHEDULES if scenario is None else None)
    plan = _Plan(
        target=target,
        strategy=chosen,
        seed=seed,
        each=_EACH if scenario is None else None,
        schedules=schedules,
        timeout=timeout,
        bound=chosen.default_bound if bound is None or chosen.needs_script else bound,
        plain=plain,
        memory=memory,
        races=races,
        solo_steps=_SOLO_STEPS if progress else 0,
        script=script,
        on_progress=on_progress or _say_nothing,
    )
    result = Exploration(target.name, chosen.name, seed, memory=memory)
    try:
        _explore(result, plan, _generated(target, seed) if scenario is None else [scenario])
    except KeyboardInterrupt:
        if result.schedules == 0:
            raise
        _interrupt(result)
    if result.failure is not None and minimise and not chosen.needs_script:
        _minimise(result, plan)
    return result


def _say_nothing(schedules: int, scenarios: int, what: str) -> None:
    """Report no progress."""


def _validate(
    strategy: Strategy,
    scenario: str | Scenario | None,
    schedules: int | None,
    bound: int | None,
    script: str,
    memory: str,
) -> None:
    """Raise ValueError for what cannot be asked."""
    if memory not in MODELS:
        raise ValueError(f"unknown memory model {memory!r}; there are: {', '.join(MODELS)}")
    if schedules is not None and schedules < 1:
        raise ValueError(f"schedules must be at least 1, got {schedules}")
    low, high = strategy.least_bound, strategy.most_bound
    if bound is not None and not low <= bound <= high:
        raise ValueError(f"bound must be from {low} to {high} for strategy {strategy.name!r}, got {bound}")
    if strategy.needs_script != bool(script):
        raise ValueError("strategy 'directed' runs along a script, and no other does: give both or none")
    if script and scenario is None:
        raise ValueError("a script needs a scenario")


def _generated(target: Target, seed: int) -> Iterator[Scenario]:
    """Yield random scenarios for ever."""
    for k in itertools.count():
        yield target.generate(random.Random(f"{seed}/{k}"))


def _interrupt(result: Exploration) -> None:
    """Note that Ctrl-C has ended an exploration that found nothing wrong."""
    result.interrupted = True
    result.verdict = "unknown"
    result.reason = "interrupted; nothing wrong so far"


def _explore(result: Exploration, plan: _Plan, scenarios: Iterable[Scenario]) -> None:
    """Explore one scenario after the other, until something is wrong or the plan is done."""
    from latchfree_explore.machine.machine import Machine
    from latchfree_explore.search import warm_up

    deadline = None
    cut = False
    for scenario in scenarios:
        machine = Machine(
            plan.target,
            scenario,
            plain=plan.plain,
            progress=plan.solo_steps,
            memory=plan.memory,
            races=plan.races,
        )
        failure = warm_up(machine)
        if failure is None:
            if deadline is None and plan.timeout is not None:
                deadline = time.monotonic() + plan.timeout
            done = _search(result, machine, plan, deadline)
            cut = cut or not done.complete
            failure = done.failure
        if failure is not None:
            result.verdict, result.failure = "violation", failure
            result.reason = f"{failure.kind}: {failure.message}"
            return
        spent = plan.schedules is not None and result.schedules >= plan.schedules
        if spent or (deadline is not None and time.monotonic() > deadline):
            break
    result.complete = plan.strategy.complete and not cut
    if plan.strategy.exhaustive and cut:
        result.verdict = "unknown"
        result.reason = "nothing wrong so far, but not every interleaving was run"
    else:
        result.reason = plan.strategy.claim.format(bound=plan.bound, memory=plan.memory)
        if plan.memory != "sc" and not plan.strategy.by_graphs:
            result.reason += f", and whatever {plan.memory} lets loads read"


def _search(result: Exploration, machine: Machine, plan: _Plan, deadline: float | None) -> Tally:
    """Search one scenario, and add what was run to the result, also if Ctrl-C ends the search."""
    from latchfree_explore.board import layout as b

    left = plan.each
    if plan.schedules is not None:
        left = min(left or plan.schedules, plan.schedules - result.schedules)
    base, number = result.schedules, result.scenarios + 1
    before = int(machine.board[b.SCHEDULES]), int(machine.board[b.SLEPT])
    began = time.monotonic()
    try:
        done = _run(
            machine, plan, left, deadline, lambda done: plan.on_progress(base + done, number, str(machine.scenario))
        )
        result.checked += done.checked
        result.forbidden += done.forbidden
    finally:
        result.seconds += time.monotonic() - began
        result.scenarios += 1
        result.schedules += int(machine.board[b.SCHEDULES]) - before[0]
        result.slept += int(machine.board[b.SLEPT]) - before[1]
        result.steps += int(machine.board[b.ALL_STEPS])
        result.stale += int(machine.board[b.STALE])
        result.longest = max(result.longest, int(machine.board[b.LONGEST]))
        result.outcomes += int(machine.seen.total[0])
        if plan.strategy.complete and plan.memory == "sc" and not plan.strategy.by_graphs:
            result.interleavings = (result.interleavings or 0.0) + float(machine.count.total[0])
            result.at_least = result.at_least or bool(machine.count.total[1] > 0)
    return done


def _run(
    machine: Machine, plan: _Plan, schedules: int | None, deadline: float | None, on_progress: Callable[[int], None]
) -> Tally:
    """Run schedules, or graphs, of one scenario."""
    from latchfree_explore import script, search
    from latchfree_explore.graphs import searching

    if plan.strategy.by_graphs:
        return searching.run(machine, schedules=schedules, deadline=deadline, on_progress=on_progress)
    return search.run(
        machine,
        plan.strategy,
        seed=plan.seed,
        bound=plan.bound,
        schedules=schedules,
        deadline=deadline,
        schedule=script.schedule_of(machine, plan.script) if plan.script else [],
        on_progress=on_progress,
    )


def _minimise(result: Exploration, plan: _Plan) -> None:
    """Put a smaller failure in the place of the one found, if there is one."""
    from latchfree_explore.minimise import minimised

    assert result.failure is not None
    try:
        failure = minimised(
            plan.target,
            result.failure,
            seed=plan.seed,
            plain=plan.plain,
            memory=plan.memory,
            races=plan.races,
            on_progress=lambda what: plan.on_progress(result.schedules, result.scenarios, what),
        )
    except KeyboardInterrupt:
        result.interrupted = True
        return
    result.failure = failure
    result.reason = f"{failure.kind}: {failure.message}"
