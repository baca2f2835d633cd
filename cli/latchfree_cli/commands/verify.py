"""``latchfree verify``: the whole chain in one table, on a quick profile or as a smoke test."""

import json
import os
import platform
import time
from typing import Annotated, Final

import typer

from latchfree_cli import exits
from latchfree_cli.commands.chain.board import Board, table_of
from latchfree_cli.commands.chain.rows import LAYERS, Plan, Profile, exit_code
from latchfree_cli.commands.chain.running import run_layers
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings
from latchfree_cli.slots import Slots, default_count

REPORT: Final = "report.json"
OPERATIONS: Final = 1_000_000
"""Operations of the stress run."""
KNOWN: Final = "the rows of `latchfree verify`"


@examples(
    "latchfree verify",
    "latchfree verify --profile smoke",
    "latchfree verify --only stress --only lemmas",
)
def verify(
    settings: Settings,
    profile: Annotated[
        Profile, typer.Option(help="quick: all that takes minutes; smoke: half a minute, the part that finds most.")
    ] = Profile.quick,
    operations: Annotated[
        int | None,
        typer.Option(min=1, help="Operations of the stress run; default: 1,000,000, of smoke 100,000."),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the stress run.")] = 4,
    only: Annotated[
        list[str] | None, typer.Option(metavar="LAYER", help="Run this layer alone; give it again for more.")
    ] = None,
) -> Outcome:
    """Run the whole chain and print one table, which fills while it runs.

    TLC and the mutants run in processes of their own while the Python layers run; a layer whose tool is missing is
    reported as not run, and the chain then ends with exit code 3.

    The profile smoke is for a CI job: each layer, with the part of quick that finds most in a second.
    """
    layers = LAYERS if not only else exits.named("layer", {layer.name: layer for layer in LAYERS}, only, KNOWN)
    if operations is None:
        from latchfree_cli.commands.chain import smoke

        operations = smoke.OPERATIONS if profile == Profile.smoke else OPERATIONS
    slots = Slots(default_count(), settings.cancelled)
    plan = Plan(operations=operations, threads=threads, slots=slots, profile=profile)
    settings.note(f"verify: seed {settings.chosen_seed}")
    begun = time.monotonic()
    board = Board(layers)
    with board.shown(settings):
        results = run_layers(layers, settings, plan, board)
    code = exit_code(results)
    from latchfree import __version__

    verdict = {exits.OK: "ok", exits.VIOLATION: "violation", exits.NOTHING: "nothing"}.get(code, "unknown")
    payload: dict[str, object] = {
        "profile": str(profile),
        "exit_code": code,
        "seed": settings.chosen_seed,
        "seconds": round(time.monotonic() - begun, 3),
        "environment": {
            "latchfree": __version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            "processors": os.cpu_count(),
        },
        "layers": [result.to_json() for result in results],
    }
    document = {"version": 1, "verdict": verdict, **payload}
    path = settings.write(REPORT, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    settings.say(table_of(results))
    for result in results:
        if result.reason:
            settings.say(f"{result.layer}: {result.verdict}: {result.reason}")
    settings.say(f"{verdict} in {payload['seconds']} s (seed {settings.chosen_seed}); report: {path}")
    reproduce = next((r.reproduce for r in results if r.verdict == "violation" and r.reproduce), None)
    return Outcome(verdict, payload, code=code, reproduce=reproduce)
