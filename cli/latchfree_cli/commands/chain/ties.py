"""The layer of the ties: the systems of the proofs, compared with TLC's graphs of their modules, both ways.

TLC explores a bounded model of each module, and plain Python compares the graph with the system. Both take a minute of
one processor, so they run in a process of their own, beside the layers in Python.
"""

import json
import shlex
from typing import Final, cast

from latchfree_cli import exits
from latchfree_cli.commands.chain.rows import LayerResult, Plan, Profile, Verdict, layer
from latchfree_cli.mutant_runs import run_command
from latchfree_cli.settings import Report, Settings

SIZE: Final = 1e6
"""As long as a model of so many states: it begins first."""

TIMEOUT: Final = 900.0
"""Seconds."""


@layer("ties", "processes")
def ties_layer(settings: Settings, plan: Plan, report: Report) -> list[LayerResult]:
    """Compare the systems that are proved with their modules."""
    from latchfree_cli.commands.chain import smoke
    from latchfree_evidence.inductive.theorems import THEOREMS

    chosen = smoke.proofs_of(THEOREMS) if plan.profile == Profile.smoke else list(THEOREMS.values())
    names = [theorem.name for theorem in chosen]
    again = ["prove", "--any", "--ties"]
    report("compare systems with their modules")
    with plan.slots.taken(SIZE) as place:
        limit = settings.timeout or TIMEOUT
        code, stdout, stderr = run_command([*again, "--json", *names], limit, settings) if place else (0, "", "")
    try:
        document = json.loads(stdout)
    except ValueError:
        document = {}
    ties = document.get("systems", [])
    compared = [tie for tie in ties if tie["tie"]]
    bad = [tie for tie in ties if tie["verdict"] != "ok"]
    verdict = document.get("verdict", "unknown" if code in (exits.OK, exits.INCONCLUSIVE) else "failed")
    reasons = [f"{tie['system']}: {tie['reason']}" for tie in bad] or ([] if ties else [stderr.strip()[-300:]])
    return [
        LayerResult(
            layer="ties",
            checked="these protocols are those of the specification",
            amount=f"{len(compared)} systems, {sum(tie['tie']['edges'] for tie in compared):,} edges of TLC, "
            f"{sum(tie['differences'] for tie in compared)} differences",
            verdict=cast(Verdict, "not run" if bad and not compared else verdict),
            seconds=sum(float(tie["seconds"]) for tie in ties),
            reason="; ".join(reasons),
            reproduce=shlex.join(["latchfree", *again, *(tie["system"] for tie in bad)]) if bad else None,
            details=ties,
        )
    ]
