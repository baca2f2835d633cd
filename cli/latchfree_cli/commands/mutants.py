"""``latchfree mutants``: which layer catches which mutant."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from latchfree_cli import exits, systematic_runs
from latchfree_cli.frame import examples
from latchfree_cli.mutant_runs import Cell, LayerName, run_mutant
from latchfree_cli.settings import Outcome, Report, Settings

NO_SPEC_MUTANT: Final = "there is no TLA+ mutant"
NO_CODE_MUTANT: Final = "there is no mutant of the code"
NO_RUN: Final = "there is no stress run of its target"
NO_POISON: Final = "the explorer's memory is not poisoned, and a freed node still holds what it held"
NO_TICKETS: Final = "the explorer takes no tickets: its schedule says what came before what"
NOT_SPECIFIED: Final = "the specification is of the structure, not of the recorder"


@examples(
    "latchfree mutants --list",
    "latchfree mutants --systematic --only gcas --sample 20 --seed 1",
    "latchfree mutants --systematic --list --diff --only arena/kernels/epochs",
)
def mutants(
    settings: Settings,
    layer: Annotated[LayerName | None, typer.Option(help="One layer only.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the mutants and stop.")] = False,
    systematic: Annotated[bool, typer.Option(help="Every kernel, changed in every small way.")] = False,
    only: Annotated[str, typer.Option(metavar="FILE", help="Of those, the kernels of one file, or one group.")] = "",
    sample: Annotated[int | None, typer.Option(min=1, help="Of those, so many, drawn by the seed.")] = None,
    resume: Annotated[bool, typer.Option(help="Keep the verdicts of the run before.")] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Judge so many of those at a time.", show_default="all processors")
    ] = None,
    diff: Annotated[bool, typer.Option(help="With --list: show each change.")] = False,
) -> Outcome:
    """Show which layer catches which mutant; each must be caught wherever it applies.

    A mutant is a seeded bug: the correct code, or the correct specification, with one piece replaced by a wrong one.
    --list says of each which layers must catch it, where the bug was published, and what goes wrong.

    --systematic makes mutants by itself: an access or a call is left out, two are swapped, a test is negated, or a
    constant is off by one. They run in plain Python, first alone and then interleaved. A survivor fails the command,
    unless it has a reason: it is the same, slower, or allowed.
    """
    if systematic:
        if list_:
            return systematic_runs.list_mutants(settings, only, sample, diffs=diff)
        return systematic_runs.run_all(settings, only, sample, resume=resume, jobs=jobs)
    if only or sample is not None or resume or diff or jobs is not None:
        raise exits.Stop(exits.USAGE, "--only, --sample, --resume, --jobs and --diff need --systematic")
    layers = [layer] if layer else list(LayerName)
    if list_:
        return _listed(settings, layers)
    settings.note(f"mutants: seed {settings.chosen_seed}")
    with settings.progress("mutants") as report:
        cells = _in_lanes(layers, settings, report)
    ran = [cell for cell in cells if cell.ran]
    if not ran:
        settings.say("nothing was checked: there is no mutant")
        return Outcome("nothing", {"mutants": []})
    settings.say(_table(layers, cells))
    bad = [cell for cell in ran if cell.status != "caught"]
    for cell in bad:
        settings.say(f"{cell.mutant} in {cell.layer}: {cell.status}: {cell.detail}")
    for status, where, why in dict.fromkeys((cell.status, cell.layer, cell.detail) for cell in cells if not cell.ran):
        settings.note(f"{status} in {where}: {why}")
    settings.say(f"{len(ran) - len(bad)} of {len(ran)} caught")
    missed = [cell for cell in cells if cell.status == "MISSED"]
    failed = any(cell.status == "failed" for cell in cells)
    verdict = "violation" if missed else "unknown" if bad else "ok"
    return Outcome(
        verdict,
        {"mutants": [cell.to_json() for cell in cells]},
        code=exits.TOOL if failed and not missed else None,
        reproduce=missed[0].reproduce if missed else None,
    )


def _listed(settings: Settings, layers: list[LayerName]) -> Outcome:
    """Print one line for each mutant of these layers."""
    entries = [entry for entry in _entries() if set(layers) & set(entry["layers"])]
    for entry in entries:
        where = entry["published"] or "-"
        settings.say(f"{entry['id']:<4}  {', '.join(entry['layers']):<21}  {where:<28}  {entry['summary']}")
    return Outcome("listed", {"mutants": entries}, code=exits.OK)


def _entries() -> list[dict[str, Any]]:
    """Return what is known of each mutant, those of the code first."""
    from latchfree_cli.specs.runs import read_manifest
    from latchfree_evidence.mutants.catalogue import MUTANTS

    specified: dict[str, str] = {}
    for model in read_manifest():
        if model.mutant:
            specified.setdefault(model.mutant, model.summary)
    entries = []
    for name in dict.fromkeys([*MUTANTS, *specified]):
        mutant = MUTANTS.get(name)
        layers = [LayerName.spec] if name in specified else []
        layers += [LayerName.explore] if mutant and mutant.explore else []
        layers += [LayerName.stress] if mutant and mutant.stress else []
        entries.append({
            "id": name,
            "layers": [str(layer) for layer in layers],
            "published": mutant.published if mutant else None,
            "summary": mutant.summary if mutant else specified[name],
        })  # fmt: skip
    return entries


def _in_lanes(layers: list[LayerName], settings: Settings, report: Report) -> list[Cell]:
    """Show all mutants to the layers, and add a cell wherever there was nothing to show.

    Stress comes last, with nothing beside it: on a busy machine its threads change too rarely for the rarest mutants.
    """
    shown: dict[str, str] = {}

    def run(layer: LayerName) -> list[Cell]:
        def show(text: str) -> None:
            shown[layer] = text
            report(" | ".join(shown.values()))

        cells = spec_cells(settings, show) if layer == LayerName.spec else code_cells(layer, settings, show)
        shown.pop(layer, None)
        return cells

    # The runs of one layer follow each other, so that what the mutants have in common is compiled once.
    pool = ThreadPoolExecutor(2)
    try:
        together = [layer for layer in reversed(layers) if layer != LayerName.stress]
        cells = [cell for found in pool.map(run, together) for cell in found]
        cells += run(LayerName.stress) if LayerName.stress in layers else []
    except BaseException:
        settings.cancelled.set()
        from latchfree_model.tlc import kill_running

        kill_running()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    return _completed(layers, cells)


def spec_cells(settings: Settings, report: Report) -> list[Cell]:
    """Return one cell for each TLA+ mutant: caught if every model of it shows the violation expected."""
    from latchfree_cli.specs.runs import SpecOutcome, read_manifest, run_all

    by_mutant: dict[str, list[SpecOutcome]] = {}
    models = [model for model in read_manifest() if model.mutant and model.profile == "quick"]
    for outcome in run_all(models, settings, report) if models else []:
        by_mutant.setdefault(str(outcome.model.mutant), []).append(outcome)
    cells = []
    for mutant, outcomes in by_mutant.items():
        verdict = exits.worst(outcome.verdict for outcome in outcomes)
        cells.append(
            Cell(
                mutant,
                LayerName.spec,
                "caught" if verdict == "ok" else "MISSED" if verdict == "violation" else "unknown",
                sum(outcome.result.seconds for outcome in outcomes),
                "; ".join(o.result.reason or ", ".join(o.disagreements) or str(o.result.property) for o in outcomes),
                shlex.join(["latchfree", "spec", *(outcome.model.name for outcome in outcomes)]),
            )
        )
    return cells


def code_cells(layer: LayerName, settings: Settings, report: Report, only: tuple[str, ...] | None = None) -> list[Cell]:
    """Return one cell for each mutant of the code that a layer is meant to catch."""
    from latchfree_evidence.mutants import MUTANTS

    cells = []
    for name, mutant in MUTANTS.items():
        options = mutant.explore if layer == LayerName.explore else mutant.stress
        if options is None or (only is not None and name not in only) or settings.cancelled.is_set():
            continue
        report(f"{layer} {name}")
        cells.append(run_mutant(name, layer, options, settings))
    return cells


def _completed(layers: list[LayerName], cells: list[Cell]) -> list[Cell]:
    """Return the cells with those of the layers that a mutant was not shown to, in order of mutants and layers."""
    found = {(cell.mutant, cell.layer): cell for cell in cells}
    names = sorted({cell.mutant for cell in cells} | _code_mutants())
    return [found.get((name, layer)) or _not_shown(name, layer) for name in names for layer in layers]


def _code_mutants() -> set[str]:
    from latchfree_evidence.mutants import MUTANTS

    return set(MUTANTS)


def _not_shown(name: str, layer: LayerName) -> Cell:
    """Return the cell of a layer that a mutant was not shown to, and why."""
    from latchfree_evidence.mutants import MUTANTS

    if name not in MUTANTS:
        return Cell(name, layer, "-", detail=NO_CODE_MUTANT)
    if layer == LayerName.explore:
        return Cell(name, layer, "not applicable", detail=NO_POISON if MUTANTS[name].frees else NO_TICKETS)
    if layer == LayerName.stress:
        return Cell(name, layer, "not applicable", detail=NO_RUN)
    if MUTANTS[name].explore is None:
        return Cell(name, layer, "not applicable", detail=NOT_SPECIFIED)
    return Cell(name, layer, "-", detail=NO_SPEC_MUTANT)


def _table(layers: list[LayerName], cells: list[Cell]) -> Table:
    table = Table("mutant", *layers)
    found = {(cell.mutant, cell.layer): cell for cell in cells}
    for mutant in dict.fromkeys(cell.mutant for cell in cells):
        row = [found[mutant, layer] for layer in layers]
        table.add_row(mutant, *(f"{cell.status} ({cell.seconds:.1f} s)" if cell.ran else cell.status for cell in row))
    return table
