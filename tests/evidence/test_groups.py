"""The lookups of bulk calls, explored: each is linearizable beside updates and snapshots."""

import subprocess
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).parent / "helpers"
PROGRAM = """
import sys
from hashlib import blake2b
from pathlib import Path

from latchfree import jit

_, scenario, bound, helpers, *wrong = sys.argv
sources = blake2b(Path(helpers, "grouped_lookup.py").read_bytes(), digest_size=8).hexdigest()
# Before any of these is loaded: what is compiled of them now is no code of the map as it is.
affected = "latchfree.ctrie.", "latchfree_evidence.targets.ctrie", "grouped_lookup"
jit.set_variant(f"grouped-lookup-{sources}-{len(wrong)}", affected)
sys.path.append(helpers)

import grouped_lookup
from latchfree.ctrie.kernels import groups
from latchfree_evidence import explore
from latchfree_evidence.targets import ctrie

ctrie.lookup = grouped_lookup.lookup
if wrong:
    groups._to_slots = grouped_lookup.careless
found = explore("ctrie", scenario=scenario, strategy="bounded", bound=int(bound))
print(found.verdict, found.schedules > 100)
"""
#: A put is pending when the snapshot comes: it fails, and is made again.
PENDING = "init: put(0, 1); put(1, 1) | put(0, 2) | snapshot() | get(0); get(0) | keys: pairs"
#: And the most preemptions: fewer where an operation makes many accesses.
SCENARIOS = {
    "updates": ("init: put(0, 1); put(1, 1); put(2, 1) | remove(1); put(1, 2) | get(0); get(1) | keys: pairs", 3),
    "a tomb": ("init: put(0, 1); put(2, 1); put(5, 1) | remove(2) | snapshot(); get(0); get(2) | keys: tree", 3),
    "clear": ("init: put(0, 1); put(1, 1) | clear(); put(0, 2) | get(0); get(1) | keys: pairs", 3),
    "collisions": ("init: put(0, 1); put(1, 1) | remove(1) | get(0) | keys: lists", 1),
    "a snapshot": (PENDING, 2),
}


def _run(scenario: str, bound: int, *more: str) -> str:
    command = [sys.executable, "-c", PROGRAM, scenario, str(bound), HELPERS, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_lookup_in_a_group_is_linearizable(name: str) -> None:
    assert _run(*SCENARIOS[name]) == "ok True"


def test_a_group_that_takes_pending_updates_is_caught() -> None:
    assert _run(PENDING, 3, "wrong").startswith("violation")
