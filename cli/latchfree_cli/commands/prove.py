"""``latchfree prove``: the lemmas about word-level code, with Z3, and the wrong twins they must refute.

With ``--any``: the protocols for any number of threads.
"""

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Report, Settings

if TYPE_CHECKING:
    from latchfree_evidence.symbolic.lemma import Lemma, Proof

TIMEOUT = 60.0
"""Seconds for one lemma, unless ``--timeout`` says otherwise."""


@examples(
    "latchfree prove --list",
    "latchfree prove",
    "latchfree prove --any --ties",
)
def prove(
    settings: Settings,
    names: Annotated[list[str] | None, typer.Argument(metavar="LEMMA", help="Lemmas or systems, else all.")] = None,
    any_: Annotated[
        bool, typer.Option("--any", help="Prove protocols for any number of threads, in place of lemmas.")
    ] = False,
    ties: Annotated[
        bool, typer.Option("--ties", help="With --any: compare the systems with their modules, and prove nothing.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the lemmas, or with --any the systems, and stop.")
    ] = False,
) -> Outcome:
    """Prove the lemmas about word-level code for all words, and refute their wrong twins, with Z3."""
    if any_:
        from latchfree_cli.proofs.any_number import prove_any

        return prove_any(settings, names or [], listed=list_, ties=ties)
    if ties:
        raise exits.Stop(exits.USAGE, "--ties compares systems with their modules: give --any, too")
    from latchfree_evidence.lemmas import LEMMAS

    lemmas = exits.named("lemma", LEMMAS, names or list(LEMMAS), "latchfree prove --list")
    if list_:
        for lemma in lemmas:
            settings.say(f"{lemma.name:<26}{lemma.says}")
        return Outcome("listed", {"lemmas": [{"name": x.name, "says": x.says} for x in lemmas]}, code=exits.OK)
    with settings.progress(f"prove: {len(lemmas)} lemmas") as report:
        entries = prove_all(settings, lemmas, report)
    proved = sum(entry["verdict"] == "ok" for entry in entries)
    settings.say(f"{proved} of {len(entries)} lemmas proved, each with its wrong twin refuted")
    bad = [str(entry["lemma"]) for entry in entries if entry["verdict"] == "violation"]
    return Outcome(
        exits.worst(str(entry["verdict"]) for entry in entries),
        {"lemmas": entries},
        reproduce=shlex.join(["latchfree", "prove", *bad]) if bad else None,
    )


def prove_all(settings: Settings, lemmas: "list[Lemma]", report: Report) -> list[dict[str, Any]]:
    """Prove lemmas and refute their twins, saying how each ended; returns what ``--json`` prints of each."""
    from latchfree_evidence.lemmas.symbolic_memory import code
    from latchfree_evidence.symbolic.lemma import prove as prove_one

    entries = []
    timeout = settings.timeout or TIMEOUT
    for lemma in lemmas:
        report(f"prove {lemma.name}: {lemma.says}")
        proof = prove_one(lemma, code(), timeout=timeout)
        twin = prove_one(lemma, code(lemma.twin), timeout=timeout)
        entry = _entry(lemma, proof, twin)
        settings.note(f"{lemma.name:<26}{proof.answer:<9}{proof.seconds:6.1f} s  {proof.paths:>5} paths  {lemma.says}")
        if proof.answer != "proved":
            settings.say(f"    {proof.answer}: {proof.claim}: {_values(proof.counterexample)}".rstrip(": "))
        settings.note(f"    twin {lemma.twin.says}: {twin.answer}: {_values(twin.counterexample)}".rstrip(": "))
        entries.append(entry)
    return entries


def _entry(lemma: "Lemma", proof: "Proof", twin: "Proof") -> dict[str, Any]:
    if proof.answer == "refuted" or twin.answer == "proved":
        verdict = "violation"
    else:
        verdict = "ok" if (proof.answer, twin.answer) == ("proved", "refuted") else "unknown"
    return {
        "lemma": lemma.name,
        "says": lemma.says,
        "verdict": verdict,
        "answer": proof.answer,
        "claim": proof.claim,
        "counterexample": dict(proof.counterexample),
        "paths": proof.paths,
        "seconds": round(proof.seconds, 3),
        "twin": {
            "says": lemma.twin.says,
            "function": lemma.twin.function.__name__,
            "edit": [lemma.twin.old, lemma.twin.new],
            "answer": twin.answer,
            "claim": twin.claim,
            "counterexample": dict(twin.counterexample),
        },
    }


def _value(value: object) -> str:
    """Return a value of a counterexample for the reader; large words in hexadecimal, those of a case as they are."""
    return hex(value) if isinstance(value, int) and value >= 1 << 16 else str(value)


def _values(values: Any, most: int = 4) -> str:
    """Return the first values of a counterexample as text, small ones in decimal."""
    shown = [f"{name} = {_value(value)}" for name, value in list(values.items())[:most]]
    return ", ".join(shown + ["..."] * (len(values) > most))
