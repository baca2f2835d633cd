"""``latchfree stress``: run an object on real threads and judge what was recorded; or run lives of processes."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.lifecycle_runs import stress_lifecycle
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.stress.result import StressResult

TARGETS: Final = {"ctrie": "map", "topic-trie": "topic-index:mqtt"}
"""What can be stressed on threads, and the sequential model it is judged by."""
LIFECYCLE: Final = "lifecycle"


@examples(
    "latchfree stress ctrie --threads 4 --operations 100000",
    "latchfree stress topic-trie --mutant C3",
    "latchfree stress lifecycle --programs 200",
)
def stress(
    settings: Settings,
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"What to stress: {', '.join(TARGETS)}, lifecycle.")],
    threads: Annotated[int, typer.Option(min=2, help="Threads.")] = 4,
    operations: Annotated[
        int | None,
        typer.Option(min=1, help="Operations of all threads together; default: 1,000,000, of topic-trie 100,000."),
    ] = None,
    keys: Annotated[int, typer.Option(min=1, help="Different keys, or pairs of pattern and subscriber.")] = 16,
    shape: Annotated[str | None, typer.Option(metavar="NAME", help="One shape of trie; default: all in turn.")] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="bare, jittered or poisoned; default: bare and jittered in turn."),
    ] = None,
    mutant: Annotated[str | None, typer.Option(metavar="ID", help="Run a seeded bug: see latchfree mutants.")] = None,
    programs: Annotated[
        int | None, typer.Option(min=1, help="lifecycle: programs; default: 300, of a given one 20 runs.")
    ] = None,
    program: Annotated[Path | None, typer.Option(metavar="FILE", help="lifecycle: run this program.")] = None,
) -> Outcome:
    """Run an object on real threads, record it and judge the history.

    A seed repeats the operations. The operating system chooses the schedule, so a run cannot be repeated exactly.

    The target lifecycle runs random programs of processes that open, close, fork, exec, exit, stop and are killed. A
    failing program is made small and written to a file.
    """
    of_threads = (operations, shape, memory, mutant)
    if target == LIFECYCLE:
        if any(option is not None for option in of_threads):
            raise exits.Stop(exits.USAGE, "lifecycle takes --programs, or --program FILE")
        return stress_lifecycle(settings, programs, program)
    if target not in TARGETS:
        known = ", ".join((*TARGETS, LIFECYCLE))
        raise exits.Stop(exits.USAGE, f"no target is called {target!r}; the targets are {known}")
    if programs is not None or program is not None:
        raise exits.Stop(exits.USAGE, "only lifecycle takes --programs and --program")
    from latchfree_evidence.stress import run_stress

    seed = settings.chosen_seed
    settings.note(f"stress {target}: seed {seed}")
    with settings.progress(f"stress {target}") as report:
        try:
            result = run_stress(
                target,
                threads=threads,
                operations=operations,
                keys=keys,
                seed=seed,
                mutant=mutant,
                shape=shape,
                memory=memory,
                timeout=settings.timeout,
                on_progress=lambda done, total: report(f"stress {target}: {done:,} of {total:,} operations"),
            )
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
    payload = result_to_json(result)
    settings.say(result.explain() if result.verdict != "ok" else summary(result))
    if result.verdict != "violation":
        nothing = result.verdict == "ok" and result.operations == 0
        return Outcome("nothing" if nothing else result.verdict, payload)
    reproduce = write_failure(settings, result)
    if reproduce is None:
        options: dict[str, object] = {"threads": threads, "operations": operations, "keys": keys}
        options |= {"shape": shape, "memory": memory, "mutant": mutant}
        again = ["latchfree", "stress", target, "--seed", str(seed)]
        for name, value in options.items():
            again += [f"--{name}", str(value)] if value is not None else []
        reproduce = shlex.join(again)
    return Outcome("violation", payload, reproduce=reproduce)


def summary(result: "StressResult") -> str:
    """Return one line about a run that found nothing wrong."""
    return (
        f"stress {result.target}: {result.verdict}: {result.operations:,} operations, {result.overlapping:,} "
        f"of them overlapping, by {result.threads} threads in {len(result.histories)} histories; "
        f"ran {result.run_seconds:.1f} s, judged {result.check_seconds:.1f} s (seed {result.seed})"
    )


def write_failure(settings: Settings, result: "StressResult") -> str | None:
    """Write the failing history, if there is one, and return the command that checks it."""
    if result.failure is None:
        return None
    from latchfree_lincheck import write_history

    failure = result.failure
    path = settings.out / f"stress-{result.target}-{result.seed}.jsonl"
    settings.save(path, lambda path: write_history(path, [failure]))
    return shlex.join(["latchfree", "check", str(path), "--model", TARGETS[result.target]])


def result_to_json(result: "StressResult") -> dict[str, object]:
    """Return what ``--json`` and the report say about a stress run."""
    return {
        "target": result.target,
        "reason": result.reason,
        "operations": result.operations,
        "overlapping": result.overlapping,
        "threads": result.threads,
        "keys": result.keys,
        "seed": result.seed,
        "mutant": result.mutant,
        "run_seconds": round(result.run_seconds, 3),
        "check_seconds": round(result.check_seconds, 3),
        "histories": [
            {
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "operations": verdict.operations,
                "seconds": round(verdict.seconds, 6),
            }
            for verdict in result.histories
        ],
    }
