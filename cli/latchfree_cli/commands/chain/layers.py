"""The layers that ``latchfree verify`` runs, in the order of its table."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import cast

from latchfree_cli import exits
from latchfree_cli.commands.chain.rows import LayerResult, Plan, Profile, Verdict, layer
from latchfree_cli.settings import Report, Settings

MODEL_TIMEOUT = 600.0
"""Seconds for one TLC model, unless ``--timeout`` says otherwise."""

LEMMA_TIMEOUT = 600.0
"""Seconds for one lemma, unless ``--timeout`` says otherwise: beside other work the solver is slow."""

MUTANT_TIMEOUT = 900.0
"""Seconds for one mutant of the code, compiling it included, unless ``--timeout`` says otherwise."""

SCENARIO_TIMEOUT = 120.0
"""Seconds for one program in every interleaving, unless ``--timeout`` says otherwise."""

CODE_MUTANTS = (("S1", "explore"), ("W2", "stress"))
"""The mutants of the code that the quick chain runs, a lost put and a wrong answer, and the layer that catches each."""

COMPILED = 1e6
"""The size of a job that compiles, in states of a model of TLC: such a job begins before any model."""

SCENARIOS = (
    "put(0, 1) | put(1, 2) | get(0) | keys: shared",
    "init: put(0, 1) | put(0, 2); get(1) | snapshot(); put(1, 3) | keys: pairs",
    "init: put(0, 1); put(1, 1) | remove(0) | put(1, 2) | get(1) | keys: pairs",
    "init: put(0, 1); put(1, 1); put(2, 1) | remove(0) | put(1, 2) | keys: list",
)
"""Programs to run in every interleaving: colliding keys, a snapshot, a contracting node, keys of one hash."""

ALONE = (
    "put(0, 1) | put(1, 2) | get(0) | keys: shared",
    "init: put(0, 1) | put(0, 2) | snapshot(); put(1, 3) | keys: pairs",
    "init: put(0, 1); put(1, 1) | remove(0) | put(1, 2) | keys: pairs",
    "init: put(0, 1); put(1, 1); put(2, 1) | remove(0) | put(1, 2) | keys: list",
)
"""Programs to ask, besides, for obstruction freedom: from every state, each thread alone must finish."""

WEAK = (
    "put(0, 1) | put(1, 2) | get(0) | keys: shared",
    "init: put(0, 1) | put(0, 2) | snapshot() | after: get(0) | keys: pairs",
    "init: put(0, 1); put(1, 1) | remove(0) | put(1, 2) | keys: pairs",
)
"""Programs to run in the weakest memory that the language allows, too."""


def cancel(settings: Settings) -> None:
    """Stop what runs in other processes."""
    from latchfree_model.tlc import kill_running

    settings.cancelled.set()
    kill_running()


def _limited(settings: Settings, timeout: float) -> Settings:
    """Return the settings with a limit, unless they have one."""
    return settings if settings.timeout else replace(settings, timeout=timeout)


def _spec_rows(settings: Settings, plan: Plan, report: Report, *, mutants: bool) -> list[LayerResult]:
    from latchfree_cli.commands.chain import smoke
    from latchfree_cli.specs.runs import SpecOutcome, read_manifest, run_all, write_counterexample

    models = [m for m in read_manifest() if m.profile == "quick"]
    models = smoke.models_of(models) if plan.profile == Profile.smoke else models
    models = [m for m in models if bool(m.mutant) == mutants]
    name = "spec mutants" if mutants else "spec"
    if not models:
        reason = "the manifest has no such model"
        return [LayerResult(name, "", "nothing", "not run", 0.0, reason)]

    def told(outcome: SpecOutcome) -> None:
        if outcome.verdict != "ok":  # at once: the row of the layer comes minutes later
            settings.note(f"{name}: {outcome.model.name}: {', '.join(outcome.disagreements)}")

    first = [model.name for model in smoke.models_of(models)]
    outcomes = run_all(models, _limited(settings, MODEL_TIMEOUT), report, told, plan.slots, first)
    place = {model.name: number for number, model in enumerate(models)}
    outcomes.sort(key=lambda outcome: place[outcome.model.name])
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
            reproduce=shlex.join(["latchfree", "spec", *(o.model.name for o in bad)]) if bad else None,
            details=[outcome.to_json() for outcome in outcomes],
        )
    ]


@layer("spec", "processes")
def spec_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check the correct TLA+ models."""
    return _spec_rows(settings, plan, report, mutants=False)


@layer("spec mutants", "processes")
def spec_mutants_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check that TLC catches each TLA+ mutant."""
    return _spec_rows(settings, plan, report, mutants=True)


@layer("stress", "python")
def stress_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run the Ctrie on real threads, and judge each recorded history: one row each."""
    from latchfree_cli.commands.stress import result_to_json, write_failure
    from latchfree_evidence.stress import run_stress

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


