"""Run the proofs about any number of threads for ``latchfree prove --any``, and say how each of their checks ended.

The checks run side by side, a process for each processor, and are said in the order of the list.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from latchfree_cli import exits
from latchfree_cli.proofs.checks import Check, checks_of, clean, perform
from latchfree_cli.proofs.crew import Crew, processors
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.inductive.instance import Run
    from latchfree_evidence.inductive.proving import Induction
    from latchfree_evidence.inductive.theorems import Theorem, Variant
    from latchfree_evidence.inductive.tie import Tie


def prove_any(settings: Settings, names: list[str], *, listed: bool = False, ties: bool = False) -> Outcome:
    """Prove systems, all if none is named, or list them; or only compare them with their modules."""
    from latchfree_evidence.inductive.theorems import THEOREMS

    theorems = exits.named("system", THEOREMS, names or list(THEOREMS), "latchfree prove --any --list")
    if listed:
        for theorem in theorems:
            settings.say(f"{theorem.name:<14}{theorem.says}")
        return Outcome("listed", {"systems": [{"name": x.name, "says": x.says} for x in theorems]}, code=exits.OK)
    if ties:
        return _tie_all(settings, theorems)
    from latchfree_evidence.inductive.proving import TIMEOUT

    seed, timeout = settings.seed or 0, settings.timeout or TIMEOUT
    owed_checks = {x.name: checks_of(x, seed, timeout, settings.timeout) for x in theorems}
    with (
        settings.progress(f"prove: {len(theorems)} systems") as report,
        Crew(perform, processors(), clean) as crew,
    ):
        found = {name: [crew.submit(check) for check in checks] for name, checks in owed_checks.items()}
        entries = []
        for theorem in theorems:
            report(f"prove {theorem.name}: {theorem.says}")
            entries.append(_check(settings, theorem, [each.result for each in found[theorem.name]]))
    good = sum(entry["verdict"] == "ok" for entry in entries)
    owed = sum(entry["obligations"] for entry in entries)
    settings.say(f"{good} of {len(entries)} systems proved for any number of threads: {owed} obligations")
    bad = [str(entry["system"]) for entry in entries if entry["verdict"] == "violation"]
    return Outcome(
        exits.worst(str(entry["verdict"]) for entry in entries),
        {"systems": entries},
        reproduce=shlex.join(["latchfree", "prove", "--any", *bad]) if bad else None,
    )


def _tie_all(settings: Settings, theorems: list[Theorem]) -> Outcome:
    """Compare systems with their modules, one after the other."""
    entries = []
    with settings.progress(f"prove: {len(theorems)} ties") as report:
        for theorem in theorems:
            report(f"tie {theorem.name} to {theorem.bond.model}")
            begun = time.monotonic()
            found = perform(Check("tie", theorem.name, "", 0, 0.0, settings.timeout))
            settings.note(theorem.name)
            tie = _told(settings, theorem, found)
            verdict = "unknown" if tie is None else "violation" if tie.differences else "ok"
            entries.append(
                {
                    "system": theorem.name,
                    "verdict": verdict,
                    "seconds": round(time.monotonic() - begun, 3),
                    "differences": tie.differences if tie else 0,
                    "reason": str(found)
                    if tie is None
                    else f"{tie.differences} differences"
                    if tie.differences
                    else "",
                    "tie": _counts(tie) if tie else None,
                }
            )
    good = sum(entry["verdict"] == "ok" for entry in entries)
    settings.say(f"{good} of {len(entries)} systems are those of their modules")
    bad = [str(entry["system"]) for entry in entries if entry["verdict"] == "violation"]
    return Outcome(
        exits.worst(str(entry["verdict"]) for entry in entries),
        {"systems": entries},
        reproduce=shlex.join(["latchfree", "prove", "--any", "--ties", *bad]) if bad else None,
    )


def _check(settings: Settings, theorem: Theorem, results: list[Callable[[], Any]]) -> dict[str, Any]:
    """Say how the checks of a theorem end, in their order; return what ``--json`` prints of it."""
    induction: Induction = results[0]()
    proved = induction.owed - len(induction.failures)
    word = "proved" if not induction.failures else "not proved"
    amount = f"{proved} of {induction.owed} obligations"
    settings.note(f"{theorem.name:<14}{word:<11}{amount:<26}{induction.seconds:6.1f} s  {theorem.says}")
    for failure in induction.failures:
        settings.say(f"    {failure.answer}: {failure.picture or failure.says}".replace("\n", "\n    "))
    run, never = results[1]()
    settings.note(f"    small instances: {_run(run, never)}")
    tie = _told(settings, theorem, results[2]())
    variants: list[Variant] = []
    for result in results[3:]:
        variants.append(result())
        settings.note(f"    wrong, {variants[-1].name}: {_variant(variants[-1])}")
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


def _told(settings: Settings, theorem: Theorem, tie: Tie | str) -> Tie | None:
    """Say how a system compares with TLC's graph; None if TLC could not explore the model."""
    bond = theorem.bond
    if isinstance(tie, str):
        settings.note(f"    tie to {bond.model}: not run: {tie}")
        return None
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
