"""`explore`: the front door."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from latchfree_explore.result import Exploration
from latchfree_explore.scenario import Scenario
from latchfree_explore.strategies import NAMES

if TYPE_CHECKING:
    from latchfree_explore.machine.machine import Machine
    from latchfree_explore.search import Progress
    from latchfree_explore.target import Target

#: Schedules of each generated scenario, and of all, unless the caller says otherwise.
_EACH: Final = 1_000
_SCHEDULES: Final = 100_000
_DEPTH: Final = 3
_MOST_PREEMPTIONS: Final = 2
_SOLO_STEPS: Final = 1_000
_MOST_DEPTH: Final = 16


@dataclass(frozen=True)
class _Plan:
    """What the caller wants, with the defaults filled in."""

    strategy: str
    seed: int
    each: int | None
    schedules: int | None
    timeout: float | None
    bound: int
    plain: bool
    progress: int
    script: str
    on_progress: Callable[[int, int, str], None] | None


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
        "dpor" (exhaustive, the default for a given scenario), "bounded" (exhaustive up to so many preemptions), "pct"
        (the default for random scenarios), "random", or "directed" (along `script`).
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
    mutant : str, optional
        Explore a seeded bug; see `latchfree_evidence.mutants`. It must be the first use of the structure in the
        process.
    plain : bool
        Whether plain accesses, to memory nobody else should be touching, are interleaved too.
    progress : bool
        Whether to check obstruction freedom: from every state reached, each thread alone finishes its operation.
    minimise : bool
        Whether to look for a smaller failure than the one found, up to 20 seconds.
    on_progress : callable, optional
        Called now and then with schedules so far, scenarios so far, and what goes on.

    Returns
    -------
    Exploration

    Raises
    ------
    ValueError
        For an unknown target or strategy, a number out of range, or a scenario that makes no sense.
    latchfree_explore.board.stacks.Unsupported
        If this machine is not Linux on x86-64 or aarch64.

    References
    ----------
    Abdulla, Aronis, Jonsson, Sagonas, POPL 2014; Musuvathi and Qadeer, PLDI 2007; Burckhardt et al., ASPLOS 2010.
    """
    strategy = strategy or ("pct" if scenario is None else "dpor")
    _validate(strategy, scenario, schedules, bound, script)
    if isinstance(scenario, str):
        scenario = Scenario.parse(scenario)
    if isinstance(target, str):
        from latchfree_explore.target_files import find_target

        target = find_target(target)
    if schedules is None and (strategy in ("pct", "random") or scenario is None):
        schedules = _SCHEDULES
    if bound is None:
        bound = _DEPTH if strategy == "pct" else _MOST_PREEMPTIONS
    plan = _Plan(
        strategy=strategy,
        seed=seed,
        each=_EACH if scenario is None else None,
        schedules=schedules,
        timeout=timeout,
        bound=bound,
        plain=plain,
        progress=_SOLO_STEPS if progress else 0,
        script=script,
        on_progress=on_progress,
    )
    result = Exploration(target.name, strategy, seed)
    _explore(result, target, _generated(target, seed) if scenario is None else iter([scenario]), plan)
    if result.failure is not None and minimise and strategy != "directed" and not result.interrupted:
        _minimise(result, target, plan)
    return result


def _validate(strategy: str, scenario: Any, schedules: int | None, bound: int | None, script: str) -> None:
    if strategy not in NAMES:
        raise ValueError(f"unknown strategy {strategy!r}; there are: {', '.join(NAMES)}")
    if schedules is not None and schedules < 1:
        raise ValueError(f"schedules must be at least 1, got {schedules}")
    low, high = (1, _MOST_DEPTH) if strategy == "pct" else (0, 1 << 20)
    if bound is not None and not low <= bound <= high:
        raise ValueError(f"bound must be from {low} to {high} for strategy {strategy!r}, got {bound}")
    if (strategy == "directed") != bool(script):
        raise ValueError("strategy 'directed' runs along a script, and no other does: give both or none")
    if script and scenario is None:
        raise ValueError("a script needs a scenario")


