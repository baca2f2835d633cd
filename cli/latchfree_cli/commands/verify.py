"""``latchfree verify``: the whole chain on a quick profile, in one table."""

import json
import os
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Final

import typer
from rich.table import Table

from latchfree_cli import exits
from latchfree_cli.commands.chain.layers import cancel
from latchfree_cli.commands.chain.rows import LAYERS, Layer, LayerResult, Plan, exit_code
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Report, Settings

REPORT: Final = "report.json"
KNOWN: Final = "the rows of `latchfree verify`"


@examples(
    "latchfree verify",
    "latchfree verify --operations 100000 --seed 7 -o report",
    "latchfree verify --only stress --only lemmas",
)
def verify(
    settings: Settings,
    operations: Annotated[int, typer.Option(min=1, help="Operations of the stress run.")] = 1_000_000,
    threads: Annotated[int, typer.Option(min=1, help="Threads of the stress run.")] = 4,
    only: Annotated[
        list[str] | None, typer.Option(metavar="LAYER", help="Run this layer alone; give it again for more.")
    ] = None,
) -> Outcome:
    """Run the whole chain on a quick profile and print one table.

    TLC runs in processes of its own while the Python layers run; a layer whose tool is missing is reported as
    not run, and the chain then ends with exit code 3.
    """
    layers = LAYERS if not only else exits.named("layer", {layer.name: layer for layer in LAYERS}, only, KNOWN)
    plan = Plan(operations=operations, threads=threads)
    settings.note(f"verify: seed {settings.chosen_seed}")
    begun = time.monotonic()
    with settings.progress("verify") as report:
        results = _run_lanes(layers, settings, plan, report)
    code = exit_code(results)
    from latchfree import __version__

    verdict = {exits.OK: "ok", exits.VIOLATION: "violation", exits.NOTHING: "nothing"}.get(code, "unknown")
    payload: dict[str, object] = {
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
    settings.say(_table(results))
    for result in results:
        if result.reason:
            settings.say(f"{result.layer}: {result.verdict}: {result.reason}")
    settings.say(f"{verdict} in {payload['seconds']} s (seed {settings.chosen_seed}); report: {path}")
    reproduce = next((r.reproduce for r in results if r.verdict == "violation" and r.reproduce), None)
    return Outcome(verdict, payload, code=code, reproduce=reproduce)


def _run_lanes(layers: list[Layer], settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run the lane of processes in a thread and the Python lane here; return the rows in registered order."""
    rows: dict[str, list[LayerResult]] = {}
    shown: dict[str, str] = {}

    def run(lane: str) -> None:
        def show(text: str) -> None:
            shown[lane] = text
            report(" | ".join(shown.values()))

        for layer in layers:
            if layer.lane == lane and not settings.cancelled.is_set():
                rows[layer.name] = _run_layer(layer, settings, plan, show)

    with ThreadPoolExecutor(1) as pool:
        processes = pool.submit(run, "processes")
        try:
            run("python")
            processes.result()
        except BaseException:
            cancel(settings)
            raise
    return [row for layer in layers for row in rows[layer.name]]


def _run_layer(layer: Layer, settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run a layer; a missing tool and a crash become rows, so that the other layers still run."""
    begun = time.monotonic()
    try:
        return layer.run(settings, plan, report)
    except Exception as error:
        expected = exits.translate(error)
        missing = expected is not None and expected.code == exits.TOOL
        return [
            LayerResult(
                layer=layer.name,
                checked="",
                amount="nothing",
                verdict="not run" if missing else "failed",
                seconds=time.monotonic() - begun,
                reason=str(expected) if expected else f"{type(error).__name__}: {error}",
            )
        ]


def _table(results: list[LayerResult]) -> Table:
    table = Table("layer", "checked", "how much")
    table.add_column("seconds", justify="right")
    table.add_column("verdict")
    for result in results:
        table.add_row(result.layer, result.checked, result.amount, f"{result.seconds:.1f}", result.verdict)
    return table
