"""``latchfree explore``: run compiled code through many interleavings and judge what its operations return."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_explore import Exploration


class SwitchesName(StrEnum):
    """Where threads of plain Python may change."""

    free = "free"
    gil = "gil"
    both = "both"


class MemoryName(StrEnum):
    """Which values loads may read."""

    sc = "sc"
    tso = "tso"
    sra = "sra"
    rc11 = "rc11"


class StrategyName(StrEnum):
    """How the next thread is chosen."""

    dpor = "dpor"
    graphs = "graphs"
    bounded = "bounded"
    pct = "pct"
    random = "random"
    directed = "directed"


@examples(
    'latchfree explore ctrie --scenario "init: put(0, 1) | put(0, 2) | get(0)"',
    'latchfree explore ring --mutant Q1 --scenario "enqueue(1) | enqueue(2)"',
    'latchfree explore cache:Cache --model map --scenario "put(0, 1) | get(0)"',
)
def explore(
    settings: Settings,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="ctrie, topic-trie, ring, weak-ring, FILE.py[:NAME], MODULE:CLASS or MODULE:COROUTINE.",
        ),
    ],
    *,
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help='Such as "init: put(1, 1) | put(1, 2) | get(1)"; default: random ones, of a class all small ones.',
        ),
    ] = None,
    strategy: Annotated[
        StrategyName | None, typer.Option(help="Default: dpor for a given scenario, pct for random ones.")
    ] = None,
    schedules: Annotated[int | None, typer.Option(min=1, help="At most so many schedules.")] = None,
    bound: Annotated[
        int | None, typer.Option(min=0, help="bounded: the most preemptions (2); pct: the depth of bugs (3).")
    ] = None,
    script: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help='directed: which thread goes how far, such as "0:cas 1 0"; MODULE:CLASS: the calls, as --scenario.',
        ),
    ] = "",
    mutant: Annotated[str | None, typer.Option(metavar="ID", help="Run a seeded bug: see latchfree mutants.")] = None,
    plain: Annotated[bool, typer.Option("--plain", help="Interleave plain accesses too.")] = False,
    memory: Annotated[
        MemoryName | None, typer.Option(help="The memory model: sc (the default), tso (x86), sra or rc11 (weakest).")
    ] = None,
    races: Annotated[
        bool | None, typer.Option("--races/--no-races", help="Report data races (the default).", show_default=False)
    ] = None,
    obstruction_free: Annotated[
        bool, typer.Option("--obstruction-free", help="From every state, each thread alone must finish.")
    ] = False,
    every_step: Annotated[bool, typer.Option("--every-step", help="Show all accesses of a failure.")] = False,
    emit_test: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a pytest file that fails as long as the bug is there.")
    ] = None,
    along: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Run ctrie along every step of a model's state graph.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="MODULE:CLASS: the sequential model that judges it (map).")
    ] = None,
    switches: Annotated[
        SwitchesName | None, typer.Option(help="MODULE:CLASS: where threads may change (both).")
    ] = None,
    cancels: Annotated[
        int | None, typer.Option(min=0, help="Plain Python with coroutines: the most tasks that are cancelled (0).")
    ] = None,
) -> Outcome:
    """Run compiled code through many interleavings and judge what its operations return.

    A seed repeats everything. A failure is made small and written to a file that latchfree replay runs again.
    """
    from latchfree_cli.exploring.classes import explore_class, names_a_class, plain_class

    if names_a_class(target):
        if scenario is not None and script:
            raise exits.Stop(exits.USAGE, f"{target}: --script and --scenario are one for a class; leave out one")
        others = (strategy, bound, mutant, plain or None, memory, races, obstruction_free or None, emit_test, along)
        if any(option is not None for option in others) or every_step:
            raise exits.Stop(
                exits.USAGE,
                f"{target}: plain Python takes --scenario, --model, --switches, --cancels, --schedules, --seed and "
                "--timeout only",
            )
        chosen = "both" if switches is None else str(switches)
        return explore_class(
            settings,
            target,
            model=model,
            scenario=scenario if scenario is not None else script or None,
            switches=chosen,
            schedules=schedules,
            cancels=cancels or 0,
        )
    if model is not None or switches is not None or cancels is not None:
        raise exits.Stop(
            exits.USAGE, "--model, --switches and --cancels are for plain Python: MODULE:CLASS or MODULE:COROUTINE"
        )
    if along is not None:
        from latchfree_cli.specs.bridge import explore_along

        given = (
            scenario,
            strategy,
            schedules,
            bound,
            script or None,
            plain or None,
            memory,
            races,
            obstruction_free or None,
            emit_test,
        )
        if any(option is not None for option in given):
            raise exits.Stop(exits.USAGE, "--along takes its schedules from a model: give no scenario and no strategy")
        return explore_along(settings, target, along, mutant)
    from latchfree_evidence.exploring import explore as run
    from latchfree_explore.board.stacks import Unsupported

    seed = settings.chosen_seed
    settings.note(f"explore {target}: seed {seed}")
    with settings.progress(f"explore {target}: compiling") as report:
        try:
            result = run(
                target,
                scenario=scenario,
                strategy=None if strategy is None else str(strategy),
                seed=seed,
                schedules=schedules,
                timeout=settings.timeout,
                bound=bound,
                script=script,
                mutant=mutant,
                plain=plain,
                memory="sc" if memory is None else str(memory),
                races=races is not False,
                progress=obstruction_free,
                on_progress=lambda done, scenarios, what: report(
                    f"explore {target}: {done:,} schedules, scenario {scenarios}: {what}"
                ),
            )
        except ValueError as error:
            raise exits.Stop(exits.USAGE, f"{error}{plain_class(target)}") from None
        except Unsupported as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
    settings.say(summary(result))
    payload = result_to_json(result)
    code = exits.INTERRUPTED if result.interrupted and result.verdict != "violation" else None
    if result.failure is None:
        return Outcome("nothing" if result.schedules == 0 and code is None else result.verdict, payload, code=code)
    chosen_races = races is not False
    reproduce = write_failure(settings, result, target, plain, chosen_races, every_step, emit_test)
    return Outcome("violation", payload, reproduce=reproduce)


def summary(result: "Exploration") -> str:
    """Return the verdict and what was run, one fact a line."""
    per_second = result.schedules / result.seconds if result.seconds > 0 else 0.0
    lines = [
        f"explore {result.target}: {result.verdict}: {result.reason}",
        f"  {result.schedules:,} schedules ({result.strategy}) of {result.scenarios:,} scenario(s) in "
        f"{result.seconds:.2f} s, {per_second:,.0f} a second; up to {result.longest:,} accesses each",
        f"  {result.outcomes:,} different results; {result.checked:,} histories went to the checker",
    ]
    if result.interleavings and result.failure is None:
        about = "at least " if result.at_least else "about " if result.interleavings >= 1 << 53 else ""
        lines.append(f"  they stand for {about}{_number(result.interleavings)} interleavings")
    if result.memory != "sc":
        lines.append(f"  under {result.memory}: {result.stale:,} loads read a value that had been overwritten")
    if result.forbidden:
        lines.append(f"  {result.forbidden:,} schedules would be wrong, but {result.memory} forbids them")
    if result.slept:
        why = "equivalent ones had been run"
        if result.strategy == "graphs":
            why = "a thread that waits there would go on, or clients would have known better"
        lines.append(f"  {result.slept:,} more were cut short: {why}")
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value < 1e15 else f"{value:.2e}" if value < float("inf") else "1e308 and more"


def write_failure(
    settings: Settings,
    result: "Exploration",
    target: str,
    plain: bool,
    races: bool,
    every_step: bool,
    emit_test: Path | None,
) -> str | None:
    """Show the failing interleaving, write its replay file, and return the command that runs it again, if it could."""
    from latchfree_evidence.targets.finding import find_target
    from latchfree_explore import pytest_files, render, replay_files
    from latchfree_explore.sources import source_hash

    failure = result.failure
    assert failure is not None
    settings.say(f"scenario: {failure.scenario}")
    settings.say(render.table(failure, every_step=every_step))
    for line in render.around(failure):
        settings.say(line)
    settings.say(render.verdict(failure))
    source = source_hash(find_target(target))
    document = replay_files.to_json(result, target=target, source=source, plain=plain, races=races)
    path = settings.write(f"explore-{result.target}-{result.mutant or result.seed}.json", pytest_files.dumped(document))
    if emit_test is not None:
        text = pytest_files.pytest_file(document, failure.preemptions, module="latchfree_evidence")
        settings.save(emit_test, text)
        settings.note(f"a test that fails as long as the bug is there: {emit_test}")
    return settings.replayed_by(path)


def result_to_json(result: "Exploration") -> dict[str, object]:
    """Return what ``--json`` says about an exploration."""
    failure = result.failure
    interleavings = result.interleavings
    return {
        "target": result.target,
        "strategy": result.strategy,
        "seed": result.seed,
        "mutant": result.mutant,
        "reason": result.reason,
        "memory": result.memory,
        "stale": result.stale,
        "forbidden": result.forbidden,
        "complete": result.complete,
        "interrupted": result.interrupted,
        "schedules": result.schedules,
        "cut_short": result.slept,
        "scenarios": result.scenarios,
        "interleavings": interleavings if interleavings is not None and interleavings < float("inf") else None,
        "at_least": result.at_least,
        "accesses": result.steps,
        "outcomes": result.outcomes,
        "checked": result.checked,
        "seconds": round(result.seconds, 3),
        "failure": None
        if failure is None
        else {
            "kind": failure.kind,
            "message": failure.message,
            "scenario": str(failure.scenario),
            "context_switches": failure.context_switches,
            "preemptions": failure.preemptions,
            "models": list(failure.models),
            "accesses": len(failure.steps),
        },
    }