def _generated(target: Target, seed: int) -> Iterator[Scenario]:
    for k in itertools.count():
        yield target.generate(random.Random(f"{seed}/{k}"))


def _explore(result: Exploration, target: Target, scenarios: Iterator[Scenario], plan: _Plan) -> None:
    """Explore one scenario after the other, until something is wrong or what was planned is done."""
    from latchfree_explore import search
    from latchfree_explore.machine.machine import Machine

    deadline = None
    cut = False
    for scenario in scenarios:
        machine = Machine(target, scenario, plain=plan.plain, progress=plan.progress)
        first = search.warmed_up(machine)
        if deadline is None and plan.timeout is not None:
            deadline = time.monotonic() + plan.timeout
        done = search.Progress(1, failure=first) if first else _explore_one(result, machine, plan, deadline)
        cut = cut or not done.complete
        if done.failure is not None:
            result.verdict, result.failure = "violation", done.failure
            result.reason = f"{done.failure.kind}: {done.failure.message}"
            return
        spent = plan.schedules is not None and result.schedules >= plan.schedules
        if result.interrupted or spent or (deadline is not None and time.monotonic() > deadline):
            break
    result.complete = plan.strategy == "dpor" and not cut
    if plan.strategy in ("dpor", "bounded") and cut:
        result.verdict = "unknown"
        result.reason = "nothing wrong so far, but not every interleaving was run"
    elif result.complete:
        result.reason = "linearizable in every interleaving"
    elif plan.strategy == "bounded":
        result.reason = f"linearizable in every interleaving with at most {plan.bound} preemptions"
    else:
        result.reason = "nothing wrong in what was run"


def _explore_one(result: Exploration, machine: Machine, plan: _Plan, deadline: float | None) -> Progress:
    from latchfree_explore import script, search
    from latchfree_explore.board import layout as b

    left = plan.each
    if plan.schedules is not None:
        left = min(left or plan.schedules, plan.schedules - result.schedules)
    schedule = script.schedule_of(machine, plan.script) if plan.script else []
    base = result.schedules

    def report(done: int) -> None:
        if plan.on_progress is not None:
            plan.on_progress(base + done, result.scenarios + 1, str(machine.scenario))

    began = time.monotonic()
    try:
        done = search.run(
            machine, plan.strategy, seed=plan.seed, bound=plan.bound if not schedule else -1, schedules=left,
            deadline=deadline, schedule=schedule, on_progress=report,
        )  # fmt: skip
    except KeyboardInterrupt:
        result.interrupted = True
        done = search.Progress(int(machine.board[b.SCHEDULES]), int(machine.board[b.SLEPT]))
    result.seconds += time.monotonic() - began
    result.scenarios += 1
    result.schedules += done.schedules
    result.slept += done.slept
    result.checked += done.checked
    result.steps += int(machine.board[b.ALL_STEPS])
    result.longest = max(result.longest, int(machine.board[b.LONGEST]))
    result.outcomes += int(machine.seen.total[0])
    if plan.strategy == "dpor":
        result.interleavings = (result.interleavings or 0.0) + float(machine.count.total[0])
        result.at_least = result.at_least or bool(machine.count.total[1] > 0)
    return done


def _minimise(result: Exploration, target: Target, plan: _Plan) -> None:
    from latchfree_explore.minimise import minimised

    assert result.failure is not None

    def say(what: str) -> None:
        if plan.on_progress is not None:
            plan.on_progress(result.schedules, result.scenarios, what)

    try:
        failure = minimised(target, result.failure, seed=plan.seed, plain=plan.plain, on_progress=say)
    except KeyboardInterrupt:
        result.interrupted = True
        return
    result.failure = failure
    result.reason = f"{failure.kind}: {failure.message}"
