"""``latchfree shrink``: make a violating history small enough to see what went wrong."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.histories.files import Reading, model_of, read_histories, stem_of
from latchfree_cli.history_options import Failed, Initial, Keyed
from latchfree_cli.settings import Outcome, Settings


@examples("latchfree shrink history.jsonl --model map")
def shrink(
    settings: Settings,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of histories; - is standard input.")],
    model: Annotated[str | None, typer.Option("--model", help="Sequential model: map, register, ...")] = None,
    format_: Annotated[str | None, typer.Option("--format", help="File format; default: recognised.")] = None,
    history: Annotated[str | None, typer.Option("--history", help="Name of the history, if several.")] = None,
    failed: Failed = None,
    keyed: Keyed = False,
    initial: Initial = None,
) -> Outcome:
    """Make a violating history small: leave out operations as long as the rest is a violation.

    The small history is written to the output folder and shown as a table, in which time runs down. Of several
    histories, the first violation is made small.
    """
    from latchfree_lincheck import check, lanes, write_history
    from latchfree_lincheck import shrink as make_small
    from latchfree_lincheck.shrinking import longest_partials
    from latchfree_model import get_model

    reading = Reading(format_, model, failed, keyed, initial)
    histories = [each for each in read_histories(file, reading) if history in (None, each.name)]
    if history is not None and not histories:
        raise exits.Stop(exits.USAGE, f"{file}: there is no history called {history!r}")
    jobs = [(each, model_of(file, each, model)) for each in histories]
    chosen, verdicts = None, []
    for each, name in jobs:
        with settings.progress(f"check {each.name}: {len(each):,} operations"):
            verdict = check(each, name, timeout=settings.timeout)
        verdicts.append(verdict.verdict)
        if verdict.verdict == "violation":
            chosen = each, get_model(name)
            break
        settings.note(f"{file}: {each.name}: {verdict.explain()}")
    if chosen is None:
        settings.say("there is no violation to shrink")
        return Outcome(exits.worst(verdicts) if verdicts else "nothing")
    original, against = chosen
    with settings.progress(f"shrink {original.name}: {len(original):,} operations"):
        try:
            small = make_small(original, against, timeout=settings.timeout)
        except ValueError as error:
            raise exits.Stop(exits.INCONCLUSIVE, str(error)) from None
        verdict = check(small, against, timeout=settings.timeout)
        partials = longest_partials(small, against, timeout=settings.timeout or 5.0)
    path = settings.out / "shrink" / f"{stem_of(file)}-small.jsonl"
    settings.save(path, lambda path: write_history(path, [small]))
    failing = verdict.failing
    settings.note(f"{file}: {original.name}: {len(original):,} operations, of which {len(small):,} are a violation")
    settings.say(lanes(small, () if failing is None else (failing,)))
    settings.say(verdict.message)
    for partial in partials:
        order = ", then ".join(str(small.operations[index].call) for index in partial.order) or "nothing"
        settings.note(f"as far as it can be explained: {order}")
        for _, why in partial.stuck:
            settings.note(f"  then {why}")
    payload = {
        "file": str(file),
        "history": original.name,
        "model": against.name,
        "operations": len(original),
        "small": len(small),
        "message": verdict.message,
        "artefact": str(path),
    }
    return Outcome(
        "violation", payload, reproduce=shlex.join(["latchfree", "check", str(path), "--model", against.name])
    )
