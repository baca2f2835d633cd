"""Write what is pinned anew: ``python -m latchfree_evidence.systematic.trials.pinning``.

Example: a new version of the format of sketches has other cells. Then the digests are those of compiled code of now.
"""

from __future__ import annotations

import json

from latchfree_evidence.systematic.trials.pinned import FILE, digest, key_of
from latchfree_evidence.systematic.trials.table import SCRIPTS


def write() -> None:
    """Run all scripts on compiled code, and keep the digests of their answers."""
    found = {key_of(script, seed): digest(script(seed)) for script, seeds in SCRIPTS for seed in range(seeds)}
    FILE.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")


if __name__ == "__main__":
    write()
