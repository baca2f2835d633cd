"""``latchfree mutants``: which layer catches which mutant."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree_cli.code_mutants import Cell


class LayerName(StrEnum):
    """The layers that mutants are shown to."""

    spec = "spec"
    stress = "stress"


def mutants(
    settings: Settings,
    layer: Annotated[LayerName | None, typer.Option(help="One layer only.")] = None,
) -> Outcome:
    """Show which layer catches which mutant; each must be caught wherever it applies."""
    layers = [layer] if layer else list(LayerName)
    cells: list[Cell] = []
    with settings.progress("mutants") as report:
        if LayerName.spec in layers:
            cells += spec_cells(settings, report)
        if LayerName.stress in layers:
            cells += stress_cells(settings, report)
    if not cells:
        settings.say("nothing was checked: there is no mutant")
        return Outcome("nothing", {"mutants": []})
    settings.say(_table(layers, cells))
    bad = [cell for cell in cells if cell.status != "caught"]
    for cell in bad:
        settings.say(f"{cell.mutant} in {cell.layer}: {cell.status}: {cell.detail}")
    caught = len(cells) - len(bad)
    settings.say(f"{caught} of {len(cells)} caught" + _seed_note(settings, cells))
    missed = [cell for cell in cells if cell.status == "MISSED"]
    failed = any(cell.status == "failed" for cell in cells)
    verdict = "violation" if missed else "unknown" if bad else "ok"
    return Outcome(
        verdict,
        {"mutants": [cell.to_json() for cell in cells]},
        code=exits.TOOL if failed and not missed else None,
        reproduce=missed[0].reproduce if missed else None,
    )


def spec_cells(settings: Settings, report: Report) -> "list[Cell]":
    """Return one cell for each TLA+ mutant: caught if every model of it shows the violation expected."""
    from latchfree_cli.code_mutants import Cell
    from latchfree_cli.specs import SpecOutcome, read_manifest, run_all

    by_mutant: dict[str, list[SpecOutcome]] = {}
    models = [model for model in read_manifest() if model.mutant and model.profile == "quick"]
    for outcome in run_all(models, settings, report) if models else []:
        by_mutant.setdefault(str(outcome.model.mutant), []).append(outcome)
    cells = []
    for mutant, outcomes in sorted(by_mutant.items()):
        verdict = exits.worst(outcome.verdict for outcome in outcomes)
        cells.append(
            Cell(
                mutant,
                "spec",
                "caught" if verdict == "ok" else "MISSED" if verdict == "violation" else "unknown",
                sum(outcome.result.seconds for outcome in outcomes),
                "; ".join(o.result.reason or ", ".join(o.disagreements) or str(o.result.property) for o in outcomes),
                " ".join(["latchfree spec", *(outcome.model.name for outcome in outcomes)]),
            )
        )
    return cells


def stress_cells(settings: Settings, report: Report, only: "tuple[str, ...] | None" = None) -> "list[Cell]":
    """Return one cell for each mutant of the code that stress is meant to catch."""
    from latchfree_cli.code_mutants import run_mutant
    from latchfree_lincheck.mutants import MUTANTS

    cells = []
    for name, mutant in MUTANTS.items():
        if mutant.stress is None or (only is not None and name not in only):
            continue
        report(f"mutant {name}: stress")
        cells.append(run_mutant(name, dict(mutant.stress), settings))
    return cells


def _table(layers: list[LayerName], cells: "list[Cell]") -> Table:
    table = Table("mutant", *layers)
    found = {(cell.mutant, cell.layer): cell for cell in cells}
    for mutant in sorted({cell.mutant for cell in cells}):
        row = [found.get((mutant, layer.value)) for layer in layers]
        table.add_row(mutant, *(f"{cell.status} ({cell.seconds:.1f} s)" if cell else "not applicable" for cell in row))
    return table


def _seed_note(settings: Settings, cells: "list[Cell]") -> str:
    return f" (seed {settings.chosen_seed})" if any(cell.layer == "stress" for cell in cells) else ""
