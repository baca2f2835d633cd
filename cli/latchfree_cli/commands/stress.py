"""``latchfree stress``: run an object on real threads, record what happens and judge the history."""

import shlex
from typing import TYPE_CHECKING, Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.stress.result import StressResult

TARGETS: Final = {"ctrie": "map", "topic-trie": "topic-index:mqtt"}
"""What can be stressed, and the sequential model it is judged by."""


@examples(
    "latchfree stress ctrie --threads 4 --operations 100000",
    "latchfree stress topic-trie --mutant C3",
)
def stress(
    settings: Settings,
    target: Annotated[str, typer.Argument(metavar="TARGET", help=f"What to stress: {', '.join(TARGETS)}.")],
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
) -> Outcome:
    """Run an object on real threads, record it and judge the history.

    A seed repeats the operations. The operating system chooses the schedule, so a run cannot be repeated exactly.
    """
    if target not in TARGETS:
        raise exits.Stop(exits.USAGE, f"no target is called {target!r}; the targets are {', '.join(TARGETS)}")
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
