"""``latchfree stress lifecycle``: random programs of open, close, fork, exec, exit, stop and kill."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.stress.lifecycle.campaign import LifecycleResult

PROGRAMS: Final = 300
"""Programs of a run, unless it is told."""
TRIALS: Final = 20
"""How often one program is run, unless it is told: how its processes meet is the machine's choice."""


def stress_lifecycle(settings: Settings, programs: int | None, file: Path | None) -> Outcome:
    """Run random programs, or the one in a file, and judge each."""
    from latchfree_evidence.stress.lifecycle.campaign import run_lifecycle
    from latchfree_evidence.stress.lifecycle.program import load

    try:
        program = None if file is None else load(file)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    seed = settings.chosen_seed if program is None else int(program["seed"])
    total = programs or (PROGRAMS if program is None else TRIALS)
    settings.note(f"stress lifecycle: {f'seed {seed}' if file is None else file}")
    with settings.progress("stress lifecycle: compiling") as report:
        result = run_lifecycle(
            total,
            seed=seed,
            program=program,
            timeout=settings.timeout,
            on_progress=lambda done, what: report(f"stress lifecycle: {done:,} of {total:,} programs, {what}"),
        )
    settings.say(summary(result))
    payload = result_to_json(result)
    if result.failure is None:
        return Outcome("nothing" if result.verdict == "ok" and not result.programs else result.verdict, payload)
    return Outcome("violation", payload, reproduce=write_program(settings, result))


def summary(result: LifecycleResult) -> str:
    """Return the verdict and what was run; of a violation also what was found and where."""
    head = (
        f"stress lifecycle: {result.verdict}: {result.programs:,} programs of {result.processes:,} processes, "
        f"{result.steps:,} steps, {result.kills:,} kills, {result.writes:,} acknowledged writes; "
        f"{result.seconds:.1f} s (seed {result.seed})"
    )
    lines = [head]
    if result.reason:
        lines.append(result.reason)
    if result.judged is not None and result.judged.stderr.strip():
        lines.append(result.judged.stderr.rstrip()[-3000:])
    return "\n".join(lines)


def write_program(settings: Settings, result: LifecycleResult) -> str:
    """Write the failing program and return the command that runs it."""
    from latchfree_evidence.stress.lifecycle.program import dumped
    from latchfree_evidence.stress.lifecycle.shrink import size

    assert result.failure is not None
    name = f"lifecycle-{result.seed}-{result.failure['number']}.json"
    path = settings.write(name, dumped(result.failure))
    settings.note(f"{result.size} steps and signals, of which {size(result.failure)} are enough: {path}")
    return shlex.join(["latchfree", "stress", "lifecycle", "--program", str(path)])


def result_to_json(result: LifecycleResult) -> dict[str, object]:
    """Return what ``--json`` says about a run."""
    return {
        "target": "lifecycle",
        "reason": result.reason,
        "seed": result.seed,
        "programs": result.programs,
        "processes": result.processes,
        "steps": result.steps,
        "kills": result.kills,
        "writes": result.writes,
        "seconds": round(result.seconds, 3),
        "failure": result.failure,
    }
