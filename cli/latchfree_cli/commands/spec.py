"""``latchfree spec``: check the TLA+ models with TLC and compare with the manifest."""

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_cli.specs.runs import SpecOutcome
    from latchfree_model.tlc import SpecModel


class Profile(StrEnum):
    """The models to check: those of a few seconds, also those of a few minutes, or all."""

    quick = "quick"
    full = "full"
    deep = "deep"


@examples(
    "latchfree spec writer_snapshotter",
    "latchfree spec mutant_s1",
    "latchfree spec stack_lost --alias",
)
def spec(
    settings: Settings,
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Models.")] = None,
    profile: Annotated[Profile, typer.Option(help="quick: seconds each; full: minutes; deep: all.")] = Profile.quick,
    list_: Annotated[bool, typer.Option("--list", help="List the models and stop.")] = False,
    manifest: Annotated[
        Path | None, typer.Option("--manifest", metavar="FILE", help="A manifest of your own models.")
    ] = None,
    alias: Annotated[
        bool, typer.Option("--alias", help="Also tell a counterexample in a few words a state, by Alias of its module.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Write the sizes found into the manifest; verdicts must agree.")
    ] = False,
) -> Outcome:
    """Check the TLA+ models with TLC.

    A model named on the command line that is violated ends with exit code 1, as a mutant must; without names,
    a violation that the manifest expects is no failure.
    """
    from latchfree_cli.specs.runs import counterexample, read_manifest, record_counts, run_all, write_counterexample
    from latchfree_model.tlc import unrecorded

    models = _select(read_manifest(manifest), names or [], profile)
    if record:
        models = [unrecorded(model) for model in models]
    if list_:
        return _list(settings, models)
    if not models:
        settings.say(f"no model has the profile {profile.value}")
        return Outcome("nothing", {"models": []})
    entries: list[dict[str, object]] = []
    shown: list[str] = []

    def done(outcome: "SpecOutcome") -> None:
        settings.note(outcome.line() + (f"  seed {settings.chosen_seed}" if outcome.model.simulate else ""))
        entry = outcome.to_json()
        if record and outcome.verdict == "ok":
            record_counts(manifest, outcome)
        if outcome.result.verdict == "violation":
            entry["files"] = write_counterexample(outcome, settings)
            if names or outcome.disagreements or settings.verbose:
                settings.say(counterexample(outcome))
                if alias:
                    settings.say(_told(settings, outcome))
        elif outcome.result.verdict == "unknown":
            settings.say("\n".join([outcome.result.reason, *outcome.result.errors]))
        if outcome.verdict == "violation" or (names and outcome.result.verdict == "violation"):
            shown.append(outcome.model.name)
        entries.append(entry)

    with settings.progress(f"spec: {len(models)} models") as report:
        outcomes = run_all(models, settings, report, done)
    agreeing = sum(outcome.verdict == "ok" for outcome in outcomes)
    settings.say(f"{agreeing} of {len(outcomes)} models as expected")
    verdict = "violation" if shown else exits.worst(outcome.verdict for outcome in outcomes)
    again = ["latchfree", "spec", *shown, *(["--manifest", str(manifest)] if manifest else [])]
    again += ["--seed", str(settings.chosen_seed)] if any(o.model.simulate for o in outcomes if o.disagreements) else []
    reproduce = shlex.join(again) if shown else None
    return Outcome(verdict, {"models": entries}, reproduce=reproduce)


def _told(settings: Settings, outcome: "SpecOutcome") -> str:
    from latchfree_cli.specs.runs import in_few_words
    from latchfree_model.tlc.alias import NoAlias

    try:
        return in_few_words(outcome, settings.timeout)
    except NoAlias as error:
        return str(error)


def _select(models: "list[SpecModel]", names: list[str], profile: Profile) -> "list[SpecModel]":
    """Return the models named, else those of the profile and of the quicker ones."""
    from latchfree_cli.specs.runs import named

    if names:
        return named(models, names)
    profiles = list(Profile)[: list(Profile).index(profile) + 1]
    return [model for model in models if model.profile in profiles]


def _list(settings: Settings, models: "list[SpecModel]") -> Outcome:
    for model in models:
        expected = f"{model.expect} {model.mutant}" if model.mutant else model.expect
        settings.say(f"{model.name:<32}  {model.profile:<5}  {expected:<14}  {model.summary}")
    entries = [
        {"name": m.name, "profile": m.profile, "expected": m.expect, "mutant": m.mutant, "summary": m.summary}
        for m in models
    ]
    return Outcome("listed", {"models": entries}, code=exits.OK)
