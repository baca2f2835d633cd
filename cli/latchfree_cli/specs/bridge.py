"""``latchfree explore ctrie --along MODEL``: compiled code along every step of a model's state graph."""

import shlex
from typing import TYPE_CHECKING

from latchfree_cli import exits
from latchfree_cli.settings import Outcome, Settings

if TYPE_CHECKING:
    from latchfree_evidence.refinement.bridge.coverage import Coverage

SHOWN = 12
"""Steps shown of the path to a divergence."""


def explore_along(settings: Settings, target: str, name: str, mutant: str | None) -> Outcome:
    """Run the code along every step of a model, and count the steps that the code takes."""
    from latchfree_cli.specs.runs import named, read_manifest
    from latchfree_evidence.refinement.bridge.model_replay import replay_model
    from latchfree_explore.board.stacks import Unsupported
    from latchfree_model.graph import Unexplored

    if target != "ctrie":
        raise exits.Stop(exits.USAGE, f"--along runs along models of the Ctrie: the target is ctrie, not {target}")
    [model] = named(read_manifest(None), [name])
    with settings.progress(f"explore {target} along {name}") as report:
        try:
            coverage = replay_model(
                model,
                mutant=mutant,
                timeout=settings.timeout,
                on_progress=lambda text: report(f"explore {target} along {name}: {text}"),
                cancelled=settings.cancelled,
            )
        except Unexplored as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except Unsupported as error:
            raise exits.Stop(exits.TOOL, str(error)) from None
        except ValueError as error:
            raise exits.Stop(exits.USAGE, str(error)) from None
    show(settings, coverage, name)
    verdict = "violation" if coverage.divergence else "ok" if coverage.complete else "unknown"
    again = ["latchfree", "explore", target, "--along", name]
    again += ["--mutant", mutant] if mutant else []
    return Outcome(verdict, to_json(coverage, name), reproduce=shlex.join(again) if coverage.divergence else None)


def show(settings: Settings, coverage: "Coverage", name: str) -> None:
    """Print the number of replayed steps, and why other steps were not taken."""
    share = coverage.replayed / coverage.edges if coverage.edges else 0.0
    settings.say(
        f"along {name}: {coverage.replayed:,} of {coverage.edges:,} steps replayed ({share:.1%}), "
        f"{coverage.states:,} states\n"
        f"  {coverage.runs:,} runs of the code: {coverage.operations:,} operations, {coverage.accesses:,} accesses; "
        f"memory and answers compared after each of {coverage.steps:,} steps"
    )
    if coverage.deaths:
        settings.say(
            f"  {coverage.deaths:,} nodes retired by the code, each compared with the specification; "
            f"{coverage.freed:,} of them freed"
        )
    for reason, count in coverage.untaken.most_common():
        settings.say(f"  {count:,} not taken: {reason}")
    if coverage.divergence:
        path = coverage.divergence.path
        if len(path) > SHOWN:
            settings.say(f"  ... {len(path) - SHOWN} steps")
        for edge in path[-SHOWN:]:
            settings.say(f"  {edge.step.action}, thread {edge.thread}")
        settings.say(f"the code diverges: {coverage.divergence.message}")
    elif not coverage.complete:
        settings.say("  it was ended before every step had been tried")


def to_json(coverage: "Coverage", name: str) -> dict[str, object]:
    """Return what ``--json`` says about the coverage."""
    divergence = coverage.divergence
    return {
        "model": name,
        "states": coverage.states,
        "steps": coverage.edges,
        "replayed": coverage.replayed,
        "not_taken": dict(coverage.untaken),
        "complete": coverage.complete,
        "runs": coverage.runs,
        "compared": coverage.steps,
        "accesses": coverage.accesses,
        "retired": coverage.deaths,
        "freed": coverage.freed,
        "divergence": None
        if divergence is None
        else {
            "message": divergence.message,
            "path": [[edge.thread, edge.step.action] for edge in divergence.path],
        },
    }
