"""The layers that ``latchfree verify`` runs, in the order of its table."""

from typing import cast

from latchfree_cli.layers import LayerResult, Plan, Verdict, layer
from latchfree_cli.settings import Report, Settings

MODEL_TIMEOUT = 600.0
"""Seconds for one TLC model, unless ``--timeout`` says otherwise."""

CODE_MUTANTS = ("S1", "W2")
"""The mutants of the code that the quick chain runs: a lost put and a wrong answer."""


def cancel(settings: Settings) -> None:
    """Stop what runs in other processes."""
    from latchfree_model.tlc import kill_running

    settings.cancelled.set()
    kill_running()


def _spec_rows(settings: Settings, report: Report, *, mutants: bool) -> list[LayerResult]:
    from dataclasses import replace

    from latchfree_cli.specs import read_manifest, run_all, write_counterexample

    models = [m for m in read_manifest() if m.profile == "quick" and bool(m.mutant) == mutants]
    name = "spec mutants" if mutants else "spec"
    if not models:
        reason = "the manifest has no such model"
        return [LayerResult(name, "", "nothing", "not run", 0.0, reason)]
    limited = settings if settings.timeout else replace(settings, timeout=MODEL_TIMEOUT)
    outcomes = run_all(models, limited, report)
    bad = [outcome for outcome in outcomes if outcome.verdict != "ok"]
    for outcome in outcomes:
        if outcome.result.verdict == "violation":
            write_counterexample(outcome, settings)
    distinct = sum(outcome.result.distinct or 0 for outcome in outcomes)
    if mutants:
        checked = "TLA+ mutants, each to be violated"
        amount = f"{len(outcomes) - len(bad)} of {len(outcomes)} caught"
    else:
        checked = "TLA+ models, by TLC"
        amount = f"{len(outcomes)} models, {distinct:,} distinct states"
    verdict: Verdict = "ok"
    if bad:
        verdict = "violation" if any(outcome.verdict == "violation" for outcome in bad) else "unknown"
    return [
        LayerResult(
            layer=name,
            checked=checked,
            amount=amount,
            verdict=verdict,
            seconds=sum(outcome.result.seconds for outcome in outcomes),
            reason="; ".join(f"{o.model.name}: {', '.join(o.disagreements)}" for o in bad),
            reproduce=" ".join(["latchfree spec", *(o.model.name for o in bad)]) if bad else None,
            details=[outcome.to_json() for outcome in outcomes],
        )
    ]


@layer("spec", "processes")
def spec_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check the correct TLA+ models."""
    return _spec_rows(settings, report, mutants=False)


@layer("spec mutants", "processes")
def spec_mutants_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check that TLC catches each TLA+ mutant."""
    return _spec_rows(settings, report, mutants=True)


@layer("stress", "python")
def stress_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run the Ctrie on real threads, and judge each recorded history: one row each."""
    from latchfree_cli.commands.stress import result_to_json, write_failure
    from latchfree_lincheck.stress import run_stress

    result = run_stress(
        "ctrie",
        threads=plan.threads,
        operations=plan.operations,
        keys=plan.keys,
        seed=settings.chosen_seed,
        timeout=settings.timeout,
        on_progress=lambda done, total: report(f"stress ctrie: {done:,} of {total:,} operations"),
    )
    reproduce = write_failure(settings, result) if result.verdict == "violation" else None
    # A run that got stuck is a failure of the run; any other verdict is about what was recorded.
    stuck = result.verdict == "violation" and result.failure is None
    run_verdict, judged = ("violation", "unknown") if stuck else ("ok", str(result.verdict))
    good = sum(verdict.verdict == "ok" for verdict in result.histories)
    return [
        LayerResult(
            layer="stress",
            checked="the compiled Ctrie on real threads",
            amount=f"{result.operations:,} operations, {result.threads} threads, {result.overlapping:,} overlapping",
            verdict=cast(Verdict, run_verdict if result.operations else "unknown"),
            seconds=result.run_seconds,
            reason=result.reason if stuck else "" if result.operations else "no operation was recorded",
            reproduce=f"latchfree stress ctrie --seed {result.seed}" if stuck else None,
            details=[result_to_json(result)],
        ),
        LayerResult(
            layer="histories",
            checked="linearizability of what was recorded",
            amount=f"{good} of {len(result.histories)} histories",
            verdict=cast(Verdict, judged),
            seconds=result.check_seconds,
            reason="" if judged == "ok" else "the run got stuck" if stuck else result.reason,
            reproduce=reproduce,
        ),
    ]


@layer("code mutants", "python")
def code_mutants_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check that stress catches the mutants of the code."""
    from latchfree_cli.code_mutants import LayerName
    from latchfree_cli.commands.mutants import code_cells

    cells = code_cells(LayerName.stress, settings, report, only=CODE_MUTANTS)
    bad = [cell for cell in cells if cell.status != "caught"]
    absent = [name for name in CODE_MUTANTS if name not in {cell.mutant for cell in cells}]
    verdict: Verdict = "ok" if not absent else "failed"
    if bad:
        verdicts = [cell.verdict for cell in bad]
        verdict = "violation" if "violation" in verdicts else verdicts[0]
    reasons = [f"{cell.mutant}: {cell.status}: {cell.detail}" for cell in bad]
    reasons += [f"{name}: no such mutant" for name in absent]
    return [
        LayerResult(
            layer="code mutants",
            checked=f"{', '.join(cell.mutant for cell in cells)}, each to be caught by stress",
            amount=f"{len(cells) - len(bad)} of {len(CODE_MUTANTS)} caught",
            verdict=verdict,
            seconds=sum(cell.seconds for cell in cells),
            reason="; ".join(reasons),
            reproduce=bad[0].reproduce if bad else None,
            details=[cell.to_json() for cell in cells],
        )
    ]
