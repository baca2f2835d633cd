"""Run the proofs about any number of threads for ``latchfree prove --any``, and say how each of their checks ended."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree_evidence.inductive.instance import Run
    from latchfree_evidence.inductive.proving import Induction
    from latchfree_evidence.inductive.theorems import Theorem, Variant
    from latchfree_evidence.inductive.tie import Tie


def prove_any(settings: Settings, names: list[str], *, listed: bool = False) -> Outcome:
    """Prove systems, all if none is named, or list them."""
    from latchfree_evidence.inductive.theorems import THEOREMS

    theorems = exits.named("system", THEOREMS, names or list(THEOREMS), "latchfree prove --any --list")
    if listed:
        for theorem in theorems:
            settings.say(f"{theorem.name:<14}{theorem.says}")
        return Outcome("listed", {"systems": [{"name": x.name, "says": x.says} for x in theorems]}, code=exits.OK)
    with settings.progress(f"prove: {len(theorems)} systems") as report:
        entries = [_check(settings, theorem, report) for theorem in theorems]
    good = sum(entry["verdict"] == "ok" for entry in entries)
    owed = sum(entry["obligations"] for entry in entries)
    settings.say(f"{good} of {len(entries)} systems proved for any number of threads: {owed} obligations")
    bad = [str(entry["system"]) for entry in entries if entry["verdict"] == "violation"]
    return Outcome(
        exits.worst(str(entry["verdict"]) for entry in entries),
        {"systems": entries},
        reproduce=shlex.join(["latchfree", "prove", "--any", *bad]) if bad else None,
    )


def _check(settings: Settings, theorem: Theorem, report: Report) -> dict[str, Any]:
    """Run the four checks of a theorem; return what ``--json`` prints of it."""
    from latchfree_evidence.inductive.proving import TIMEOUT
    from latchfree_evidence.inductive.theorems import prove_theorem, refute, run_small

    seed, timeout = settings.seed or 0, settings.timeout or TIMEOUT
    report(f"prove {theorem.name}: {theorem.says}")
    induction = prove_theorem(theorem, seed=seed, timeout=timeout)
    proved = induction.owed - len(induction.failures)
    word = "proved" if not induction.failures else "not proved"
    amount = f"{proved} of {induction.owed} obligations"
    settings.note(f"{theorem.name:<14}{word:<11}{amount:<26}{induction.seconds:6.1f} s  {theorem.says}")
    for failure in induction.failures:
        settings.say(f"    {failure.answer}: {failure.picture or failure.says}".replace("\n", "\n    "))
    report(f"run {theorem.name}")
    run, never = run_small(theorem)
    settings.note(f"    small instances: {_run(run, never)}")
    report(f"tie {theorem.name} to {theorem.bond.model}")
    tie = _tie(settings, theorem)
    variants = []
    for name in theorem.system("").variants:
        report(f"refute {theorem.name}: {name}")
        variants.append(refute(theorem, name, seed=seed, timeout=timeout))
        settings.note(f"    wrong, {name}: {_variant(variants[-1])}")
    return {
        "system": theorem.name,
        "says": theorem.says,
        "verdict": _verdict(induction, run, never, tie, variants),
        "obligations": induction.owed,
        "seconds": round(induction.seconds, 3),
        "failures": [asdict(failure) for failure in induction.failures],
        "small": {"states": run.states, "steps": run.steps, "broken": run.broken, "never": list(never)},
        "tie": _counts(tie) if tie else None,
        "wrong": [
            {
                "name": each.name,
                "says": each.says,
                "refuted": each.refuted,
                "obligation": each.failure.says if each.failure else "",
                "breaks": each.run.broken,
                "run": list(each.run.path),
            }
            for each in variants
        ],
    }


def _tie(settings: Settings, theorem: Theorem) -> Tie | None:
    """Compare a system with TLC's graph of its model; None if TLC could not explore the model."""
    from latchfree_cli.spec_runs import read_manifest
    from latchfree_evidence.inductive.tie import compare
    from latchfree_model.graph.explore import Unexplored, explore
    from latchfree_model.tlc.tools import ToolMissing

    bond = theorem.bond
    try:
        (model,) = (each for each in read_manifest() if each.name == bond.model)
        graph = explore(model, timeout=settings.timeout, cancelled=settings.cancelled).graph
    except (ToolMissing, Unexplored) as error:
        settings.note(f"    tie to {bond.model}: not run: {error}")
        return None
    tie = compare(theorem.system(""), bond, graph)
    sizes = f"{tie.states} states, {tie.edges} edges of TLC, {tie.steps} steps"
    settings.note(f"    tie to {bond.model}: {sizes}: {tie.differences} differences")
    for what, found in (("no step for", tie.no_step), ("no edge for", tie.no_edge), ("not an invariant:", tie.broken)):
        for name, count in found.items():
            settings.say(f"        {what} {name}: {count}")
    return tie


def _counts(tie: Tie) -> dict[str, Any]:
    """Return what ``--json`` prints of a tie."""
    found = {"no_step": tie.no_step, "no_edge": tie.no_edge, "broken": tie.broken}
    sizes = {"model": tie.model, "states": tie.states, "edges": tie.edges, "steps": tie.steps}
    return {**sizes, **{name: dict(counter) for name, counter in found.items()}}


def _run(run: Run, never: tuple[str, ...]) -> str:
    """Return what came of the small instance in words."""
    if run.broken:
        return f"{run.broken} broken by {' '.join(run.path)}"
    cases = f"{len(run.taken)} cases taken" if not never else f"never taken: {', '.join(never)}"
    return f"{run.states} states, {run.steps} steps, {cases}" + ("" if run.whole else ", not explored to the end")


def _variant(variant: Variant) -> str:
    """Return how a wrong variant was refuted in words."""
    proof = variant.failure.says if variant.failure else "every obligation is proved"
    run = (
        f"{len(variant.run.path)} steps break {variant.run.broken}"
        if variant.run.broken
        else "no run breaks the theorem"
    )
    return f"{proof}; {run}"


def _verdict(induction: Induction, run: Run, never: tuple[str, ...], tie: Tie | None, variants: list[Variant]) -> str:
    answers = {failure.answer for failure in induction.failures}
    survivors = [each for each in variants if not each.refuted and not each.open]
    if "refuted" in answers or run.broken or never or survivors or (tie and tie.differences):
        return "violation"
    return "unknown" if answers or tie is None or not run.whole or any(each.open for each in variants) else "ok"