@layer("lemmas", "python")
def lemmas_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Prove the lemmas about word-level code and refute their wrong twins."""
    from latchfree_cli.commands.chain import smoke
    from latchfree_cli.commands.prove import prove_all
    from latchfree_evidence.lemmas import LEMMAS

    lemmas = smoke.lemmas_of(LEMMAS) if plan.profile == Profile.smoke else list(LEMMAS.values())
    entries = prove_all(replace(_limited(settings, LEMMA_TIMEOUT), quiet=True), lemmas, report)
    bad = [entry for entry in entries if entry["verdict"] != "ok"]
    return [
        LayerResult(
            layer="lemmas",
            checked="word-level code, for all words, by Z3",
            amount=f"{len(entries) - len(bad)} of {len(entries)} proved, their wrong twins refuted",
            verdict=cast(Verdict, exits.worst(str(entry["verdict"]) for entry in entries)),
            seconds=sum(float(entry["seconds"]) for entry in entries),
            reason="; ".join(f"{entry['lemma']}: {entry['answer']}, twin {entry['twin']['answer']}" for entry in bad),
            reproduce=shlex.join(["latchfree", "prove", *(str(entry["lemma"]) for entry in bad)]) if bad else None,
            details=entries,
        )
    ]


@layer("proofs", "python")
def proofs_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Prove protocols of the specification for any number of threads."""
    from latchfree_cli.commands.chain import smoke
    from latchfree_evidence.inductive.theorems import THEOREMS, prove_theorem

    theorems = smoke.proofs_of(THEOREMS) if plan.profile == Profile.smoke else list(THEOREMS.values())
    found = []
    for theorem in theorems:
        report(f"prove {theorem.name}: {theorem.says}")
        found.append(prove_theorem(theorem, timeout=settings.timeout or LEMMA_TIMEOUT))
    bad = [theorem.name for theorem, induction in zip(theorems, found, strict=True) if induction.failures]
    answers = {failure.answer for induction in found for failure in induction.failures}
    owed, failed = sum(each.owed for each in found), sum(len(each.failures) for each in found)
    return [
        LayerResult(
            layer="proofs",
            checked="protocols, for any number of threads, by Z3",
            amount=f"{len(found)} systems, {owed - failed:,} of {owed:,} obligations",
            verdict="violation" if "refuted" in answers else "unknown" if answers else "ok",
            seconds=sum(each.seconds for each in found),
            reason="; ".join(failure.says for induction in found for failure in induction.failures[:1]),
            reproduce=shlex.join(["latchfree", "prove", "--any", *bad]) if bad else None,
            details=[{"system": theorem.name, **asdict(each)} for theorem, each in zip(theorems, found, strict=True)],
        )
    ]


@layer("explore", "python")
def explore_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Run the compiled Ctrie in every interleaving of some small programs."""
    from latchfree_cli.commands.explore import result_to_json
    from latchfree_evidence.exploring import explore
    from latchfree_explore.board.stacks import Unsupported

    results = []
    programs = [
        *((scenario, False, "sc") for scenario in SCENARIOS),
        *((scenario, True, "sc") for scenario in ALONE),
        *((scenario, False, "rc11") for scenario in WEAK),
    ]
    for scenario, alone, memory in programs:
        report(f"explore ctrie: {scenario}")
        timeout = settings.timeout or SCENARIO_TIMEOUT
        try:
            results.append(explore("ctrie", scenario=scenario, progress=alone, memory=memory, timeout=timeout))
        except Unsupported as error:
            return [LayerResult("explore", "the compiled Ctrie", "nothing", "not run", 0.0, str(error))]
    bad = [k for k, result in enumerate(results) if result.verdict != "ok"]
    covered = sum(result.interleavings or 0.0 for result in results)
    again = ["latchfree", "explore", "ctrie"]
    if bad:
        scenario, alone, memory = programs[bad[0]]
        again += [*(["--obstruction-free"] if alone else []), "--scenario", scenario]
        again += ["--memory", memory] if memory != "sc" else []
    return [
        LayerResult(
            layer="explore",
            checked="the compiled Ctrie, interleaved in every way",
            amount=f"{len(results)} programs, {len(WEAK)} of them in weak memory, "
            f"{sum(r.schedules for r in results):,} schedules for {covered:.1e}",
            verdict=cast(Verdict, exits.worst(result.verdict for result in results)),
            seconds=sum(result.seconds for result in results),
            reason="; ".join(f"{programs[k][0]}: {results[k].reason}" for k in bad),
            reproduce=shlex.join(again) if bad else None,
            details=[
                {"scenario": scenario, "obstruction_free": alone, **result_to_json(result)}
                for (scenario, alone, _), result in zip(programs, results, strict=True)
            ],
        )
    ]


@layer("code mutants", "processes")
def code_mutants_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Check that exploration and stress catch the mutants of the code, each in a process of its own."""
    from latchfree_cli.commands.chain import smoke
    from latchfree_cli.commands.mutants import code_cells
    from latchfree_cli.mutant_runs import Cell, LayerName

    mutants = smoke.mutants_of(CODE_MUTANTS) if plan.profile == Profile.smoke else list(CODE_MUTANTS)
    limited = _limited(settings, MUTANT_TIMEOUT)

    def run(name: str, how: str) -> list[Cell]:
        with plan.slots.taken(COMPILED) as place:
            return code_cells(LayerName(how), limited, report, only=(name,)) if place else []

    with ThreadPoolExecutor(max(1, len(mutants))) as pool:
        cells = [cell for found in pool.map(run, *zip(*mutants, strict=True)) for cell in found]
    bad = [cell for cell in cells if cell.status != "caught"]
    absent = [name for name, _ in mutants if name not in {cell.mutant for cell in cells}]
    verdict: Verdict = "ok" if not absent else "failed"
    if bad:
        verdicts = [cell.verdict for cell in bad]
        verdict = "violation" if "violation" in verdicts else verdicts[0]
    reasons = [f"{cell.mutant}: {cell.status}: {cell.detail}" for cell in bad]
    reasons += [f"{name}: no such mutant" for name in absent]
    return [
        LayerResult(
            layer="code mutants",
            checked=f"to be caught: {', '.join(f'{cell.mutant} by {cell.layer}' for cell in cells)}",
            amount=f"{len(cells) - len(bad)} of {len(mutants)} caught",
            verdict=verdict,
            seconds=sum(cell.seconds for cell in cells),
            reason="; ".join(reasons),
            reproduce=bad[0].reproduce if bad else None,
            details=[cell.to_json() for cell in cells],
        )
    ]
