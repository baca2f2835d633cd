"""``latchfree trace``: check that recorded runs are behaviours of the specification."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from latchfree_cli import exits
from latchfree_cli.frame import examples
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.refinement.traces.batch import Rejection, Trace
    from latchfree_evidence.refinement.traces.campaign import Campaign

BEFORE = 8
"""Events shown before the one that is rejected."""


@examples(
    "latchfree trace ctrie --traces 10",
    "latchfree trace out/trace-ctrie-7.json",
)
def trace(
    settings: Settings,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="ctrie, or a file with a trace that was rejected.")],
    traces: Annotated[int, typer.Option(min=1, help="How many runs to record.")] = 100,
    mutant: Annotated[
        str | None, typer.Option(metavar="ID", help="Record a seeded bug: see latchfree mutants.")
    ] = None,
) -> Outcome:
    """Record runs, of random schedules and of real threads, and let TLC check that each is a behaviour of Ctrie.tla.

    A rejected trace is written to a file, which latchfree trace FILE checks again.
    """
    if target != "ctrie":
        return _again(settings, Path(target))
    from latchfree_evidence.refinement.traces.campaign import validate_traces
    from latchfree_explore.board.stacks import Unsupported

    seed = settings.chosen_seed
    settings.note(f"trace ctrie: seed {seed}")
    with settings.progress("trace ctrie: compiling") as report:
        try:
            campaign = validate_traces(
                traces,
                seed=seed,
                mutant=mutant,
                timeout=settings.timeout,
                on_progress=lambda text: report(f"trace ctrie: {text}"),
            )
        except (Unsupported, RuntimeError) as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
    settings.say(_summary(campaign))
    payload = _to_json(campaign, seed)
    if campaign.rejected is None or campaign.rejection is None:
        return Outcome("ok" if campaign.complete else "unknown", payload)
    return Outcome("violation", payload, reproduce=_rejected(settings, campaign.rejected, campaign.rejection, seed))


def _again(settings: Settings, path: Path) -> Outcome:
    """Check the trace in a file."""
    from latchfree_evidence.refinement.traces.batch import check_batch
    from latchfree_evidence.refinement.traces.files import read_trace

    if not path.suffix and not path.exists():
        raise exits.Stop(exits.USAGE, f"{path}: the target is ctrie, or a file that latchfree trace has written")
    try:
        found = read_trace(path)
        rejection = check_batch([found], timeout=settings.timeout)
    except ValueError as error:
        raise exits.Stop(exits.USAGE, str(error)) from None
    except RuntimeError as error:
        raise exits.Stop(exits.TOOL, str(error)) from None
    if rejection is None:
        settings.say(f"{path}: ok: {len(found.events)} events are a behaviour of Ctrie.tla")
        return Outcome("ok", {"events": len(found.events)})
    settings.say(_explained(found, rejection))
    payload = {"events": len(found.events), "event": rejection.event, "reason": rejection.reason}
    return Outcome("violation", payload, reproduce=shlex.join(["latchfree", "trace", str(path)]))


def _summary(campaign: "Campaign") -> str:
    accepted = campaign.traces.total()
    kinds = " and ".join(f"{count:,} of {source}" for source, count in sorted(campaign.traces.items()))
    verdict = "violation" if campaign.rejected else "ok" if campaign.complete else "unknown"
    actions = ", ".join(f"{action} {count:,}" for action, count in campaign.actions.most_common())
    head = f"trace ctrie: {verdict}: {accepted:,} traces are behaviours of Ctrie.tla{': ' if kinds else ''}{kinds}"
    if not accepted:
        return head
    size = f"{campaign.operations:,} operations, {campaign.events:,} events, {len(campaign.actions)} different actions"
    return f"{head}\n  {size}; {campaign.batches} runs of TLC in {campaign.seconds:.0f} s\n  {actions}"


def _rejected(settings: Settings, trace: "Trace", rejection: "Rejection", seed: int) -> str:
    from latchfree_evidence.refinement.traces.files import to_json

    settings.say(_explained(trace, rejection))
    path = settings.write(f"trace-ctrie-{seed}.json", json.dumps(to_json(trace), indent=1) + "\n")
    return shlex.join(["latchfree", "trace", str(path)])


def _explained(trace: "Trace", rejection: "Rejection") -> str:
    """Return the events up to the one that is rejected."""
    lines = [f"scenario: {trace.scenario} ({trace.source})"]
    first = max(0, rejection.event - BEFORE)
    lines += [f"  ... {first} events"] if first else []
    lines += [f"  {number:>4}  {event}" for number, event in enumerate(trace.events[first : rejection.event], first)]
    if rejection.event < len(trace.events):
        lines.append(f"event {rejection.event} is no step of Ctrie.tla: {trace.events[rejection.event]}")
    lines.append(rejection.reason)
    return "\n".join(lines)


def _to_json(campaign: "Campaign", seed: int) -> dict[str, object]:
    rejection = campaign.rejection
    return {
        "seed": seed,
        "accepted": dict(campaign.traces),
        "complete": campaign.complete,
        "operations": campaign.operations,
        "events": campaign.events,
        "actions": dict(campaign.actions),
        "tlc_runs": campaign.batches,
        "rejected": None if rejection is None else {"event": rejection.event, "reason": rejection.reason},
    }
