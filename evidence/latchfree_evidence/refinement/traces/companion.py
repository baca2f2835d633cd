"""The other process of a run of two: it runs its threads of each scenario that it is told, until its input ends."""

from __future__ import annotations

import json
import sys


def main() -> None:
    """Apply the mutant that the command line names, if any, and run one job a line of the input."""
    if len(sys.argv) > 1:
        from latchfree_evidence.mutants import apply_mutant

        apply_mutant(sys.argv[1])
    # Loaded after the mutant was applied.
    from latchfree_evidence.refinement.traces.forked import TRACED
    from latchfree_evidence.refinement.traces.processes import run_job

    for line in sys.stdin:
        run_job(TRACED, json.loads(line))


if __name__ == "__main__":
    main()
